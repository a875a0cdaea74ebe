"""Read untrusted YAML.

Plans, experiments, manifests and configuration come from outside. Only plain data (mappings
with text keys, lists, text, numbers, booleans, null) within limits is accepted; everything
else is rejected with its position: `file:line:column`.

Rejected on purpose: aliases, anchors and merge keys (a few bytes can expand to gigabytes),
tags (they name types), duplicate keys (the last would win silently), keys that are not
text, and numbers that JSON cannot hold. A date remains text, as in Kubernetes, and so does a
number in base 60 (`1:30:00`), which takes time that grows with the square of its length.
"""

from __future__ import annotations

import math
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NoReturn

import yaml

from vocabulary.regular_files import open_regular

MAX_BYTES: Final = 1024 * 1024
MAX_DEPTH: Final = 64
MAX_DOCUMENTS: Final = 1000

_PLAIN_TAGS: Final = {
    f"tag:yaml.org,2002:{name}": f"!!{name}" for name in ("null", "bool", "int", "float", "str")
}
_STRING_TAG: Final = "tag:yaml.org,2002:str"
_TOO_DEEP: Final = f"nested deeper than {MAX_DEPTH} levels; make it flatter"
_ADVICE: Final = "check indentation, quotes and brackets there"
_COLLECTION_TAGS: Final = (None, "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq")


class YamlError(ValueError):
    """Unacceptable YAML; the message begins with `file:line:column`."""


def load_yaml(text: str | bytes, source: str, *, max_bytes: int = MAX_BYTES) -> Any:
    """Load the only document of a text; None if it is empty. Errors call the text `source`."""
    documents = load_all_yaml(text, source, max_bytes=max_bytes)
    if len(documents) > 1:
        raise YamlError(
            f"{source}: holds {len(documents)} YAML documents, expected one; "
            "give each a file of its own"
        )
    return documents[0] if documents else None


def load_all_yaml(text: str | bytes, source: str, *, max_bytes: int = MAX_BYTES) -> list[Any]:
    """Load all documents of a text, in order; empty ones are None. Raises YamlError."""
    if isinstance(text, str):
        text = text.encode("utf-8", "surrogatepass")
    return _Reader(_decoded(text, source, max_bytes), source).documents()


def _decoded(text: bytes, source: str, max_bytes: int) -> str:
    if len(text) > max_bytes:
        # Of a file no more has been read than shows this.
        raise YamlError(
            f"{source}: is too large: at most {max_bytes} bytes are read; "
            "check that this is the right file"
        )
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        column = error.start - text.rfind(b"\n", 0, error.start)
        raise YamlError(
            f"{source}:{line}:{column}: is not UTF-8: {error.reason}; save the file as UTF-8"
        ) from error


def load_yaml_file(path: Path, *, max_bytes: int = MAX_BYTES) -> Any:
    """Load the only document of a file; see `load_yaml`."""
    return load_yaml(_read(path, max_bytes), str(path), max_bytes=max_bytes)


def load_all_yaml_file(path: Path, *, max_bytes: int = MAX_BYTES) -> list[Any]:
    """Load all documents of a file; see `load_all_yaml`."""
    return load_all_yaml(_read(path, max_bytes), str(path), max_bytes=max_bytes)


def require_loadable_file(path: Path, *, max_bytes: int = MAX_BYTES) -> None:
    """Raise YamlError for a file that another loader may fail on, or take minutes for.

    For files that a library reads by itself: what is in them is up to that, anchors included.
    """
    text = _read(path, max_bytes)
    _Reader(_decoded(text, str(path), max_bytes), str(path)).require_loadable()


def _read(path: Path, max_bytes: int) -> bytes:
    # Reads at most one byte more than allowed, so a huge file costs nothing.
    try:
        with open_regular(path) as file:
            return file.read(max_bytes + 1)
    except OSError as error:
        raise YamlError(
            f"{path}: cannot be read: {error.strerror}; name an existing, readable file"
        ) from error


SafeLoader: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml's where it is built in, ten times as fast."""


class _Loader(SafeLoader):  # type: ignore[misc]
    """The safe loader without dates, and without numbers in base 60."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag not in ("tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value")
    ]
    for first, resolvers in SafeLoader.yaml_implicit_resolvers.items()
}


class _Reader:
    """Build data from the parser's events, so that only checked data is built."""

    def __init__(self, text: str, source: str) -> None:
        self._text = text
        self._source = source
        self._loader = self._guarded(_Loader, text)

    def documents(self) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if isinstance(event, yaml.DocumentStartEvent):
                if len(found) == MAX_DOCUMENTS:
                    self._refuse(event, f"more than {MAX_DOCUMENTS} YAML documents; split the file")
                found.append(self._value(self._next(), 1))
        return found

    def require_loadable(self) -> None:
        depth = 0
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                self._refuse(event, _TOO_DEEP)
            if isinstance(event, yaml.ScalarEvent) and event.implicit[0] and ":" in event.value:
                tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
                if tag in _PLAIN_TAGS and tag != _STRING_TAG:
                    self._refuse(event, f"{_short(event.value)} is a number in base 60; quote it")

    def _value(self, event: Any, depth: int) -> Any:
        if isinstance(event, yaml.AliasEvent):
            self._refuse(event, f"alias *{event.anchor} is not allowed; write the value out")
        if event.anchor is not None:
            self._refuse(event, f"anchor &{event.anchor} is not allowed; write the value out")
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if depth > MAX_DEPTH:
            self._refuse(event, _TOO_DEEP)
        if event.tag not in _COLLECTION_TAGS:
            self._refuse(event, f"tag {event.tag} is not allowed; leave it out")
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                items.append(self._value(event, depth + 1))
            return items
        return self._mapping(depth)

    def _mapping(self, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._value(event, depth + 1)
            if not isinstance(key, str):
                self._refuse(event, f"key {key!r} is not text; put it in quotes")
            if key == "<<" and event.implicit[0]:
                self._refuse(event, "merge key << is not allowed; write the fields out")
            if key in mapping:
                self._refuse(event, f"key {key!r} occurs twice in one mapping; keep one of them")
            mapping[key] = self._value(self._next(), depth + 1)
        return mapping

    def _scalar(self, event: Any) -> Any:
        if event.tag is not None and event.tag != "!":
            if event.tag not in _PLAIN_TAGS:
                self._refuse(event, f"tag {event.tag} is not allowed; leave it out")
            tag = event.tag
        else:
            tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in _PLAIN_TAGS or tag == _STRING_TAG:
            return event.value
        is_in_base_60 = ":" in event.value
        if is_in_base_60 and event.tag is None:
            return event.value
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        try:
            if is_in_base_60:
                raise ValueError
            value = self._loader.construct_object(node)
            is_finite = not isinstance(value, int | float) or math.isfinite(value)
        except (ValueError, KeyError, IndexError, OverflowError, yaml.YAMLError):
            self._refuse(
                event, f"{_short(event.value)} cannot be read as {_PLAIN_TAGS[tag]}; quote it"
            )
        if not is_finite:
            self._refuse(event, f"{event.value} is not a number that JSON can hold; quote it")
        return value

    def _next(self) -> Any:
        return self._guarded(self._loader.get_event)

    def _guarded(self, call: Any, *args: Any) -> Any:
        try:
            return call(*args)
        except yaml.MarkedYAMLError as error:
            mark, began = error.problem_mark or error.context_mark, error.context_mark
            if mark is not None:
                self._check_depth(self._text[: mark.index])
            place = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
            since = f" ({error.context} from line {began.line + 1})" if began is not None else ""
            is_tab = mark is not None and self._text[mark.index : mark.index + 1] == "\t"
            advice = "write spaces for the tab" if is_tab else _ADVICE
            raise YamlError(
                f"{self._source}{place}: is not YAML: {error.problem}{since}; {advice}"
            ) from error
        except yaml.reader.ReaderError as error:
            # Its position is one of bytes or of characters, as the loader is; the first is it.
            before = self._text.partition(chr(error.character))[0]
            line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
            raise YamlError(
                f"{self._source}:{line}:{column}: the character #x{error.character:04x} is not "
                "allowed in YAML, nor are other control characters; remove it, or save the file "
                "as text"
            ) from error

    def _check_depth(self, text: str) -> None:
        """Refuse a beginning of the text that is nested too deep.

        The parser looks ahead, and some versions have a limit of their own: it may give up on a
        level that is far below the first one that is refused here.
        """
        depth = 0
        events = _Loader(text)
        with suppress(yaml.MarkedYAMLError):
            while not isinstance(event := events.get_event(), yaml.StreamEndEvent):
                depth += isinstance(event, yaml.CollectionStartEvent)
                depth -= isinstance(event, yaml.CollectionEndEvent)
                if depth > MAX_DEPTH:
                    self._refuse(event, _TOO_DEEP)

    def _refuse(self, event: Any, why: str) -> NoReturn:
        mark = event.start_mark
        raise YamlError(f"{self._source}:{mark.line + 1}:{mark.column + 1}: {why}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")
