"""Metadata that several managers write in turn, drawn at random, and schemas that become stricter.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.applying import APPLY
from tests.differential.scripts.custom_resources import definition, version
from tests.differential.scripts.manifests import Manifest, config_map
from tests.differential.scripts.rules import one, served
from vocabulary.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION
from vocabulary.objects import get_path

_MERGE: Final = "application/merge-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_OWNER: Final = {"apiVersion": "v1", "kind": "ConfigMap"}
_SHOWN: Final = ("labels", "finalizers", "ownerReferences")


def _metadata(rng: random.Random, owners: Mapping[str, str]) -> Manifest:
    """Some metadata, as one manager wants it."""
    wanted: Manifest = {}
    if rng.randrange(2):
        wanted["labels"] = {it: rng.choice("12") for it in rng.sample("abc", rng.randint(1, 2))}
    if rng.randrange(2):
        wanted["finalizers"] = [f"a.b/{it}" for it in rng.sample("cde", rng.randint(1, 2))]
    if rng.randrange(2):
        told: tuple[Manifest, ...] = ({}, {"controller": False}, {"blockOwnerDeletion": True})
        wanted["ownerReferences"] = [
            {**_OWNER, "name": name, "uid": owners[name], **rng.choice(told)}
            for name in rng.sample(sorted(owners), rng.randint(1, 2))
        ]
    return wanted


@script("Several managers write one object's metadata, and own parts of it.", ["4.16"])
def drawn_owned_metadata(c: Dialogue) -> None:
    rng = c.random("owned metadata")
    owners = {
        name: c.consult("POST", CONFIG_MAP.path(c.namespace), config_map(name)).body["metadata"][
            "uid"
        ]
        for name in "pqr"
    }
    with served(c, "Bushing", it={"type": "string"}) as kind:
        for path, made, hows in (
            (CONFIG_MAP.path(c.namespace, "m"), config_map("m"), (_MERGE, _STRATEGIC)),
            (kind.path(c.namespace, "m"), one(kind, "m"), (_MERGE,)),
        ):
            for _ in range(45):
                how = rng.choice((APPLY, APPLY, APPLY, *hows))
                metadata = _metadata(rng, owners)
                if how != APPLY:
                    metadata.pop("ownerReferences", None)
                query = f"fieldManager={rng.choice(('one', 'two', 'three'))}"
                if how == APPLY and rng.randrange(2):
                    query += "&force=true"
                body: Manifest = {"metadata": metadata}
                if how == APPLY:
                    body = {**made, "metadata": {"name": "m", **metadata}}
                answer = c.consult("PATCH", f"{path}?{query}", body, content_type=how)
                label = f"{how} {query} {metadata}"
                if answer.code >= 300:
                    c.note(label, [answer.code, answer.body["message"]])
                    continue
                c.note(label, [get_path(answer.body, f"metadata.{it}") for it in _SHOWN])
                managed = c.consult("GET", path).body["metadata"].get("managedFields", [])
                managed.sort(key=lambda each: (each["manager"], each["operation"]))
                told = json.dumps(
                    [[each["manager"], each["operation"], each["fieldsV1"]] for each in managed]
                )
                for name, uid in owners.items():
                    told = told.replace(uid, name)
                c.note("managers", json.loads(told))
            let_go = {"metadata": {"finalizers": None}}
            c.consult("PATCH", path, let_go, content_type=_MERGE)


_LOOSE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_STRICT: Final[tuple[Manifest, ...]] = (
    {"type": "string", "maxLength": 2, "enum": ["a", "bb", "ccc"]},
    {"type": "integer", "minimum": 2, "maximum": 4, "multipleOf": 2},
    {"type": "array", "maxItems": 2, "items": {"type": "string", "minLength": 2}},
    {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "maxLength": 1}, "b": {"type": "integer"}},
    },
    {"type": "object", "maxProperties": 1, "additionalProperties": {"type": "integer"}},
    {"type": "string", "not": {"enum": ["a"]}, "nullable": True},
    {
        "type": "integer",
        "x-kubernetes-validations": [{"rule": "self > 2"}, {"rule": "self >= oldSelf"}],
    },
    {
        "type": "array",
        "maxItems": 4,
        "items": {
            "type": "string",
            "maxLength": 5,
            "x-kubernetes-validations": [{"rule": "self != 'a'"}],
        },
    },
)
_TEXTS: Final[tuple[Any, ...]] = ("a", "bb", "ccc", "d", "éé")
_LISTS: Final[tuple[Any, ...]] = ([], ["a"], ["aa", "b"], ["a", "a"], ["aa", "ab", "ac"])
_NUMBERS: Final[tuple[Any, ...]] = (0, 1, 2, 3, 4, 5)
_OBJECTS: Final[tuple[Any, ...]] = ({"a": "x"}, {"a": "xyz"}, {"b": 1}, {"a": "x", "b": 2}, {})
_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    **{"p0": _TEXTS, "p1": _NUMBERS, "p2": _LISTS, "p3": _OBJECTS},
    **{"p4": ({"a": 1}, {"a": 1, "b": 2}, {}), "p5": (*_TEXTS, None)},
    **{"p6": _NUMBERS, "p7": _LISTS},
}
"""Values of each part's type."""


@script("What an update leaves as it was is taken by a schema that became stricter.", ["4.16"])
def drawn_ratchets(c: Dialogue) -> None:
    rng = c.random("ratchets")
    names = [f"p{place}" for place in range(len(_STRICT))]
    with served(c, "Ratchet", it=_LOOSE) as kind:
        stored = {}
        for number in range(14):
            stored[f"r{number}"] = {it: rng.choice(_VALUES[it]) for it in rng.sample(names, 4)}
            body = one(kind, f"r{number}", it=stored[f"r{number}"])
            c.consult("POST", kind.path(c.namespace), body)
        properties = dict(zip(names, _STRICT, strict=True))
        stricter = version("v1", it={"type": "object", "properties": properties})
        crd = definition(kind.plural, kind.kind, stricter | {"subresources": {"status": {}}})
        path = CUSTOM_RESOURCE_DEFINITION.path(name=f"{kind.plural}.differential.assay.dev")
        changed = c.consult("PATCH", path, {"spec": crd["spec"]}, content_type=_MERGE)
        c.note("the schema becomes stricter", [changed.code, changed.body.get("message")])

        def is_strict() -> bool:
            probe = one(kind, "probe", it={"p0": "odd"})
            return c.consult("POST", f"{kind.path(c.namespace)}?dryRun=All", probe).code == 422

        c.until_true("the stricter schema is in force", is_strict)
        c.settle(1.0)
        for _ in range(150):
            name = rng.choice(list(stored))
            it: Manifest = {"p0": rng.choice(_TEXTS)} if rng.randrange(3) == 0 else {}
            for known, value in stored[name].items():
                if rng.randrange(4) == 0:
                    it[known] = rng.choice(_VALUES[known])
                elif isinstance(value, list) and value and rng.randrange(3) == 0:
                    it[known] = rng.choice(([*value, rng.choice(value)], value[::-1], value[:-1]))
            body = {"metadata": {"labels": {"x": rng.choice("12")}}, "spec": {"it": it}}
            target = f"{kind.path(c.namespace, name)}?dryRun=All"
            answer = c.consult("PATCH", target, body, content_type=_MERGE)
            causes = answer.body.get("details", {}).get("causes") or ()
            told = sorted({f"{each['field']}: {each['message']}" for each in causes})
            said = told or get_path(answer.body, "spec.it")
            c.note(f"{name} {stored[name]} {it}", [answer.code, said])
