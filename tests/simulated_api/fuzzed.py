"""Requests whose objects have one wrong value each, drawn from the types of the Kubernetes API."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any, Final, NamedTuple

from tests.differential.exchange import Call
from vocabulary.kinds import Kind
from vocabulary.messages import entries_of, fields_of, tables

_DEPTH: Final = 14
"""Schemas of CRDs contain themselves."""
_STOPS: Final = 0.2
"""How often a value with parts is itself the wrong one, or the drawn one."""
_ANY: Final = (None, "", "text", 7, -1, 1.5, True, [], ["text"], [None], [[]], {}, {"odd": "text"})
_PAST: Final = "2020-01-01T00:00:00Z"
_TEXTS: Final = ("", "x", "Never", "a.b/c", "1", "é", "\0", "x" * 300, "a b", _PAST)
_INTEGERS: Final = (0, 1, -1, 7, 65536, 2**31 - 1)
_WRONG: Final[dict[str, tuple[Any, ...]]] = {
    "bool": ("true", 0, 1),
    "bytes": ("%", "a", "YQ"),
    "duration": ("1", "1x", "-1h", "9" * 30 + "h"),
    "float64": ("1", 1e300, -1e300),
    "int32": ("7", 2**31, -(2**31) - 1, 2**63, 10**30, 1e300, 1.0),
    "int64": ("7", 2**63, -(2**63) - 1, 10**30, 1e300, 1.0),
    "intorstring": (2**31, -(2**31) - 1, "150%", "x%", "-1", "9" * 30),
    "microtime": ("x", "2020-01-01", "2020-02-30T00:00:00.000000Z", "2020-01-01T00:00:00Z"),
    "quantity": ("1x", "--1", ".", "9" * 400, "1e999999", "0.0000000000001", "1Ki1", 1e300),
    "string": _TEXTS,
    "time": ("x", "2020-01-01", "2020-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "2020-1-1T0:0:0Z"),
}
_RIGHT: Final[dict[str, tuple[Any, ...]]] = {
    "bool": (True, False),
    "bytes": ("", "YQ=="),
    "duration": ("1s", "0s"),
    "float64": (0, 1.5),
    "int32": _INTEGERS,
    "int64": _INTEGERS,
    "intorstring": (0, 1, "50%", "http"),
    "microtime": ("2020-01-01T00:00:00.000000Z",),
    "quantity": ("1", "0", "-1", "1Gi", "100m", 2),
    "string": _TEXTS,
    "time": (_PAST,),
}
Place = tuple[str | int, ...]


class Wrong(NamedTuple):
    """One request, and what is wrong with it."""

    call: Call
    kind: Kind
    place: Place
    value: Any

    @property
    def field(self) -> str:
        """The kind and the field that is wrong."""
        return f"{self.kind.kind} {'.'.join(map(str, self.place))}"

    def __str__(self) -> str:
        how = self.call.content_type.removeprefix("application/")
        return f"{self.call.method} {self.call.target} ({how}): {self.field} = {self.value!r:.80}"


class Fuzz:
    """Draws requests. The objects that PUTs and patches name have to exist: `existing`."""

    def __init__(
        self, seed: int, namespace: str, objects: Mapping[Kind, dict[str, Any]], *, filled: int
    ) -> None:
        """`filled` is the maximum number of well-typed values that an object gets in addition."""
        self._random = Random(seed)
        self._namespace = namespace
        self._filled = filled
        self._objects = objects
        self._kinds = tuple(self._objects)
        self._count = 0

    def existing(self) -> list[Call]:
        """Requests that create the objects."""
        return [
            Call("POST", kind.path(self._namespace), _body(obj))
            for kind, obj in self._objects.items()
        ]

    def request(self, query: str = "") -> Wrong:
        """Draw a request."""
        self._count += 1
        kind = self._random.choice(self._kinds)
        base = self._objects[kind]
        message = tables().kinds[kind.api_version, kind.kind]
        obj = deepcopy(base)
        for _ in range(self._random.randint(0, self._filled)):
            place, type_ = self._place(obj, message)
            _put(obj, place, self._drawn(type_, _RIGHT))
        place, type_ = self._place(obj, message)
        value = self._drawn(type_, _WRONG) if self._random.random() < 0.5 else self._any()
        _put(obj, place, value)
        return Wrong(self._call(kind, base, obj, place, query), kind, place, value)

    def _any(self) -> Any:
        return deepcopy(self._random.choice(_ANY))

    def _drawn(self, type_: str, values: dict[str, tuple[Any, ...]]) -> Any:
        entries = entries_of(type_)
        if type_.startswith("map:"):
            return {self._random.choice(_TEXTS): self._drawn(entries, values)}
        if entries:
            return [self._drawn(entries, values) for _ in range(self._random.randint(0, 2))]
        if type_ in values:
            return self._random.choice(values[type_])
        return {} if type_ in tables().messages else self._any()

    def _place(self, obj: Any, message: str) -> tuple[Place, str]:
        """A path through the types, and the type of what is there."""
        place: list[str | int] = []
        value, type_ = obj, message
        while True:
            entries = entries_of(type_)
            if type_ in tables().messages:
                field = self._random.choice(fields_of(type_))
                step, type_ = field.name, field.type
                value = value.get(step) if isinstance(value, dict) else None
                place.append(step)
            elif type_.startswith("map:"):
                step = next(iter(value), "k") if isinstance(value, dict) else "k"
                value = value.get(step) if isinstance(value, dict) else None
                place.append(step)
                type_ = entries
            else:
                value = value[0] if isinstance(value, list) and value else None
                place.append(0)
                type_ = entries
            has_parts = entries_of(type_) or (type_ in tables().messages and fields_of(type_))
            if not has_parts or len(place) >= _DEPTH or self._random.random() < _STOPS:
                return tuple(place), type_

    def _call(self, kind: Kind, base: Any, obj: Any, place: Place, query: str) -> Call:
        collection = kind.path(self._namespace)
        how = self._random.choice(("POST", "PUT", *_PATCHES))
        if how == "POST":
            new = _renamed(obj, f"{base['metadata']['name']}-{self._count}")
            return Call("POST", f"{collection}?{query}", _body(new))
        status = "/status" if self._random.random() < 0.1 else ""
        target = f"{collection}/{base['metadata']['name']}{status}?{query}"
        if how == "PUT":
            return Call("PUT", target, _body(obj))
        body = obj
        if how == "json-patch+json":
            body = _json_patch(base, obj, place)
        elif how != "apply-patch+yaml":
            body = _part(obj, place)
        else:
            target += "&fieldManager=m&force=true"
        return Call("PATCH", target, _body(body), f"application/{how}")


_PATCHES: Final = (
    "json-patch+json",
    "merge-patch+json",
    "strategic-merge-patch+json",
    "apply-patch+yaml",
)


def _body(value: Any) -> bytes:
    # Without blanks, as a server writes it: it keeps the data of ControllerRevisions as it comes.
    return json.dumps(value, separators=(",", ":")).encode()


def _renamed(obj: Any, name: str) -> Any:
    metadata = obj["metadata"]
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return obj
    return {**obj, "metadata": {**metadata, "name": name}}


def _put(obj: Any, place: Place, value: Any) -> None:
    """Put a value at a place; what leads there is made as far as it is not of that form."""
    at = obj
    for step, following in itertools.pairwise(place):
        form = list if isinstance(following, int) else dict
        inner = at.get(step) if isinstance(at, dict) else at[0] if at else None
        if not isinstance(inner, form) or (form is list and not inner):
            inner = [None] if form is list else {}
            at[step] = inner
        at = inner
    at[place[-1]] = value


def _part(obj: Any, place: Place) -> Any:
    """The part of an object that a merge patch needs: lists are whole."""
    if not place or not isinstance(obj, dict):
        return obj
    step, *rest = place
    return {step: _part(obj[step], tuple(rest))}


def _json_patch(base: Any, obj: Any, place: Place) -> list[dict[str, Any]]:
    """One operation, at the last step that the base has a parent for."""
    steps: list[str | int] = []
    for step in place:
        steps.append(step)
        obj = obj[step]
        has = step in base if isinstance(base, dict) else bool(base)
        if not has or not isinstance(base[step], dict | list) or not base[step]:
            break
        base = base[step]
    path = "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in steps)
    return [{"op": "add", "path": path, "value": obj}]
