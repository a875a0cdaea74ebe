"""Fields: those that a kind has not or that are said twice, and values that are too large."""

from __future__ import annotations

import base64
import json

from tests.differential.dialogue import Dialogue
from tests.differential.plane import GADGET, WIDGET
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, gadget, job, pod, widget
from vocabulary.kinds import CONFIG_MAP, JOB, NODE, POD, SECRET


@script("A strict write reports unknown and duplicate fields.", ["4.16"])
def strict_fields(c: Dialogue) -> None:
    widgets, maps = WIDGET.path(c.namespace), CONFIG_MAP.path(c.namespace)
    odd = {**widget("a"), "odd": 1}
    odd["spec"] = {**odd["spec"], "odder": {"x": 1}, "parts": [{"name": "p", "oddest": 1}]}
    for validation in ("Strict", "Warn", "Ignore", "Nonsense", "strict"):
        c.raw("POST", f"{widgets}?fieldValidation={validation}", odd)
    c.raw("POST", f"{maps}?fieldValidation=Nonsense", config_map("a"))
    c.raw("POST", f"{widgets}?fieldValidation=Strict", widget("b", free={"odd": 1}))
    kept = c.raw("GET", f"{widgets}/b", show=["spec"])
    changed = {**kept.body, "spec": {**kept.body["spec"], "odd": 1}}
    c.raw("PUT", f"{widgets}/b?fieldValidation=Strict", changed)
    c.raw("PUT", f"{widgets}/b?fieldValidation=Nonsense", changed)
    merge = "application/merge-patch+json"
    patch = {"spec": {"odd": 1}}
    c.raw("PATCH", f"{widgets}/b?fieldValidation=Strict", patch, content_type=merge)
    c.raw("PATCH", f"{widgets}/b?fieldValidation=Nonsense", patch, content_type=merge)
    c.raw("PATCH", f"{widgets}/b?fieldValidation=Warn", patch, content_type=merge)


@script("A strict write must not have duplicate fields.", ["4.16"])
def repeated_fields(c: Dialogue) -> None:
    widgets, maps = WIDGET.path(c.namespace), CONFIG_MAP.path(c.namespace)
    twice = (
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"l":"1","l":"2"}},'
        b'"data":{"k":"1","k":"2","k":"3"}}'
    )
    for validation in ("Strict", "Warn", "Ignore"):
        c.raw("POST", f"{maps}?fieldValidation={validation}", twice)
    c.raw("PUT", f"{maps}/a?fieldValidation=Strict", twice)
    widget_twice = (
        b'{"apiVersion":"tests.assay.dev/v1","kind":"Widget","metadata":{"name":"a"},'
        b'"spec":{"size":"small","size":"large","parts":[{"name":"p","name":"q"}]}}'
    )
    for validation in ("Strict", "Ignore"):
        c.raw("POST", f"{widgets}?fieldValidation={validation}", widget_twice)
    patch = b'{"data":{"k":"4","k":"5"}}'
    merge = "application/merge-patch+json"
    for validation in ("Strict", "Ignore"):
        target = f"{maps}/a?fieldValidation={validation}"
        c.raw("PATCH", target, patch, content_type=merge)


@script(
    "A write is warned of unknown and duplicate fields, unless it wants to hear nothing.", ["4.16"]
)
def warnings_of_fields(c: Dialogue) -> None:
    widgets, maps = WIDGET.path(c.namespace), CONFIG_MAP.path(c.namespace)
    twice = (
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"1","k":"2"}}'
    )
    odd = (
        b'{"apiVersion":"tests.assay.dev/v1","kind":"Widget","metadata":{"name":"a"},'
        b'"spec":{"size":"small","size":"large","odd":1,"parts":[{"name":"p","odd":1}]},"odd":1}'
    )
    name = ["metadata.name"]
    for number, validation in enumerate(("", "fieldValidation=Warn", "fieldValidation=Ignore")):
        for path, body in ((maps, twice), (widgets, odd)):
            named = body.replace(b'"name":"a"', b'"name":"a%d"' % number)
            label = f"{path.rpartition('/')[2]} {validation}"
            c.raw("POST", f"{path}?{validation}", named, label=label, headers=True, show=name)
    c.raw("PUT", f"{maps}/a0", twice.replace(b'"a"', b'"a0"'), headers=True, show=name)
    merge, strategic = (f"application/{how}-patch+json" for how in ("merge", "strategic-merge"))
    twice = b'{"data":{"k":"4","k":"5"}}'
    for how in (merge, strategic):
        c.raw("PATCH", f"{maps}/a0", twice, content_type=how, label=how, headers=True, show=name)
    patch = b'{"spec":{"odd":1,"size":"large","size":"small"}}'
    c.raw("PATCH", f"{widgets}/a0", patch, content_type=merge, headers=True, show=name)
    status = b'{"status":{"odd":1}}'
    target = f"{widgets}/a0/status"
    c.raw("PATCH", target, status, content_type=merge, headers=True, show=name)
    refused = b'{"spec":{"odd":1,"size":"none"}}'
    c.raw("PATCH", f"{widgets}/a0", refused, content_type=merge, label="refused", headers=True)
    c.raw("GET", f"{widgets}/a0", headers=True, show=name)


@script("Numbers that are too large for their format are rejected.", ["4.16"])
def too_large_numbers(c: Dialogue) -> None:
    c.create(widget("a", count=2**31 - 1))
    c.create(widget("b", count=2**31))
    c.create(widget("c", count=-(2**31) - 1))
    c.patch(WIDGET, "a", {"spec": {"count": 2**40}})
    c.create({**job("d"), "spec": {**job("d")["spec"], "parallelism": 2**31}})


@script("Finalizers of built-in kinds need a domain, including those added later.", ["4.5"])
def finalizers_without_domain(c: Dialogue) -> None:
    first = c.create(config_map("a"))
    c.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": ["no-domain"]}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": ["no-domain"]}}, "strategic")
    c.update(config_map("a", finalizers=["no-domain"], resourceVersion=first.revision))
    c.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": ["a.b/c", "no-domain", "other"]}})
    c.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": ["a.b/c", "orphan"]}})
    c.create(job("j", suspend=True), show=["metadata.name"])
    c.patch(JOB, "j", {"metadata": {"finalizers": ["no-domain"]}})
    c.create(pod("p", schedulerName="nobody"), show=["metadata.name"])
    c.patch(POD, "p", {"metadata": {"finalizers": ["no-domain"]}})
    c.create(gadget("g"), show=["metadata.name"])
    finalizers = {"metadata": {"finalizers": ["no-domain"]}}
    c.patch(GADGET, "g", finalizers, show=["metadata.finalizers"])


@script("A map is removed with its last key.", ["4.16"])
def emptied_maps(c: Dialogue) -> None:
    both = {"labels": {"l": "1"}, "annotations": {"a": "1"}}
    c.create(config_map("a", {"k": "v"}, **both))
    c.patch(CONFIG_MAP, "a", {"data": {"k": None}})
    c.patch(CONFIG_MAP, "a", [{"op": "add", "path": "/data/z", "value": "1"}], "json")
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"l": None}, "annotations": {"a": None}}})
    c.patch(CONFIG_MAP, "a", {"data": {}})
    c.create({**config_map("b", {}), "binaryData": {}})
    c.update(config_map("b", {}))
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    c.create({**secret, "data": {"k": "dg=="}})
    c.patch(SECRET, "s", {"data": {"k": None}})
    c.create(pod("p", schedulerName="nobody", nodeSelector={}), show=["spec.nodeSelector"])
    c.add_node("emptied", taints=[{"key": "k", "effect": "NoSchedule"}])
    c.patch(NODE, "emptied", {"spec": {"taints": []}}, show=["spec"])
    c.patch(NODE, "emptied", {"spec": {"unschedulable": True}}, show=["spec"])
    c.patch(NODE, "emptied", {"spec": {"unschedulable": False}}, show=["spec"])


@script("ConfigMaps and Secrets hold at most a mebibyte.", ["4.16"])
def large_data(c: Dialogue) -> None:
    mebibyte = 2**20
    c.create(config_map("a", {"k": "v" * (mebibyte - 1), "l": "v"}), show=["metadata.name"])
    c.create(config_map("b", {"k": "v" * mebibyte, "l": "v"}), show=["metadata.name"])
    encoded = base64.b64encode(b"v" * (mebibyte // 2)).decode()
    c.create(
        {**config_map("c", {"k": "v" * (mebibyte // 2)}), "binaryData": {"l": encoded}},
        show=["metadata.name"],
    )
    c.create(
        {**config_map("d", {"k": "v" * (mebibyte // 2 + 1)}), "binaryData": {"l": encoded}},
        show=["metadata.name"],
    )
    c.patch(CONFIG_MAP, "a", {"data": {"m": "v"}}, show=["metadata.name"])
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    c.create({**secret, "stringData": {"k": "v" * mebibyte}}, show=["metadata.name"])
    c.patch(SECRET, "s", {"stringData": {"l": "v"}}, show=["metadata.name"])


@script("A body has at most three mebibytes.", ["4.16"])
def large_bodies(c: Dialogue) -> None:
    limit = 3 * 2**20
    maps = CONFIG_MAP.path(c.namespace)
    c.create(config_map("a", {"k": "v"}), show=["metadata.name"])
    whole = json.dumps(config_map("a", {"k": ""}, annotations={"a": ""})).encode()
    for label, size in {"as large as may be": limit, "too large": limit + 1}.items():
        body = whole.replace(b'"k": ""', b'"k": "%s"' % (b"v" * (size - len(whole))))
        c.raw("POST", maps, body, label=f"POST {label}")
        c.raw("PUT", f"{maps}/a", body, label=f"PUT {label}")
        for how in ("merge-patch+json", "strategic-merge-patch+json", "apply-patch+yaml"):
            force = "&force=true" if how.startswith("apply") else ""
            target = f"{maps}/a?fieldManager=one{force}"
            content_type = f"application/{how}"
            c.raw("PATCH", target, body, content_type=content_type, label=f"{how} {label}")
    options = json.dumps({"kind": "DeleteOptions", "apiVersion": "v1"}).encode()
    padded = options + b" " * (limit + 1 - len(options))
    c.raw("DELETE", f"{maps}/a", padded, label="DELETE too large")
    c.raw("POST", "/api/v1/nothing", padded, label="nowhere")
    c.raw("GET", f"{maps}/a", label="still there", show=["data"])
