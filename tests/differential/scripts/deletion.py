"""Deleting: policies, finalizers, preconditions, and deleting again."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.plane import GADGET, WIDGET
from tests.differential.predicates import event, has, terminating
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, gadget, job, owner, unscheduled, widget
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    POD,
    REPLICA_SET,
    SERVICE,
    STATEFUL_SET,
    Kind,
)
from vocabulary.requests import PropagationPolicy

HOLD = "tests.assay.dev/hold"
META = [
    "metadata.finalizers",
    "metadata.deletionGracePeriodSeconds",
    "metadata.deletionTimestamp",
    "metadata.generation",
]
POLICIES: tuple[PropagationPolicy | None, ...] = (None, "Background", "Foreground", "Orphan")


def _idle(kind: str, name: str) -> dict[str, Any]:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": 0,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "m", "image": "example.org/m"}]},
            },
        },
    }


@script("The response to a deletion has the object's uid, which is then not found.", ["4.1"])
def delete_twice(c: Dialogue) -> None:
    c.create(config_map("a"))
    c.delete(CONFIG_MAP, "a")
    c.delete(CONFIG_MAP, "a")
    c.create(widget("a"))
    c.delete(WIDGET, "a")
    c.delete(WIDGET, "a")
    c.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "a"},
            "spec": {"ports": [{"port": 80}]},
        }
    )
    c.delete(SERVICE, "a")


@script(
    "An object with a foreign finalizer stays, terminating, until that is removed.", ["4.1", "4.2"]
)
def finalizer_holds(c: Dialogue) -> None:
    for obj in (config_map("a", finalizers=[HOLD]), gadget("a", finalizers=[HOLD])):
        first = c.create(obj)
        kind = CONFIG_MAP if obj["kind"] == "ConfigMap" else GADGET
        c.delete(kind, "a", "Background")
        c.get(kind, "a")
        c.patch(kind, "a", {"metadata": {"finalizers": None}})
        c.get(kind, "a")
        c.watch(kind, event("DELETED"), since=first.revision, name="a")


def _policies(c: Dialogue, kind: Kind, make: Callable[[str], dict[str, Any]]) -> None:
    for policy in POLICIES:
        name = f"x-{(policy or 'default').lower()}"
        obj = make(name)
        obj["metadata"]["finalizers"] = [HOLD]
        c.create(obj, show=META)
        c.delete(kind, name, policy, show=META)
        c.patch(kind, name, {"metadata": {"finalizers": None}}, show=META)


@script(
    "The deletion policy decides which finalizer is added: ConfigMaps and custom resources.",
    ["4.1"],
)
def policies_of_plain_kinds(c: Dialogue) -> None:
    _policies(c, CONFIG_MAP, config_map)
    _policies(c, WIDGET, widget)


@script("The deletion policy decides which finalizer is added: Jobs and Pods.", ["4.1", "5.8"])
def policies_of_jobs_and_pods(c: Dialogue) -> None:
    _policies(
        c,
        JOB,
        lambda name: {
            **job(name),
            "spec": {**job(name)["spec"], "suspend": True, "managedBy": "example.org/x"},
        },
    )
    _policies(c, POD, unscheduled)


@script(
    "The deletion policy decides which finalizer is added: Deployments and similar kinds.", ["4.1"]
)
def policies_of_workloads(c: Dialogue) -> None:
    for kind in (DEPLOYMENT, REPLICA_SET, STATEFUL_SET):
        _policies(c, kind, partial(_idle, kind.kind))


@script("Without a policy, a garbage collector's finalizer on the object decides.", ["4.1"])
def policy_from_finalizers(c: Dialogue) -> None:
    for own in ("orphan", "foregroundDeletion"):
        for policy in POLICIES:
            name = f"{own[:3]}-{(policy or 'default').lower()}"
            c.create(config_map(name, finalizers=[HOLD, own]), show=META)
            c.delete(CONFIG_MAP, name, policy, show=META)


@script("Only orphan and foregroundDeletion together are rejected.", ["4.5"])
def both_policies(c: Dialogue) -> None:
    c.create(config_map("a", finalizers=["foregroundDeletion"]))
    c.create(config_map("b", finalizers=["orphan"]))
    c.create(config_map("c", finalizers=["orphan", "foregroundDeletion"]))
    c.patch(CONFIG_MAP, "a", {"metadata": {"finalizers": ["orphan", "foregroundDeletion"]}})


@script("A terminating object accepts no new finalizer, and cannot be restored.", ["4.3"])
def terminating_takes_no_finalizer(c: Dialogue) -> None:
    for kind, obj in (
        (CONFIG_MAP, config_map("a", finalizers=[HOLD, "tests.assay.dev/two"])),
        (GADGET, gadget("a", finalizers=[HOLD, "tests.assay.dev/two"])),
        (POD, unscheduled("a", finalizers=[HOLD, "tests.assay.dev/two"])),
    ):
        c.create(obj, show=META)
        c.delete(kind, "a", "Background", show=META)
        c.patch(
            kind,
            "a",
            {"metadata": {"finalizers": [HOLD, "tests.assay.dev/two", "tests.assay.dev/new"]}},
        )
        c.patch(kind, "a", {"metadata": {"finalizers": ["tests.assay.dev/new"]}})
        c.patch(kind, "a", {"metadata": {"finalizers": [HOLD, "foregroundDeletion"]}})
        c.patch(
            kind,
            "a",
            {"metadata": {"deletionTimestamp": None, "deletionGracePeriodSeconds": None}},
            show=META,
        )
        c.patch(
            kind,
            "a",
            {
                "metadata": {
                    "deletionTimestamp": "2031-01-01T00:00:00Z",
                    "deletionGracePeriodSeconds": 77,
                }
            },
            show=META,
        )
        c.patch(kind, "a", {"metadata": {"labels": {"k": "v"}}}, show=META)
        c.patch(kind, "a", {"metadata": {"finalizers": [HOLD]}}, show=META)


@script("The name of a terminating object is taken, and the error message has the reason.", ["4.4"])
def create_on_terminating(c: Dialogue) -> None:
    c.create(config_map("a", finalizers=[HOLD]))
    c.delete(CONFIG_MAP, "a")
    c.create(config_map("a"))
    c.create(gadget("a", finalizers=[HOLD]))
    c.delete(GADGET, "a", "Foreground")
    c.create(gadget("a"))
    c.create(unscheduled("a", finalizers=[HOLD]), show=META)
    c.delete(POD, "a", show=META)
    c.create(unscheduled("a"))


@script(
    "The update that empties the finalizers is not stored; the event still shows them.", ["4.2"]
)
def last_update_is_not_stored(c: Dialogue) -> None:
    first = c.create(gadget("a", finalizers=[HOLD]))
    c.delete(GADGET, "a", "Background")
    c.patch(GADGET, "a", {"metadata": {"finalizers": None, "labels": {"seen": "never"}}})
    c.watch(GADGET, event("DELETED"), since=first.revision)


@script("Deleting again changes nothing, unless the policy differs.", ["4.1", "4.7"])
def repeated_deletes(c: Dialogue) -> None:
    c.create(config_map("a", finalizers=[HOLD]), show=META)
    version = ["metadata.resourceVersion", "metadata.uid", *META]
    c.delete(CONFIG_MAP, "a", "Background", show=version)
    c.delete(CONFIG_MAP, "a", "Background", show=version)
    c.delete(CONFIG_MAP, "a", show=version)
    c.delete(CONFIG_MAP, "a", grace_seconds=5, show=version)
    c.delete(CONFIG_MAP, "a", grace_seconds=0, show=version)
    c.delete(CONFIG_MAP, "a", "Orphan", show=META)


@script(
    "A repeated foreground deletion, after garbage collection, adds its finalizer again.", ["4.7"]
)
def foreground_again(c: Dialogue) -> None:
    c.create(config_map("a", finalizers=[HOLD]), show=META)
    c.delete(CONFIG_MAP, "a", "Foreground", show=META)
    c.until(CONFIG_MAP, "a", has("metadata.finalizers", [HOLD]), show=META)
    c.delete(CONFIG_MAP, "a", "Foreground", show=META)
    c.patch(CONFIG_MAP, "a", {"metadata": {"labels": {"k": "v"}}}, show=["metadata.labels"])
    c.until(CONFIG_MAP, "a", has("metadata.labels", {"k": "v"}), show=META)


@script("A background deletion during a foreground one ends the wait.", ["4.9"])
def background_preempts_foreground(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    child = config_map(
        "child",
        finalizers=[HOLD],
        ownerReferences=[owner("ConfigMap", "v1", "owner", first.uid, blockOwnerDeletion=True)],
    )
    c.create(child)
    c.delete(CONFIG_MAP, "owner", "Foreground", show=META)
    c.until(CONFIG_MAP, "child", terminating, show=META)
    c.get(CONFIG_MAP, "owner", show=META)
    c.delete(CONFIG_MAP, "owner", "Background")
    c.get(CONFIG_MAP, "owner")
    c.watch(CONFIG_MAP, event("DELETED"), since=first.revision, name="owner", show=META)
    c.get(CONFIG_MAP, "child", show=META)


@script("A deletion can have a uid and a resourceVersion as preconditions.", ["4.6"])
def delete_preconditions(c: Dialogue) -> None:
    wrong = "11111111-1111-1111-1111-111111111111"
    for kind, obj in ((CONFIG_MAP, config_map("a")), (WIDGET, widget("a"))):
        first = c.create(obj)
        c.delete(kind, "a", uid=wrong)
        c.delete(kind, "a", revision="1")
        c.delete(kind, "a", uid=wrong, revision=first.revision)
        c.patch(kind, "a", {"metadata": {"labels": {"k": "v"}}})
        c.delete(kind, "a", uid=first.uid, revision=first.revision)
        current = c.get(kind, "a")
        c.delete(kind, "a", uid=first.uid, revision=current.revision)


@script("Contradictory delete options are rejected.", ["4.1"])
def invalid_delete_options(c: Dialogue) -> None:
    c.create(config_map("a"))
    path = CONFIG_MAP.path(c.namespace, "a")
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    c.raw("DELETE", path, {**options, "propagationPolicy": "Sideways"})
    c.raw("DELETE", path, {**options, "propagationPolicy": "Orphan", "orphanDependents": True})
    c.raw("DELETE", path, {**options, "gracePeriodSeconds": -5})
    c.raw("DELETE", path, {**options, "dryRun": ["Some"]})
    c.get(CONFIG_MAP, "a")


@script("The older orphanDependents option still works.", ["4.1"])
def orphan_dependents(c: Dialogue) -> None:
    for value in (True, False):
        name = f"a-{value}".lower()
        c.create(config_map(name, finalizers=[HOLD]), show=META)
        path = CONFIG_MAP.path(c.namespace, name)
        c.raw("DELETE", path, {"orphanDependents": value}, show=META)
        c.raw("DELETE", f"{path}?propagationPolicy=Background", show=META)


@script("A collection is deleted object by object, by selector.", ["4.1"])
def delete_collection(c: Dialogue) -> None:
    for name, labels in {"a": {"x": "1"}, "b": {"x": "1"}, "c": {}}.items():
        c.create(gadget(name, labels=labels, finalizers=[HOLD] if name == "b" else []), show=META)
    c.delete_collection(
        GADGET, labels="x=1", policy="Foreground", show=["metadata.name", "metadata.labels"]
    )
    c.until_gone(GADGET, "a")
    c.until(GADGET, "b", has("metadata.finalizers", [HOLD]), show=META)
    c.get(GADGET, "c")
    c.delete_collection(GADGET, labels="x=9", show=META)


@script("Of a deletion with a body the query says nothing.", ["4.1"])
def options_of_bodies(c: Dialogue) -> None:
    path = CONFIG_MAP.path(c.namespace, "a")
    options = {"kind": "DeleteOptions", "apiVersion": "v1"}
    for label, query, body in (
        ("dry by query", "?dryRun=All", None),
        ("dry by body", "", {**options, "dryRun": ["All"]}),
        ("odd by query", "?dryRun=Some", None),
        ("odd by body", "", {**options, "dryRun": ["Some"]}),
        ("a policy by query", "?propagationPolicy=Odd", None),
        ("odd by query beside a body", "?dryRun=Some&propagationPolicy=Odd", options),
        ("dry by query beside a body", "?dryRun=All&propagationPolicy=Orphan", options),
    ):
        c.create(config_map("a"), show=["metadata.name"])
        c.raw("DELETE", f"{path}{query}", body, label=label, show=["metadata.finalizers", "status"])
