"""Namespaces: what they hold goes with them."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, condition, gone, has, phase
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, widget
from vocabulary.kinds import CONFIG_MAP, NAMESPACE

HOLD = "tests.assay.dev/hold"


def _namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


@script("Deleting a namespace deletes everything in it.", ["4.1"])
def namespace_deletion(c: Dialogue) -> None:
    name = "namespace-deletion-inner"
    c.create(_namespace(name))
    path = CONFIG_MAP.path(name)
    c.raw("POST", path, config_map("a"), show=["metadata.name"])
    c.raw(
        "POST",
        f"/apis/tests.assay.dev/v1/namespaces/{name}/widgets",
        widget("a"),
        show=["metadata.name"],
    )
    c.delete(NAMESPACE, name, show=["metadata.finalizers", "spec", "status"])
    c.until(NAMESPACE, name, gone, within=40)
    c.raw("GET", path)


@script("Nothing can be created in a namespace that is terminating.", ["4.1", "4.11"])
def terminating_namespace(c: Dialogue) -> None:
    name = "terminating-namespace-inner"
    c.create(_namespace(name))
    path = CONFIG_MAP.path(name)
    c.raw("POST", path, config_map("held", finalizers=[HOLD]), show=["metadata.name"])
    c.delete(NAMESPACE, name, show=["spec", "status.phase"])
    c.until(
        NAMESPACE,
        name,
        condition("NamespaceFinalizersRemaining"),
        within=40,
        show=["spec", "status"],
    )
    c.raw("POST", path, config_map("b"))
    c.raw("POST", f"/apis/tests.assay.dev/v1/namespaces/{name}/widgets", widget("a"))
    c.raw("GET", f"{path}/held", show=["metadata.finalizers", "metadata.deletionTimestamp"])
    c.create(_namespace(name))
    c.raw(
        "PATCH",
        f"{path}/held",
        {"metadata": {"finalizers": None}},
        content_type="application/merge-patch+json",
        show=["metadata.finalizers"],
    )
    c.until(NAMESPACE, name, gone, within=40)


@script("Some namespaces cannot be deleted.", ["4.1"])
def immortal_namespaces(c: Dialogue) -> None:
    for name in ("default", "kube-system", "kube-public"):
        c.delete(NAMESPACE, name)
    c.get(NAMESPACE, "default", show=["status", "metadata.labels", "spec"])


@script("A namespace gets its finalizer, its label and its phase immediately.", ["4.1"])
def namespace_defaults(c: Dialogue) -> None:
    name = "namespace-defaults-inner"
    c.create(_namespace(name))
    c.create(_namespace(name))
    c.create(_namespace("Bad_Name"))
    c.until(NAMESPACE, name, phase("Active"))
    c.patch(NAMESPACE, name, {"metadata": {"labels": {"x": "y"}}})
    c.patch(NAMESPACE, name, {"spec": {"finalizers": None}})
    c.get(NAMESPACE, name)
    c.patch(NAMESPACE, name, {"metadata": {"labels": {"kubernetes.io/metadata.name": None}}})
    c.until(NAMESPACE, name, has("status.phase", "Active"), show=["metadata.labels"])


@script("A namespace's finalizers are its own subresource's, and a policy adds another.", ["4.1"])
def namespace_finalizers(c: Dialogue) -> None:
    first, second, third = (f"{c.namespace}-{letter}" for letter in "abc")
    shown = ["metadata.labels", "metadata.finalizers", "spec", "status"]
    held = {**_namespace(first), "spec": {"finalizers": ["tests.assay.dev/own"]}}
    c.create(held, show=shown)
    both = {**_namespace(second), "spec": {"finalizers": ["kubernetes"]}}
    both["metadata"] = {"name": second, "finalizers": [HOLD]}
    c.create(both, show=shown)
    odd = {**_namespace(third), "spec": {"finalizers": ["odd"]}}
    c.create(odd, show=shown)
    labelled = _namespace(third)
    labelled["metadata"] = {"name": third, "labels": {"kubernetes.io/metadata.name": "x"}}
    c.create(labelled, show=shown)
    c.raw(
        "POST",
        "/api/v1/namespaces?dryRun=All",
        {**_namespace(""), "metadata": {"generateName": "n-"}},
        label="a generated name",
        show=["spec"],
    )
    merge = "application/merge-patch+json"
    for label, patch in (
        ("another label", {"metadata": {"labels": {"kubernetes.io/metadata.name": "y"}}}),
        ("no label", {"metadata": {"labels": None}}),
        ("no finalizers", {"spec": {"finalizers": None}}),
        ("a phase", {"status": {"phase": "Terminating"}}),
    ):
        path = f"/api/v1/namespaces/{third}"
        c.raw("PATCH", path, patch, content_type=merge, label=label, show=shown)
    for name, policy in ((first, "Orphan"), (second, "Foreground"), (third, "Background")):
        target = f"/api/v1/namespaces/{name}?dryRun=All&propagationPolicy={policy}"
        c.raw("DELETE", target, label=f"delete {policy}", show=shown)
    c.raw("DELETE", f"/api/v1/namespaces/{first}", label="delete the first", show=shown)
    own = Predicate(
        "its own is left",
        lambda body: body["spec"].get("finalizers") == ["tests.assay.dev/own"],
    )
    c.until(NAMESPACE, first, own, within=40, show=["spec", "status.phase"])
    c.raw("DELETE", f"/api/v1/namespaces/{first}", label="delete it again", show=shown)
    found = c.consult("GET", f"/api/v1/namespaces/{first}").body
    for label, spec in (
        ("another", {"finalizers": ["tests.assay.dev/other"]}),
        ("an odd one", {"finalizers": ["odd"]}),
        ("none", {}),
    ):
        body = {**found, "spec": spec}
        body["metadata"] = {"name": first}
        target = f"/api/v1/namespaces/{first}/finalize"
        c.raw("PUT", target, body, label=f"finalize: {label}", show=["spec", "status.phase"])
    c.until(NAMESPACE, first, gone, within=40)
    c.raw("DELETE", f"/api/v1/namespaces/{second}", label="delete the second", show=shown)
    emptied = Predicate("it is emptied", lambda body: not body["spec"].get("finalizers"))
    c.until(NAMESPACE, second, emptied, within=40, show=["metadata.finalizers", "status.phase"])
    patch = {"metadata": {"finalizers": None}}
    c.raw("PATCH", f"/api/v1/namespaces/{second}", patch, content_type=merge, show=["spec"])
    c.until(NAMESPACE, second, gone, within=40)
    c.delete(NAMESPACE, third, show=["spec"])
    c.until(NAMESPACE, third, gone, within=40)
