"""The garbage collector: owners, dependents, and who waits for whom."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.plane import GADGET, WIDGET
from tests.differential.predicates import count, event, exists, has, present, terminating
from tests.differential.script import script
from tests.differential.scripts.manifests import (
    config_map,
    gadget,
    owner,
    template,
    unscheduled,
    widget,
)
from vocabulary.kinds import CONFIG_MAP, DEPLOYMENT, POD, REPLICA_SET, Kind
from vocabulary.requests import PropagationPolicy

HOLD = "tests.assay.dev/hold"
META = [
    "metadata.name",
    "metadata.finalizers",
    "metadata.ownerReferences",
    "metadata.deletionTimestamp",
]
ABSENT = "11111111-1111-1111-1111-111111111111"


def owned(
    name: str, uid: str, by: str = "owner", *, block: bool | None = True, **fields: Any
) -> dict[str, Any]:
    """A ConfigMap that belongs to another one."""
    extra = {} if block is None else {"blockOwnerDeletion": block}
    return config_map(name, ownerReferences=[owner("ConfigMap", "v1", by, uid, **extra)], **fields)


@script(
    "A background deletion removes the owner immediately and the dependents after it.",
    ["4.6", "5.8"],
)
def background_cascade(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    for name in ("a", "b"):
        c.create(owned(name, first.uid, block=None), show=META)
    c.create(owned("c", first.uid, finalizers=[HOLD]), show=META)
    c.delete(CONFIG_MAP, "owner", "Background")
    c.get(CONFIG_MAP, "owner")
    c.until_gone(CONFIG_MAP, "a")
    c.until_gone(CONFIG_MAP, "b")
    c.until(CONFIG_MAP, "c", terminating, show=META)


@script(
    "A foreground deletion keeps the owner until its blocking dependents are gone.",
    ["4.6", "4.11", "4.15"],
)
def foreground_waits(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    c.create(owned("free", first.uid))
    c.create(owned("held", first.uid, finalizers=[HOLD]))
    c.delete(CONFIG_MAP, "owner", "Foreground", show=META)
    c.until_gone(CONFIG_MAP, "free")
    c.until(CONFIG_MAP, "held", terminating, show=META)
    c.stays(CONFIG_MAP, "owner", terminating, for_seconds=1.5, show=META)
    c.patch(CONFIG_MAP, "held", {"metadata": {"finalizers": None}}, show=META)
    c.until_gone(CONFIG_MAP, "owner")
    c.watch(CONFIG_MAP, event("DELETED"), since=first.revision, name="owner", show=META)


@script("Dependents that do not block are deleted too, but not waited for.", ["4.6"])
def foreground_ignores_nonblocking(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    c.create(owned("lax", first.uid, block=False, finalizers=[HOLD]))
    c.create(owned("unsaid", first.uid, block=None, finalizers=[HOLD]))
    c.delete(CONFIG_MAP, "owner", "Foreground", show=META)
    c.until_gone(CONFIG_MAP, "owner")
    c.until(CONFIG_MAP, "lax", terminating, show=META)
    c.until(CONFIG_MAP, "unsaid", terminating, show=META)


@script("An orphaning deletion removes the references and keeps the dependents.", ["4.10", "4.15"])
def orphaning(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    other = c.create(config_map("other"))
    c.create(owned("a", first.uid), show=META)
    both = owned("b", first.uid)
    both["metadata"]["ownerReferences"].append(owner("ConfigMap", "v1", "other", other.uid))
    c.create(both, show=META)
    c.until(CONFIG_MAP, "b", exists, show=META)
    c.delete(CONFIG_MAP, "owner", "Orphan", show=META)
    c.until_gone(CONFIG_MAP, "owner")
    c.until(CONFIG_MAP, "a", has("metadata.ownerReferences", None), show=META)
    c.stays(CONFIG_MAP, "b", exists, for_seconds=1, show=META)


@script(
    "A dependent with another, valid owner is kept and loses the dangling reference.",
    ["4.6", "4.15"],
)
def another_owner_keeps(c: Dialogue) -> None:
    one = c.create(config_map("one"))
    two = c.create(config_map("two"))
    child = owned("child", one.uid, "one")
    child["metadata"]["ownerReferences"].append(owner("ConfigMap", "v1", "two", two.uid))
    c.create(child, show=META)
    c.delete(CONFIG_MAP, "one", "Background")
    c.until(
        CONFIG_MAP,
        "child",
        present("metadata.ownerReferences") & has("metadata.ownerReferences.1", None),
        show=META,
    )


@script(
    "A dependent with a valid owner is kept though its other owner waits for it.", ["4.6", "4.15"]
)
def valid_and_waiting_owner(c: Dialogue) -> None:
    one = c.create(config_map("one"))
    two = c.create(config_map("two"))
    shared = owned("shared", one.uid, "one")
    shared["metadata"]["ownerReferences"].append(
        owner("ConfigMap", "v1", "two", two.uid, blockOwnerDeletion=True)
    )
    c.create(shared, show=META)
    c.create(owned("own", one.uid, "one"), show=META)
    c.delete(CONFIG_MAP, "one", "Foreground", show=META)
    c.until_gone(CONFIG_MAP, "one")
    c.until_gone(CONFIG_MAP, "own")
    c.until(
        CONFIG_MAP,
        "shared",
        present("metadata.ownerReferences") & has("metadata.ownerReferences.1", None),
        show=META,
    )


@script("A cycle of owners does not block its own deletion.", ["4.15"])
def dependency_circle(c: Dialogue) -> None:
    made = [c.create(config_map(name)) for name in "abc"]
    for name, previous, by in (("a", made[2], "c"), ("b", made[0], "a"), ("c", made[1], "b")):
        reference = owner("ConfigMap", "v1", by, previous.uid, blockOwnerDeletion=True)
        c.patch(CONFIG_MAP, name, {"metadata": {"ownerReferences": [reference]}}, show=META)
    c.delete(CONFIG_MAP, "a", "Foreground", show=META)
    for name in "abc":
        c.until_gone(CONFIG_MAP, name)


@script("Dependents of a missing owner are collected.", ["4.6"])
def dangling_owner(c: Dialogue) -> None:
    c.create(owned("a", ABSENT), show=META)
    c.until_gone(CONFIG_MAP, "a")
    real = c.create(config_map("owner"))
    c.create(owned("impostor", ABSENT), show=META)
    c.until_gone(CONFIG_MAP, "impostor")
    c.create(owned("right", real.uid), show=META)
    c.stays(CONFIG_MAP, "right", exists, for_seconds=1, show=META)


@script("A dependent whose owner is recreated under its name has no owner.", ["4.6"])
def recreated_owner(c: Dialogue) -> None:
    first = c.create(config_map("owner"))
    c.create(owned("a", first.uid, finalizers=[HOLD]), show=META)
    c.delete(CONFIG_MAP, "owner", "Background")
    c.create(config_map("owner"))
    c.until(CONFIG_MAP, "a", terminating, show=META)
    c.get(CONFIG_MAP, "owner", show=META)


@script("A chain of owners is deleted from its end in the foreground.", ["4.6"])
def transitive_foreground(c: Dialogue) -> None:
    top = c.create(config_map("top"))
    middle = c.create(owned("middle", top.uid, "top"))
    c.create(owned("bottom", middle.uid, "middle", finalizers=[HOLD]))
    c.delete(CONFIG_MAP, "top", "Foreground", show=META)
    c.until(CONFIG_MAP, "bottom", terminating, show=META)
    c.until(CONFIG_MAP, "middle", terminating, show=META)
    c.stays(CONFIG_MAP, "top", terminating, for_seconds=1, show=META)
    c.patch(CONFIG_MAP, "bottom", {"metadata": {"finalizers": None}}, show=META)
    for name in ("bottom", "middle", "top"):
        c.until_gone(CONFIG_MAP, name)


@script("A chain of owners is deleted from its top in the background.", ["4.6"])
def transitive_background(c: Dialogue) -> None:
    top = c.create(config_map("top"))
    middle = c.create(owned("middle", top.uid, "top"))
    c.create(owned("bottom", middle.uid, "middle", finalizers=[HOLD]))
    c.delete(CONFIG_MAP, "top", "Background")
    c.until_gone(CONFIG_MAP, "middle")
    c.until(CONFIG_MAP, "bottom", terminating, show=META)


@script("Custom resources own, and are owned: cascading and orphaning.", ["4.15"])
def custom_resources(c: Dialogue) -> None:
    for policy in ("Background", "Foreground", "Orphan"):
        suffix = policy.lower()
        first = c.create(widget(f"owner-{suffix}"))
        child = gadget(
            f"child-{suffix}",
            ownerReferences=[
                owner(
                    "Widget",
                    "tests.assay.dev/v1",
                    f"owner-{suffix}",
                    first.uid,
                    blockOwnerDeletion=True,
                )
            ],
        )
        c.create(child, show=META)
        c.until(GADGET, f"child-{suffix}", exists, show=META)
        c.delete(WIDGET, f"owner-{suffix}", policy, show=META)
        c.until_gone(WIDGET, f"owner-{suffix}")
        if policy == "Orphan":
            c.until(GADGET, f"child-{suffix}", has("metadata.ownerReferences", None), show=META)
        else:
            c.until_gone(GADGET, f"child-{suffix}")


@script(
    "The garbage collector identifies an owner by its uid, in the reference's version.", ["4.6"]
)
def owner_of_unknown_kind(c: Dialogue) -> None:
    c.create(
        config_map("a", ownerReferences=[owner("Gizmo", "none.example.org/v1", "x", ABSENT)]),
        show=META,
    )
    c.stays(CONFIG_MAP, "a", exists, for_seconds=1.5, show=META)


@script("Invalid owner references are rejected.", ["4.6"])
def invalid_owner_references(c: Dialogue) -> None:
    one, two = (owner("ConfigMap", "v1", name, ABSENT, controller=True) for name in ("x", "y"))
    c.create(config_map("a", ownerReferences=[one, two]))
    c.create(
        config_map("a", ownerReferences=[{"kind": "ConfigMap", "apiVersion": "v1", "name": "x"}])
    )
    c.create(
        config_map(
            "a", ownerReferences=[{"kind": "ConfigMap", "apiVersion": "v1", "name": "", "uid": "u"}]
        )
    )
    c.create(
        config_map("a", ownerReferences=[{"kind": "", "apiVersion": "v1", "name": "x", "uid": "u"}])
    )
    c.create(
        config_map("a", ownerReferences=[{"kind": "X", "apiVersion": "", "name": "x", "uid": "u"}])
    )
    c.create(
        config_map(
            "a", ownerReferences=[{"kind": "Event", "apiVersion": "v1", "name": "x", "uid": "u"}]
        )
    )


def _workload(kind: str, name: str, replicas: int) -> dict[str, Any]:
    labels = {"app": name}
    pod_template = template(None, schedulerName="nobody")
    pod_template["metadata"] = {"labels": labels, "finalizers": [HOLD]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": pod_template,
        },
    }


def _release(c: Dialogue, kind: Kind) -> None:
    for item in c.list(kind, show=META).items:
        path = kind.path(c.namespace, item["metadata"]["name"])
        body = {"metadata": {"finalizers": None}}
        c.raw(
            "PATCH",
            path,
            body,
            content_type="application/merge-patch+json",
            label="release",
            show=META,
        )


@script(
    "A ReplicaSet that is deleted in the foreground stays until its pods are gone.",
    ["4.11", "4.15"],
)
def replica_set_waits_for_pods(c: Dialogue) -> None:
    c.create(_workload("ReplicaSet", "a", 2), show=META)
    c.until_listed(POD, count(2), show=META)
    c.delete(REPLICA_SET, "a", "Foreground", show=META)
    c.until_listed(POD, count(2, terminating), show=META)
    c.get(REPLICA_SET, "a", show=META)
    _release(c, POD)
    c.until_gone(REPLICA_SET, "a")
    c.until_listed(POD, count(0))


@script(
    "A ReplicaSet that is deleted with orphaning leaves its pods without an owner.",
    ["4.10", "4.15"],
)
def replica_set_orphans_pods(c: Dialogue) -> None:
    c.create(_workload("ReplicaSet", "a", 2), show=META)
    c.until_listed(POD, count(2), show=META)
    c.delete(REPLICA_SET, "a", "Orphan", show=META)
    c.until_gone(REPLICA_SET, "a")
    c.until_listed(POD, count(2, has("metadata.ownerReferences", None)), show=META)


@script("Deleting a Deployment deletes its ReplicaSet, unless it orphans it.", ["4.15"])
def deployment_deletion(c: Dialogue) -> None:
    name: str
    policy: PropagationPolicy | None
    for name, policy in (("a", None), ("b", "Orphan")):
        c.create(_workload("Deployment", name, 0), show=META)
        c.until_listed(REPLICA_SET, count(1), labels=f"app={name}", show=META)
        c.delete(DEPLOYMENT, name, policy, show=META)
        c.until_gone(DEPLOYMENT, name)
        left = 0 if policy is None else 1
        c.until_listed(
            REPLICA_SET,
            count(left, has("metadata.ownerReferences", None)),
            labels=f"app={name}",
            show=META,
        )


@script("A pod outside any workload can be an owner, and is collected like other objects.", ["4.6"])
def pod_as_owner(c: Dialogue) -> None:
    first = c.create(unscheduled("owner"), show=META)
    reference = owner("Pod", "v1", "owner", first.uid, blockOwnerDeletion=True)
    c.create(config_map("a", ownerReferences=[reference]), show=META)
    c.delete(POD, "owner", "Foreground", show=META)
    c.until_gone(POD, "owner")
    c.until_gone(CONFIG_MAP, "a")


def _role(name: str, verbs: list[str], resources: list[str], group: str = "") -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": [{"apiGroups": [group], "resources": resources, "verbs": verbs}],
    }


@script("Blocking an owner's deletion requires permission to update its finalizers.", ["4.14"])
def blocking_needs_permission(c: Dialogue) -> None:
    roles = Kind("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", namespaced=False)
    first = c.create(config_map("owner"))
    name = "differential-limited"
    c.create(_role(name, ["create", "get"], ["configmaps"]), show=["rules"])
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "operator-0"}
        ],
    }
    c.create(binding, show=["roleRef"])
    c.until(roles, name, exists, show=["rules"])
    c.create(owned("a", first.uid, block=False), user="limited", show=META)
    c.create(owned("b", first.uid), user="limited", show=META)
    c.create(owned("c", first.uid), show=META)
