"""Namespaces: what they hold goes with them."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, gone, has, phase
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
