"""Custom resources in several versions, converted by a webhook."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.differential.dialogue import Dialogue, Events
from tests.differential.script import script

GROUP = "differential.assay.dev"


def _version(name: str, field: str, **rules: Any) -> dict[str, Any]:
    spec = {"type": "object", "properties": {field: {"type": "string", **rules}}}
    status = {"type": "object", "properties": {"phase": {"type": "string"}}}
    schema = {"type": "object", "properties": {"spec": spec, "status": status}}
    return {
        "name": name,
        "served": True,
        "storage": name == "v1",
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }


def _converted(request: Mapping[str, Any]) -> dict[str, Any]:
    """`spec.size` of v1 is `spec.width` of v2; an object named `odd` cannot be converted."""
    wanted = request["desiredAPIVersion"]
    names = ("width", "size") if wanted.endswith("/v1") else ("size", "width")
    objects = []
    for obj in request["objects"]:
        if obj["metadata"].get("labels", {}).get("odd"):
            return {"result": {"status": "Failure", "message": "it is odd"}}
        spec = dict(obj.get("spec") or {})
        if names[0] in spec:
            spec[names[1]] = spec.pop(names[0])
        objects.append({**obj, "apiVersion": wanted, "spec": spec})
    return {"result": {"status": "Success"}, "convertedObjects": objects}


def _define(c: Dialogue, plural: str, answer: Any = _converted, **rules: Any) -> tuple[str, Events]:
    """Define a kind in versions v1, which is stored, and v2; the path to its collections. `rules`
    are those of v2 for `spec.width`."""
    config, reviews = c.conversions(answer)
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": plural.capitalize(), "plural": plural},
            "conversion": {
                "strategy": "Webhook",
                "webhook": {"clientConfig": config, "conversionReviewVersions": ["v1"]},
            },
            "versions": [_version("v1", "size"), _version("v2", "width", **rules)],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    c.raw("POST", path, definition, show=["metadata.name"])
    base = f"/apis/{GROUP}/{{}}/namespaces/{c.namespace}/{plural}"
    for version in ("v1", "v2"):
        target = base.format(version)

        def is_served(target: str = target) -> bool:
            return c.consult("GET", target).code == 200

        c.until_true(f"{version} is served", is_served)
    return base, reviews


def _thing(plural: str, version: str, name: str, **fields: Any) -> dict[str, Any]:
    kind = plural.capitalize()
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": f"{GROUP}/{version}", "kind": kind, "metadata": metadata, **fields}


@script("An object is read and written in each version, and converted by the webhook.", ["7.8"])
def converted_objects(c: Dialogue) -> None:
    base, _ = _define(c, "planks")
    one, two = base.format("v1"), base.format("v2")
    c.raw("POST", one, _thing("planks", "v1", "a", spec={"size": "s"}))
    c.raw("GET", f"{two}/a")
    c.raw("POST", two, _thing("planks", "v2", "b", spec={"width": "w", "unknown": "x"}))
    c.raw("GET", f"{one}/b")
    c.raw("GET", two, label="list v2")
    c.raw("GET", one, label="list v1")
    merge = "application/merge-patch+json"
    c.raw("PATCH", f"{two}/a", {"spec": {"width": "more"}}, content_type=merge)
    c.raw("GET", f"{one}/a", label="after the patch")
    c.raw("PATCH", f"{two}/a", {"spec": {"width": "more"}}, content_type=merge, label="again")
    status = {"status": {"phase": "Ready"}}
    c.raw("PATCH", f"{two}/a/status", status, content_type=merge)
    found = c.consult("GET", f"{two}/b").body
    c.raw("PUT", f"{two}/b", {**found, "spec": {"width": "put"}})
    c.raw("GET", f"{one}/b", label="after the update")
    c.raw("POST", f"{two}?dryRun=All", _thing("planks", "v2", "c", spec={"width": "w"}))
    c.raw("DELETE", f"{two}/b")


@script("The webhook is sent one version and asked for the other.", ["7.8"])
def conversion_reviews(c: Dialogue) -> None:
    base, reviews = _define(c, "beams")
    c.raw("POST", base.format("v2"), _thing("beams", "v2", "a", spec={"width": "w"}))
    sent = [
        (review["desiredAPIVersion"], obj["apiVersion"], obj["spec"])
        for review in reviews
        for obj in review["objects"]
    ]
    for wanted, given, spec in (sent[0], sent[-1]):
        c.note(f"{given} to {wanted}", spec)
    reviews.clear()
    c.raw("GET", f"{base.format('v1')}/a", show=["apiVersion", "spec"])
    c.note("reviews of a read in the stored version", len(reviews))


@script("An object is checked in the version in which it is written, and in no other.", ["7.8"])
def checked_versions(c: Dialogue) -> None:
    base, _ = _define(c, "slats", enum=["narrow", "wide"])
    one, two = base.format("v1"), base.format("v2")
    c.raw("POST", two, _thing("slats", "v2", "a", spec={"width": "odd"}), label="odd in v2")
    c.raw("POST", two, _thing("slats", "v2", "a", spec={"width": "wide"}), show=["spec"])
    c.raw("POST", one, _thing("slats", "v1", "b", spec={"size": "odd"}), show=["spec"])
    c.raw("GET", f"{two}/b", show=["spec"])
    merge = "application/merge-patch+json"
    for name, spec in (("a", {"width": "odd"}), ("b", {"width": "odder"})):
        c.raw("PATCH", f"{two}/{name}", {"spec": spec}, content_type=merge, show=["spec"])
    changes: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}}
    c.raw("PATCH", f"{two}/b", changes, content_type=merge, show=["spec"], label="a label of b")
    status = {"status": {"phase": "Ready"}}
    c.raw("PATCH", f"{two}/b/status", status, content_type=merge, show=["status"])
    c.raw("PATCH", f"{one}/a", {"spec": {"size": "odd"}}, content_type=merge, show=["spec"])


@script("What cannot be converted can be neither written nor read in that version.", ["7.8"])
def failed_conversions(c: Dialogue) -> None:
    base, _ = _define(c, "rods")
    one, two = base.format("v1"), base.format("v2")
    odd = {"labels": {"odd": "yes"}}
    c.raw("POST", two, _thing("rods", "v2", "a", metadata=odd, spec={"width": "w"}))
    c.raw("POST", one, _thing("rods", "v1", "b", metadata=odd, spec={"size": "s"}))
    c.raw("GET", f"{one}/b", show=["spec"])
    c.raw("GET", f"{two}/b")
    c.raw("GET", two, label="list v2")
    merge = "application/merge-patch+json"
    c.raw("PATCH", f"{two}/b", {"spec": {"width": "w"}}, content_type=merge)
    c.raw("DELETE", f"{one}/b", show=["status"])


def _other_objects(request: Mapping[str, Any]) -> dict[str, Any]:
    converted = _converted(request)
    for obj in converted["convertedObjects"]:
        how = obj["metadata"].get("labels", {}).get("how", "")
        changes = {
            "renamed": {"name": "another"},
            "annotated": {"annotations": {"by": "webhook"}, "labels": {"how": "annotated"}},
            "finalized": {"finalizers": ["tests.assay.dev/x"]},
        }
        obj["metadata"] = {**obj["metadata"], **changes.get(how, {})}
        if how == "version":
            obj["apiVersion"] = f"{GROUP}/v9"
    if any(obj["metadata"].get("labels", {}).get("how") == "none" for obj in request["objects"]):
        converted["convertedObjects"] = []
    return converted


@script("A conversion may change labels and annotations, and no other metadata.", ["7.8"])
def metadata_of_converted_objects(c: Dialogue) -> None:
    base, _ = _define(c, "bars", _other_objects)
    one, two = base.format("v1"), base.format("v2")
    for how in ("annotated", "finalized", "renamed", "version", "none"):
        labels = {"labels": {"how": how}}
        body = _thing("bars", "v1", how, metadata=labels, spec={"size": "s"})
        c.raw("POST", one, body, label=f"create {how}", show=["metadata.name"])
        c.raw("GET", f"{two}/{how}")
        c.raw("DELETE", f"{one}/{how}", show=["status"])
