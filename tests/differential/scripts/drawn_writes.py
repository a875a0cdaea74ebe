"""Patches that are drawn at random, and configurations that several managers apply.

A generator with a seed draws them, so both sides get the same ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.applying import APPLY, note_managers
from tests.differential.scripts.manifests import Manifest, config_map
from tests.differential.scripts.rules import one, served
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT
from vocabulary.objects import get_path

_JSON: Final = "application/json-patch+json"
_MERGE: Final = "application/merge-patch+json"
_STRATEGIC: Final = "application/strategic-merge-patch+json"
_FREE: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TREE: Final[Manifest] = {
    "a": {"b": [1, 2, {"c": "d"}, [3]], "x/y": {"~": 1, "": 2}},
    "list": ["p", "q", "r"],
    "one": 1,
    "true": True,
    "half": 0.5,
}
_PATHS: Final = (
    *("/a", "/a/b", "/a/b/0", "/a/b/2", "/a/b/2/c", "/a/b/3/0", "/a/b/3/-", "/a/b/-", "/a/b/9"),
    *("/a/x~1y", "/a/x~1y/~0", "/a/x~1y/", "/a/x/y", "/list", "/list/0", "/list/1", "/list/3"),
    *("/list/-", "/list/01", "/list/x", "/one", "/one/0", "/none", "/none/x", "/new", "/true"),
)
_VALUES: Final[Sequence[Any]] = (
    1,
    2,
    True,
    "x",
    "p",
    None,
    [],
    ["p", "q", "r"],
    {},
    {"c": "d"},
    0.5,
    1.0,
    [3],
)


def _operation(rng: random.Random) -> Manifest:
    name = rng.choice(("add", "add", "remove", "replace", "replace", "move", "copy", "test"))
    told: Manifest = {"op": name, "path": f"/spec/it{rng.choice(_PATHS)}"}
    if name in ("move", "copy"):
        told["from"] = f"/spec/it{rng.choice(_PATHS)}"
    elif name != "remove":
        told["value"] = rng.choice(_VALUES)
    return told


def _merging(rng: random.Random, tree: Any) -> Any:
    """A merge patch for some of this tree."""
    if not isinstance(tree, dict) or rng.randrange(4) == 0:
        return rng.choice((*_VALUES, {"n": None}))
    chosen = [name for name in (*tree, "new") if rng.randrange(3) == 0]
    return {name: _merging(rng, tree.get(name)) for name in chosen}


@script("JSON patches and merge patches do what their standards say.", ["4.16"])
def drawn_patches(c: Dialogue) -> None:
    rng = c.random("patches")
    with served(c, "Spindle", it=_FREE) as kind:
        c.consult("POST", kind.path(c.namespace), one(kind, it=_TREE))
        for _ in range(120):
            operations = [_operation(rng) for _ in range(rng.randint(1, 3))]
            _patch(c, kind.path(c.namespace, "a"), operations, _JSON, ["spec.it"])
        for _ in range(40):
            patch = {"spec": {"it": _merging(rng, _TREE)}}
            _patch(c, kind.path(c.namespace, "a"), patch, _MERGE, ["spec.it"])


def _patch(c: Dialogue, path: str, body: Any, how: str, parts: Sequence[str]) -> None:
    answer = c.consult("PATCH", f"{path}?dryRun=All", body, content_type=how)
    if answer.code >= 300:
        c.note(f"{body}", answer.code)
    else:
        c.note(f"{body}", [get_path(answer.body, part) for part in parts])


_LABELS: Final = {"app": "a"}
_VARIABLES: Final = [{"name": name, "value": name} for name in "ABC"]
_TEMPLATE: Final[Manifest] = {
    "metadata": {"labels": _LABELS, "finalizers": ["a/x", "a/y", "a/z"]},
    "spec": {
        "containers": [
            {"name": "one", "image": "x", "env": _VARIABLES, "args": ["1", "2"]},
            {"name": "two", "image": "x", "ports": [{"containerPort": 1}, {"containerPort": 2}]},
        ],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w", "configMap": {"name": "w"}}],
        "nodeSelector": {"a": "b", "c": "d"},
    },
}


def _deployment(name: str, template: Manifest) -> Manifest:
    spec = {"replicas": 0, "paused": True, "selector": {"matchLabels": _LABELS}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {**spec, "template": template},
    }


def _entries(rng: random.Random, key: str, names: Sequence[Any], others: Any) -> list[Manifest]:
    """Entries for a list of a strategic merge patch, some of them with a directive."""
    entries: list[Manifest] = []
    for name in rng.sample(names, rng.randint(1, 2)):
        entry = {key: name, **rng.choice(others)}
        directive = rng.choice((None, None, None, "delete"))
        entries.append(entry if directive is None else {**entry, "$patch": directive})
    if rng.randrange(9) == 0:
        entries.append({"$patch": "replace"})
    return entries


def _ordered(rng: random.Random, key: str, names: Sequence[Any], entries: list[Any]) -> list[Any]:
    """An order in which entries stay in their own."""
    chosen = [it[key] for it in entries if key in it and it.get("$patch") != "delete"]
    for name in names:
        if name not in chosen and rng.randrange(3):
            chosen.insert(rng.randint(0, len(chosen)), name)
    return [{key: it} for it in chosen]


def _strategic(rng: random.Random) -> Manifest:
    """A strategic merge patch of a pod template."""
    spec: Manifest = {}
    variables = _entries(rng, "name", "ABD", ({"value": "1"}, {"value": None}))
    inner: Manifest = rng.choice(({"env": variables}, {"args": ["3"]}, {"image": "y"}))
    if "env" in inner and rng.randrange(2):
        inner["$setElementOrder/env"] = _ordered(rng, "name", "ABCD", variables)
    ports: Manifest = {
        "ports": _entries(rng, "containerPort", (1, 2, 3), ({"protocol": "UDP"}, {}))
    }
    changes = [
        *({"name": name, **rng.choice((inner, ports))} for name in ("one", "two")),
        *({"name": name, "image": "new"} for name in ("three", "four")),
    ]
    if rng.randrange(3) == 0:
        changes[1] = {"name": "two", "$patch": "delete"}
    if rng.randrange(3):
        spec["containers"] = rng.sample(changes, rng.randint(0, 3))
        if rng.randrange(12) == 0:
            spec["containers"].append({"$patch": "replace"})
    if rng.randrange(2):
        order = _ordered(rng, "name", ("one", "two", "four"), spec.get("containers", []))
        spec["$setElementOrder/containers"] = order
    if rng.randrange(3) == 0:
        keys = {"$retainKeys": ["name", "emptyDir"]}
        told = ({"emptyDir": {"medium": "Memory"}, **keys}, keys)
        spec["volumes"] = _entries(rng, "name", "vwn", told)
    if rng.randrange(4) == 0:
        spec["tolerations"] = rng.choice(([], [{"operator": "Exists"}], None))
    if rng.randrange(4) == 0:
        spec["nodeSelector"] = rng.choice(
            (None, {"a": None}, {"e": "f"}, {"$patch": "replace", "e": "f"}, {"$patch": "delete"})
        )
    metadata: Manifest = {}
    finalizers = rng.sample(("a/x", "a/z", "a/n", "a/m"), 2)
    if rng.randrange(3) == 0:
        metadata["finalizers"] = finalizers
    if rng.randrange(3) == 0:
        metadata["$deleteFromPrimitiveList/finalizers"] = rng.sample(("a/x", "a/y", "a/n"), 1)
    if rng.randrange(3) == 0:
        others = rng.sample(("a/y", "a/z", "a/x"), 2)
        told_ = [*(it for it in others if it not in finalizers), *finalizers]
        metadata["$setElementOrder/finalizers"] = told_
    if rng.randrange(9) == 0:
        metadata["$setElementOrder/finalizers"] = finalizers[::-1]
    return {"metadata": metadata, "spec": spec}


@script("Strategic merge patches are merged by keys, orders and directives.", ["4.16"])
def drawn_strategic_patches(c: Dialogue) -> None:
    rng = c.random("strategic patches")
    c.consult("POST", DEPLOYMENT.path(c.namespace), _deployment("a", _TEMPLATE))
    for _ in range(150):
        patch = {"spec": {"template": _strategic(rng)}}
        path = f"{DEPLOYMENT.path(c.namespace, 'a')}?dryRun=All"
        answer = c.consult("PATCH", path, patch, content_type=_STRATEGIC)
        if answer.code >= 300:
            c.note(f"{patch}", [answer.code, answer.body["message"]])
            continue
        template = answer.body["spec"]["template"]
        spec = template["spec"]
        kept = ("name", "image", "env", "args", "ports")
        containers = [{it: each.get(it) or None for it in kept} for each in spec["containers"]]
        others = [spec.get(it) for it in ("volumes", "tolerations", "nodeSelector")]
        finalizers = template["metadata"].get("finalizers")
        c.note(f"{patch}", [containers, *others, finalizers])


_KINDS_OF_LISTS: Final[Manifest] = {
    "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
    "atomic": {"type": "array", "items": {"type": "string"}},
    "keyed": {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": {
            "type": "object",
            "required": ["k"],
            "properties": {it: {"type": "string"} for it in "kvw"},
        },
    },
    "map": {"type": "object", "additionalProperties": {"type": "string"}},
    "whole": {
        "type": "object",
        "x-kubernetes-map-type": "atomic",
        "properties": {it: {"type": "string"} for it in "ab"},
    },
}


def _configuration(rng: random.Random) -> Manifest:
    """One manager's wishes for the lists and maps."""
    wanted: Manifest = {}
    parts: Sequence[tuple[str, Any]] = (
        ("set", rng.sample("abc", rng.randint(1, 2))),
        ("atomic", rng.sample("abc", rng.randint(1, 2))),
        (
            "keyed",
            [
                {"k": it, **rng.choice(({}, {"v": rng.choice("12")}, {"w": "1"}))}
                for it in rng.sample("abc", rng.randint(1, 2))
            ],
        ),
        ("map", {it: rng.choice("12") for it in rng.sample("abc", rng.randint(1, 2))}),
        ("whole", {it: rng.choice("12") for it in rng.sample("ab", rng.randint(1, 2))}),
    )
    for name, value in parts:
        if rng.randrange(3) == 0:
            wanted[name] = value
    return wanted


@script("Several managers apply, update and own parts of one object.", ["4.16"])
def drawn_applies(c: Dialogue) -> None:
    rng = c.random("applies")
    with served(c, "Pulley", it={"type": "object", "properties": _KINDS_OF_LISTS}) as kind:
        path = kind.path(c.namespace, "a")
        for _ in range(60):
            wanted = _configuration(rng)
            manager, force = rng.choice(("one", "two", "three")), rng.randrange(3) == 0
            query = f"fieldManager={manager}" + ("&force=true" if force else "")
            body = one(kind, it=wanted)
            answer = c.consult("PATCH", f"{path}?{query}", body, content_type=APPLY)
            said = get_path(answer.body, "spec.it") if answer.code < 300 else answer.body["message"]
            c.note(f"{query} {wanted}", [answer.code, said])
            note_managers(c, path)
    path = CONFIG_MAP.path(c.namespace, "a")
    for _ in range(40):
        data = {it: rng.choice("12") for it in rng.sample("abcd", rng.randint(0, 3))}
        labels = {it: rng.choice("12") for it in rng.sample("xy", rng.randint(0, 2))}
        query = f"fieldManager={rng.choice(('one', 'two'))}{rng.choice(('', '&force=true'))}"
        body = config_map("a", data, labels=labels)
        answer = c.consult("PATCH", f"{path}?{query}", body, content_type=APPLY)
        parts = [get_path(answer.body, it) for it in ("data", "metadata.labels")]
        c.note(f"{query} {data} {labels}", [answer.code, *parts, answer.body.get("message")])
        note_managers(c, path)
