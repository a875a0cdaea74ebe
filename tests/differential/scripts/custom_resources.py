"""Custom resources: their definitions, schemas, defaults, subresources."""

from __future__ import annotations

from typing import Any

from conformance.suites.appwrapper.api import APPWRAPPER
from tests.differential.dialogue import Dialogue
from tests.differential.plane import GADGET, WIDGET
from tests.differential.predicates import condition, gone
from tests.differential.script import script
from tests.differential.scripts.applying import note_managers
from tests.differential.scripts.manifests import gadget, widget
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION

SPEC = ["spec", "metadata.generation"]


def definition(
    plural: str, kind: str, *versions: dict[str, Any], scope: str = "Namespaced"
) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.differential.assay.dev"},
        "spec": {
            "group": "differential.assay.dev",
            "scope": scope,
            "names": {
                "plural": plural,
                "singular": kind.lower(),
                "kind": kind,
                "listKind": f"{kind}List",
            },
            "versions": list(versions),
        },
    }


def version(
    name: str, *, storage: bool = True, served: bool = True, **properties: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "served": served,
        "storage": storage,
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": properties}},
            }
        },
    }


@script("Fields that a schema does not know are pruned, unless it keeps them.", ["4.16"])
def pruning(c: Dialogue) -> None:
    c.create(
        widget("a", unknown=1, nested={"colour": "red", "other": 2}, free={"any": {"thing": 1}})
    )
    c.create({**gadget("g"), "extra": {"x": 1}})
    c.patch(WIDGET, "a", {"spec": {"alsoUnknown": True}})
    c.create(
        widget(
            "t",
            template={
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "x", "labels": {"a": "b"}, "odd": 1},
                "spec": {"deep": [1]},
            },
        )
    )
    c.patch(WIDGET, "a", {"status": {"phase": "Busy", "unknown": 1}}, subresource="status")
    embedded = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 7}}
    c.create(widget("e", template=embedded), dry_run=True)


@script("Defaults are filled in where something is absent, and null is dropped for them.", ["4.16"])
def defaulting(c: Dialogue) -> None:
    c.create(widget("a"), show=SPEC)
    c.create(widget("b", replicas=None, nested=None), show=SPEC)
    c.create(widget("d", nested={"colour": None, "level": None}), show=SPEC)
    c.create(widget("e", parts=[{"name": "x"}, {"name": "y", "weight": 5}]), show=SPEC)
    c.patch(WIDGET, "a", {"spec": {"nested": {"colour": None}}}, show=SPEC)


@script("Schema violations are rejected, each with its field.", ["4.16"])
def schema_validation(c: Dialogue) -> None:
    spec: dict[str, Any]
    for spec in (
        {"size": "giant"},
        {"size": 3},
        {"replicas": 11},
        {"replicas": -1},
        {"replicas": "two"},
        {"replicas": 1.5},
        {"replicas": 3_000_000_000},
        {"hidden": "yes"},
        {"name": "X"},
        {"name": "toolongname"},
        {"amount": True},
        {"amount": "10%"},
        {"ratio": 0.3},
        {"ratio": 0},
        {"tags": ["a", "b", "c", "d"]},
        {"tags": ["a", "a"]},
        {"tags": "a"},
        {"parts": [{"name": "x"}, {"name": "x"}]},
        {"parts": [{"weight": 1}]},
        {"limits": {"a": "1", "b": "2", "c": "3"}},
        {"limits": {"a": 1}},
        {"when": "yesterday"},
        {"when": "2024-01-01T00:00:00Z"},
        {"template": {"spec": {}}},
        {"nested": {"level": "high"}},
        {"nested": []},
        {"free": 1},
    ):
        c.create({**widget("a"), "spec": {"size": "small", **spec}}, dry_run=True, show=SPEC)
    c.create({**widget("a"), "spec": {}}, dry_run=True)
    c.create(
        {"apiVersion": "tests.assay.dev/v1", "kind": "Widget", "metadata": {"name": "a"}},
        dry_run=True,
    )
    c.create(
        {**widget("a"), "spec": {"size": "giant", "replicas": 99, "hidden": 1, "name": "X"}},
        dry_run=True,
    )


@script("The status is validated too, and only by its own subresource.", ["4.16"])
def status_validation(c: Dialogue) -> None:
    c.create(widget("a"), show=SPEC)
    c.patch(WIDGET, "a", {"status": {"phase": "Dozing"}}, subresource="status")
    c.patch(WIDGET, "a", {"status": {"conditions": [{"type": "Ready"}]}}, subresource="status")
    c.patch(
        WIDGET,
        "a",
        {
            "status": {
                "conditions": [
                    {"type": "Ready", "status": "True"},
                    {"type": "Ready", "status": "False"},
                ]
            }
        },
        subresource="status",
    )
    c.patch(
        WIDGET,
        "a",
        {"status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        subresource="status",
    )


@script("A custom resource is scaled through its scale subresource.", ["4.16"])
def scale(c: Dialogue) -> None:
    c.create(widget("a", replicas=2), show=SPEC)
    path = WIDGET.path(c.namespace, "a", "scale")
    first = c.raw("GET", path)
    c.patch(
        WIDGET,
        "a",
        {"status": {"replicas": 2, "selector": "app=a"}},
        subresource="status",
        show=["status"],
    )
    c.raw("GET", path)
    c.patch(WIDGET, "a", {"spec": {"replicas": 5}}, subresource="scale")
    c.get(WIDGET, "a", show=SPEC)
    c.patch(WIDGET, "a", {"spec": {"replicas": 99}}, subresource="scale")
    c.patch(WIDGET, "a", {"spec": {"replicas": -1}}, subresource="scale")
    c.raw("PUT", path, {**first.body, "spec": {"replicas": 1}})
    c.raw("GET", GADGET.path(c.namespace, "a", "scale"))


@script("A CRD is established, serves its kind, and its deletion deletes its objects.", ["4.16"])
def definition_life(c: Dialogue) -> None:
    name = "sprockets.differential.assay.dev"
    c.create(definition("sprockets", "Sprocket", version("v1", teeth={"type": "integer"})))
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"))
    path = f"/apis/differential.assay.dev/v1/namespaces/{c.namespace}/sprockets"
    obj = {
        "apiVersion": "differential.assay.dev/v1",
        "kind": "Sprocket",
        "metadata": {"name": "a"},
        "spec": {"teeth": 3, "other": 1},
    }
    c.until_served(path)
    c.raw("POST", path, obj)
    c.create(definition("sprockets", "Sprocket", version("v1")))
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.finalizers"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)
    c.raw("GET", path)


@script("An object is served in every version of its CRD.", ["4.16"])
def several_versions(c: Dialogue) -> None:
    name = "cogs.differential.assay.dev"
    c.create(
        definition(
            "cogs",
            "Cog",
            version("v1", teeth={"type": "integer"}),
            version(
                "v2",
                storage=False,
                teeth={"type": "integer"},
                colour={"type": "string", "default": "red"},
            ),
            version("v3", storage=False, served=False),
        ),
        show=["status.storedVersions", "spec.conversion"],
    )
    c.until(
        CUSTOM_RESOURCE_DEFINITION,
        name,
        condition("Established"),
        show=["status.acceptedNames", "status.storedVersions"],
    )
    base = "/apis/differential.assay.dev"
    c.until_served(f"{base}/v2/namespaces/{c.namespace}/cogs")
    c.raw(
        "POST",
        f"{base}/v1/namespaces/{c.namespace}/cogs",
        {
            "apiVersion": "differential.assay.dev/v1",
            "kind": "Cog",
            "metadata": {"name": "a"},
            "spec": {"teeth": 3},
        },
    )
    c.raw("GET", f"{base}/v2/namespaces/{c.namespace}/cogs/a")
    c.raw("GET", f"{base}/v3/namespaces/{c.namespace}/cogs/a")
    c.raw(
        "POST",
        f"{base}/v2/namespaces/{c.namespace}/cogs",
        {"apiVersion": "differential.assay.dev/v2", "kind": "Cog", "metadata": {"name": "b"}},
    )
    c.raw("GET", f"{base}/v1/namespaces/{c.namespace}/cogs/b")
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.finalizers"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)


@script("Each request of a deprecated version is warned.", ["4.16"])
def deprecated_versions(c: Dialogue) -> None:
    old = version("v1", teeth={"type": "integer"}) | {"deprecated": True}
    older = version("v2", storage=False, teeth={"type": "integer"})
    older |= {"deprecated": True, "deprecationWarning": 'use "v3", not \\v2'}
    newest = version("v3", storage=False, teeth={"type": "integer"})
    c.create(definition("bolts", "Bolt", old, older, newest), show=["metadata.name"])
    name = "bolts.differential.assay.dev"
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"), show=["metadata.name"])
    base = "/apis/differential.assay.dev"
    for served in ("v1", "v2", "v3"):
        path = f"{base}/{served}/namespaces/{c.namespace}/bolts"
        c.until_served(path)
        bolt = {
            "apiVersion": f"differential.assay.dev/{served}",
            "kind": "Bolt",
            "metadata": {"name": served},
            "spec": {"teeth": 3, "odd": 1},
        }
        show = ["metadata.name"]
        c.raw("POST", path, bolt, label=f"POST {served}", headers=True, show=show)
        c.raw("GET", path, label=f"GET all of {served}", headers=True, show=show)
        c.raw("GET", f"{path}/v1", label=f"GET {served}", headers=True, show=show)
        c.raw("GET", f"{path}/none", label=f"GET none of {served}", headers=True, show=show)
        c.raw("DELETE", f"{path}/{served}", label=f"DELETE {served}", headers=True, show=show)


@script("An invalid CRD is rejected, each error with its field.", ["4.16"])
def definition_validation(c: Dialogue) -> None:
    def tried(obj: dict[str, Any]) -> None:
        c.create(obj, dry_run=True, show=["metadata.name"])

    good = definition("gears", "Gear", version("v1"))
    tried(good)
    tried({**good, "metadata": {"name": "other.differential.assay.dev"}})
    tried({**good, "spec": {**good["spec"], "scope": "Sideways"}})
    tried({**good, "spec": {**good["spec"], "versions": []}})
    tried(definition("gears", "Gear", version("v1"), version("v2")))
    tried(definition("gears", "Gear", version("v1", storage=False)))
    tried(definition("gears", "Gear", {"name": "v1", "served": True, "storage": True}))
    tried(definition("gears", "Gear", version("v1", x={})))
    tried(definition("gears", "Gear", version("v1", x={"type": "integer", "default": "one"})))
    tried(definition("gears", "Gear", version("v1", x={"type": "array"})))
    tried(definition("gears", "Gear", version("V1")))


@script("An AppWrapper is validated and defaulted by its own CRD.", ["4.16"])
def appwrappers(c: Dialogue) -> None:
    def appwrapper(name: str, **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": "workload.codeflare.dev/v1beta2",
            "kind": "AppWrapper",
            "metadata": {"name": name},
            "spec": spec,
        }

    component = {
        "template": {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p"},
            "spec": {"containers": []},
        }
    }
    c.create(appwrapper("a", components=[component]))
    c.create(
        appwrapper(
            "b",
            components=[
                {**component, "podSets": [{"path": "template"}], "annotations": {"x": "y"}}
            ],
            suspend=True,
            managedBy="example.org/x",
        )
    )
    c.create(appwrapper("c", components=[{"podSets": []}]))
    c.create(
        appwrapper("d", components=[{**component, "podSets": [{"replicas": "two", "path": "x"}]}])
    )
    c.create(appwrapper("e"))
    c.patch(
        APPWRAPPER,
        "a",
        {
            "status": {
                "phase": "Running",
                "componentStatus": [
                    {
                        "name": "p",
                        "kind": "Pod",
                        "apiVersion": "v1",
                        "podSets": [],
                        "conditions": [],
                    }
                ],
            }
        },
        subresource="status",
    )
    c.patch(APPWRAPPER, "a", {"status": {"phase": 3}}, subresource="status")
    c.patch(
        APPWRAPPER, "a", {"spec": {"suspend": True}}, show=["spec.suspend", "metadata.generation"]
    )
    c.table(APPWRAPPER)


@script("The parts of a CRD have bounds, and its versions an order.", ["4.16"])
def parts_of_definitions(c: Dialogue) -> None:
    for label, change in {
        "an unknown type": {"properties": {"a": {"type": "text"}}},
        "a schema that is a text": {"properties": {"a": "x"}},
        "a part that is a text": {"not": "x"},
        "nothing more": {"properties": {"a": {"type": "object", "additionalProperties": False}}},
    }.items():
        crd = definition("shims", "Shim", version("v1"))
        schema = {"type": "object", **change}
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
        c.raw(
            "POST",
            "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
            crd,
            label=label,
            show=["metadata.name"],
        )
    names = ("v1", "v2", "v10", "v2beta1", "v1beta2", "v1alpha1", "foo1", "bar", "v1beta")
    several = [version(name, storage=name == "v1") for name in names]
    c.create(definition("bushings", "Bushing", *several), show=["metadata.name"])
    name = "bushings.differential.assay.dev"
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"), show=["metadata.name"])
    path = f"/apis/differential.assay.dev/v1/namespaces/{c.namespace}/bushings"
    c.until_served(path)

    def versions() -> list[str]:
        groups = c.consult("GET", "/apis").body["groups"]
        (group,) = (each for each in groups if each["name"] == "differential.assay.dev")
        return [each["version"] for each in group["versions"]]

    wanted = set(names)
    c.until_true("all versions are discovered", lambda: wanted <= set(versions()))
    c.note("versions", [each for each in versions() if each in wanted])
    for target in ("v3", "v1", "foo1"):
        at = path.replace("/v1/", f"/{target}/")
        body = {
            "apiVersion": "differential.assay.dev/v1",
            "kind": "Bushing",
            "metadata": {"name": target},
        }
        c.raw("POST", at, body, label=f"create v1 through {target}", show=["apiVersion", "kind"])
        c.raw("GET", at, label=f"list {target}", show=["kind"])
    body |= {"kind": "Other"}
    c.raw("POST", path, body, label="of another kind")
    c.raw(
        "POST",
        path,
        {**body, "kind": "Bushing", "apiVersion": "other/v1"},
        label="of another group",
    )
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)
    service = "/apis/apiregistration.k8s.io/v1/apiservices/foo1.differential.assay.dev"
    c.until_true("its APIService is gone", lambda: c.consult("GET", service).code == 404)


@script("Sets, maps and atomic lists of a custom resource are applied each in its way.", ["4.16"])
def applied_lists(c: Dialogue) -> None:
    text = {"type": "string"}
    entry = {"type": "object", "required": ["k"], "properties": {"k": text, "v": text, "w": text}}
    lists = {
        "set": {"type": "array", "items": text, "x-kubernetes-list-type": "set"},
        "map": {
            "type": "array",
            "items": entry,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["k"],
        },
        "atomic": {"type": "array", "items": text, "x-kubernetes-list-type": "atomic"},
        "plain": {"type": "array", "items": entry},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        "whole": {
            "type": "object",
            "properties": {"a": text, "b": text},
            "x-kubernetes-map-type": "atomic",
        },
        "more": {"type": "object", "additionalProperties": text},
        "size": {"type": "integer"},
    }
    name = "spindles.differential.assay.dev"
    made = version("v1", **lists)
    made["subresources"] = {
        "status": {},
        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"},
    }
    made["selectableFields"] = [{"jsonPath": ".spec.size"}]
    c.create(definition("spindles", "Spindle", made), show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, condition("Established"), show=["metadata.name"])
    path = f"/apis/differential.assay.dev/v1/namespaces/{c.namespace}/spindles"
    c.until_served(path)
    whole = {
        "apiVersion": "differential.assay.dev/v1",
        "kind": "Spindle",
        "metadata": {"name": "a"},
    }

    def apply(manager: str, label: str = "", /, **spec: object) -> None:
        target = f"{path}/a?fieldManager={manager}"
        c.raw(
            "PATCH",
            target,
            {**whole, "spec": spec},
            content_type="application/apply-patch+yaml",
            label=label or f"{manager} applies {sorted(spec)}",
            show=["spec"],
        )
        note_managers(c, f"{path}/a")

    first = {"k": "1", "v": "x"}
    apply(
        "one",
        set=["a", "b"],
        map=[first],
        atomic=["a"],
        plain=[first],
        whole={"a": "1"},
        more={"a": "1"},
        free={"l": [first]},
    )
    apply("two", set=["b", "c"], map=[{"k": "1", "w": "y"}, {"k": "2"}], more={"b": "2"})
    apply("two", "two applies other lists", atomic=["b"])
    apply("two", "two applies another whole", whole={"b": "1"})
    apply("two", "two applies other free ones", free={"l": [{"k": "2"}]})
    apply("one", set=["a"], map=[{"k": "2", "v": "z"}])
    merge = "application/merge-patch+json"
    for label, spec in (("twins", {"set": ["a", "a"]}), ("keys", {"map": [first, first]})):
        c.raw("PATCH", f"{path}/a", {"spec": spec}, content_type=merge, label=f"merge {label}")
    c.raw("GET", f"{path}/a/scale", label="scale of no size")
    c.raw(
        "PUT",
        f"{path}/a/scale",
        {
            "kind": "Scale",
            "apiVersion": "autoscaling/v1",
            "metadata": {"name": "a"},
            "spec": {"replicas": 2},
        },
        label="put a scale",
        show=["spec", "status"],
    )
    c.raw("PATCH", f"{path}/a", {"spec": {"size": 2}}, content_type=merge, show=["spec.size"])
    for label, body in (
        ("a scale", {"spec": {"replicas": 3}}),
        ("no scale", {"spec": None}),
        ("a version", {"metadata": {"resourceVersion": "1"}, "spec": {"replicas": 3}}),
        ("zero", {"spec": {"replicas": 0}}),
    ):
        c.raw(
            "PATCH",
            f"{path}/a/scale",
            body,
            content_type=merge,
            label=f"patch {label}",
            show=["spec", "status"],
        )
    for selector in ("spec.size=0", "spec.size=3", "spec.size!=0", "spec.set=a"):
        c.raw("GET", f"{path}?fieldSelector={selector}", label=selector, show=["spec.size"])
    found = c.consult("GET", f"{path}/a").body
    found["metadata"].pop("managedFields", None)
    found["metadata"].pop("resourceVersion")
    c.raw("PUT", f"{path}/a", found, label="put without a version", show=["spec.size"])
    c.raw("PUT", f"{path}/b", {**whole, "metadata": {"name": "b"}}, label="put one that is not")
    c.raw(
        "PUT",
        f"{path}/a/status",
        {**found, "status": {"size": 1}},
        label="put a status",
        show=["status"],
    )
    c.raw("DELETE", f"{path}/a", label="delete it", show=["status"])
    c.delete(CUSTOM_RESOURCE_DEFINITION, name, show=["metadata.name"])
    c.until(CUSTOM_RESOURCE_DEFINITION, name, gone)
