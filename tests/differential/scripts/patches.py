"""Merge patches, JSON patches, strategic merge patches."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.plane import WIDGET
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, owner, unscheduled, widget
from vocabulary.kinds import CONFIG_MAP, POD


@script("A merge patch merges objects, replaces lists, and removes null fields.", ["4.16"])
def merge_patch(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "1", "l": "2"}, labels={"x": "y"}))
    c.patch(CONFIG_MAP, "a", {"data": {"k": None, "m": "3"}})
    c.patch(CONFIG_MAP, "a", {"data": None, "metadata": {"labels": None}})
    c.create(widget("w", tags=["a", "b"], parts=[{"name": "x"}]))
    c.patch(WIDGET, "w", {"spec": {"tags": ["c"], "parts": [{"name": "y", "weight": 2}]}})
    c.patch(WIDGET, "w", {"spec": {"nested": None, "free": {"a": {"b": None, "c": 1}}}})
    c.patch(WIDGET, "w", {"spec": None})
    c.patch(WIDGET, "w", {"spec": {"size": "giant"}})
    c.patch(CONFIG_MAP, "a", {"data": "text"})
    c.patch(CONFIG_MAP, "a", ["list"])


@script("A JSON patch applies its operations in order, all or none.", ["4.16"])
def json_patch(c: Dialogue) -> None:
    c.create(config_map("a", {"k": "1", "l": "2"}, annotations={"x/y": "z"}))
    add = {"op": "add", "path": "/data/m", "value": "3"}
    c.patch(CONFIG_MAP, "a", [add, {"op": "remove", "path": "/data/k"}], "json")
    c.patch(
        CONFIG_MAP,
        "a",
        [
            {"op": "test", "path": "/data/l", "value": "2"},
            {"op": "replace", "path": "/data/l", "value": "4"},
        ],
        "json",
    )
    c.patch(
        CONFIG_MAP,
        "a",
        [
            {"op": "copy", "from": "/data/l", "path": "/data/n"},
            {"op": "move", "from": "/data/m", "path": "/data/o"},
        ],
        "json",
    )
    c.patch(
        CONFIG_MAP,
        "a",
        [{"op": "replace", "path": "/metadata/annotations/x~1y", "value": "w"}],
        "json",
    )
    c.patch(CONFIG_MAP, "a", [add, {"op": "test", "path": "/data/l", "value": "no"}], "json")
    c.patch(CONFIG_MAP, "a", [add, {"op": "remove", "path": "/data/absent"}], "json")
    c.patch(CONFIG_MAP, "a", [{"op": "replace", "path": "/data/absent", "value": "1"}], "json")
    c.patch(CONFIG_MAP, "a", [{"op": "add", "path": "/spec/deep/er", "value": "1"}], "json")
    c.patch(CONFIG_MAP, "a", [{"op": "frobnicate", "path": "/data"}], "json")
    c.patch(CONFIG_MAP, "a", {"data": {}}, "json")
    c.get(CONFIG_MAP, "a")


@script("A JSON patch tells a list from a text and a number from a truth value.", ["4.16"])
def json_patch_types(c: Dialogue) -> None:
    c.create(widget("w", tags=["a", "b"], replicas=1))
    for path, value in (
        ("/spec/tags", "ab"),
        ("/spec/tags", {"0": "a", "1": "b"}),
        ("/spec/tags", ["a", "b"]),
        ("/spec/tags/0", ["a"]),
        ("/spec/replicas", True),
        ("/spec/replicas", 1.0),
        ("/spec/replicas", "1"),
        ("/spec", None),
    ):
        c.patch(WIDGET, "w", [{"op": "test", "path": path, "value": value}], "json")


@script("A JSON patch inserts into lists and removes from them by index.", ["4.16"])
def json_patch_lists(c: Dialogue) -> None:
    c.create(widget("w", tags=["a"]))
    c.patch(
        WIDGET,
        "w",
        [
            {"op": "add", "path": "/spec/tags/-", "value": "c"},
            {"op": "add", "path": "/spec/tags/1", "value": "b"},
        ],
        "json",
    )
    c.patch(WIDGET, "w", [{"op": "remove", "path": "/spec/tags/0"}], "json")
    c.patch(WIDGET, "w", [{"op": "remove", "path": "/spec/tags/7"}], "json")
    c.patch(
        WIDGET,
        "w",
        [
            {"op": "test", "path": "/metadata/name", "value": "w"},
            {"op": "add", "path": "/metadata/finalizers", "value": ["tests.assay.dev/hold"]},
        ],
        "json",
    )
    c.patch(WIDGET, "w", [{"op": "remove", "path": "/metadata/finalizers"}], "json")
    c.patch(WIDGET, "w", [{"op": "remove", "path": "/metadata/finalizers"}], "json")


@script("A strategic merge patch merges lists by their keys.", ["4.16"])
def strategic_patch(c: Dialogue) -> None:
    obj = unscheduled("p")
    obj["spec"]["containers"] = [
        {"name": "a", "image": "example.org/a", "env": [{"name": "X", "value": "1"}]},
        {"name": "b", "image": "example.org/b"},
    ]
    obj["spec"]["tolerations"] = [{"key": "k", "operator": "Exists"}]
    c.create(obj)
    c.patch(
        POD, "p", {"spec": {"containers": [{"name": "b", "image": "example.org/c"}]}}, "strategic"
    )
    c.patch(POD, "p", {"metadata": {"finalizers": ["tests.assay.dev/one"]}}, "strategic")
    c.patch(POD, "p", {"metadata": {"finalizers": ["tests.assay.dev/two"]}}, "strategic")
    c.patch(
        POD,
        "p",
        {"metadata": {"$deleteFromPrimitiveList/finalizers": ["tests.assay.dev/one"]}},
        "strategic",
    )
    c.patch(POD, "p", {"metadata": {"labels": {"k": "v", "l": "w"}}}, "strategic")
    c.patch(POD, "p", {"metadata": {"labels": {"$patch": "replace", "m": "x"}}}, "strategic")
    condition = {"type": "tests.assay.dev/gate", "status": "True"}
    c.patch(POD, "p", {"status": {"conditions": [condition]}}, "strategic", subresource="status")
    c.patch(
        POD,
        "p",
        {"status": {"conditions": [{**condition, "status": "False", "reason": "Why"}]}},
        "strategic",
        subresource="status",
    )
    c.patch(
        POD,
        "p",
        {"status": {"conditions": [{"type": "tests.assay.dev/gate", "$patch": "delete"}]}},
        "strategic",
        subresource="status",
    )
    c.patch(POD, "p", {"spec": {"containers": [{"image": "example.org/c"}]}}, "strategic")


@script("Owner references are merged by uid in a strategic merge patch.", ["4.6", "4.16"])
def strategic_owner_references(c: Dialogue) -> None:
    one = c.create(config_map("one"))
    two = c.create(config_map("two"))
    first = owner("ConfigMap", "v1", "one", one.uid)
    second = owner("ConfigMap", "v1", "two", two.uid)
    c.create(config_map("a", ownerReferences=[first]))
    c.patch(CONFIG_MAP, "a", {"metadata": {"ownerReferences": [second]}}, "strategic")
    c.patch(
        CONFIG_MAP,
        "a",
        {"metadata": {"ownerReferences": [{**first, "blockOwnerDeletion": True}]}},
        "strategic",
    )
    c.patch(
        CONFIG_MAP,
        "a",
        {"metadata": {"ownerReferences": [{"$patch": "delete", "uid": one.uid}]}},
        "strategic",
    )


@script("Custom resources do not support strategic merge patches.", ["4.16"])
def strategic_patch_of_custom_resource(c: Dialogue) -> None:
    c.create(widget("w"))
    c.patch(WIDGET, "w", {"spec": {"size": "large"}}, "strategic")
    path = WIDGET.path(c.namespace, "w")
    c.raw("PATCH", path, {"spec": {"size": "large"}}, content_type="application/json")
    c.create(config_map("a"))
    c.raw("PATCH", CONFIG_MAP.path(c.namespace, "a"), {}, content_type="application/json")


@script("A patch with a resourceVersion or a uid applies only to that one.", ["4.16"])
def patch_preconditions(c: Dialogue) -> None:
    first = c.create(config_map("a", {"k": "1"}))
    c.patch(CONFIG_MAP, "a", {"metadata": {"resourceVersion": first.revision}, "data": {"k": "2"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"resourceVersion": first.revision}, "data": {"k": "3"}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"uid": first.uid}, "data": {"k": "4"}})
    c.patch(
        CONFIG_MAP,
        "a",
        [
            {"op": "test", "path": "/metadata/uid", "value": "no"},
            {"op": "replace", "path": "/data/k", "value": "5"},
        ],
        "json",
    )
    c.create(widget("w"))
    c.patch(WIDGET, "w", {"metadata": {"resourceVersion": "1"}, "spec": {"size": "large"}})
