"""API priority and fairness: which FlowSchema a request matches, and what there is of them.

No request is delayed by its priority level; responses name both, as those of a real server do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple
from uuid import UUID, uuid5

from clusters.simulated.access.rules import Attributes
from clusters.simulated.access.users import (
    AUTHENTICATED,
    MASTERS,
    NODES,
    SERVICE_ACCOUNTS,
    UNAUTHENTICATED,
    User,
    service_account_of,
)
from clusters.simulated.store import Key, Store
from vocabulary.objects import Object

_GROUP: Final = "flowcontrol.apiserver.k8s.io"
FLOW_SCHEMA: Final = f"FlowSchema.{_GROUP}"
PRIORITY_LEVEL: Final = f"PriorityLevelConfiguration.{_GROUP}"
AUTO_UPDATED: Final = "apf.kubernetes.io/autoupdate-spec"
"""The annotation of what every server has from the start."""
_UIDS: Final = UUID("9f1f8a53-2c0b-4c7a-8d0a-5b8f5a0c3a3e")
_EVERYBODY: Final = (UNAUTHENTICATED, AUTHENTICATED)
_LEASES: Final = "coordination.k8s.io"
_CONTROLLER_MANAGER: Final = "system:kube-controller-manager"
_SCHEDULER: Final = "system:kube-scheduler"


class Flow(NamedTuple):
    """The uids of the FlowSchema and the PriorityLevelConfiguration of a request."""

    schema: str
    level: str


def flow_of(store: Store, user: User, asked: Attributes) -> Flow | None:
    """The first FlowSchema in order of precedence that matches; None if none does."""
    levels = {obj["metadata"]["name"]: obj for obj in store.of_kind(PRIORITY_LEVEL)}
    for schema in sorted(store.of_kind(FLOW_SCHEMA), key=_precedence):
        level = levels.get(schema["spec"]["priorityLevelConfiguration"]["name"])
        if level is None:
            continue
        if any(_matches(rule, user, asked) for rule in schema["spec"].get("rules") or ()):
            return Flow(schema["metadata"]["uid"], level["metadata"]["uid"])
    return None


def _precedence(schema: Object) -> tuple[int, str]:
    return schema["spec"]["matchingPrecedence"], schema["metadata"]["name"]


def _matches(rule: Object, user: User, asked: Attributes) -> bool:
    if not any(_is_subject(subject, user) for subject in rule.get("subjects") or ()):
        return False
    if asked.path:
        return any(_names_path(each, asked) for each in rule.get("nonResourceRules") or ())
    return any(_names_resource(each, asked) for each in rule.get("resourceRules") or ())


def _is_subject(subject: Object, user: User) -> bool:
    kind = subject["kind"]
    if kind == "User":
        return subject["user"]["name"] in ("*", user.name)
    if kind == "Group":
        return subject["group"]["name"] in ("*", *user.groups)
    account, wanted = service_account_of(user.name), subject["serviceAccount"]
    if account is None or account[0] != wanted["namespace"]:
        return False
    return wanted["name"] in ("*", account[1])


def _names_path(rule: Object, asked: Attributes) -> bool:
    return _has(rule["verbs"], asked.verb) and any(
        path in ("*", asked.path) or asked.path.startswith(f"{path.removesuffix('*').rstrip('/')}/")
        for path in rule["nonResourceURLs"]
    )


def _names_resource(rule: Object, asked: Attributes) -> bool:
    return (
        _has(rule["verbs"], asked.verb)
        and _has(rule["resources"], asked.resource)
        and _has(rule["apiGroups"], asked.group)
        and (
            _has(rule.get("namespaces") or (), asked.namespace)
            if asked.namespace
            else bool(rule.get("clusterScope"))
        )
    )


def _has(names: Sequence[str], name: str) -> bool:
    return "*" in names or name in names


def found_at_start(created: str) -> Iterator[tuple[Key, dict[str, Any]]]:
    """The FlowSchemas and PriorityLevelConfigurations of every server, created at this time."""
    for name, spec in _LEVELS.items():
        yield _object(PRIORITY_LEVEL, name, spec, {}, created)
    for name, spec in _SCHEMAS.items():
        level = spec["priorityLevelConfiguration"]["name"]
        found = {
            "type": "Dangling",
            "status": "False",
            "lastTransitionTime": created,
            "reason": "Found",
            "message": "This FlowSchema references the PriorityLevelConfiguration object named "
            f'"{level}" and it exists',
        }
        yield _object(FLOW_SCHEMA, name, spec, {"conditions": [found]}, created)


def _object(
    kind: str, name: str, spec: Object, status: Object, created: str
) -> tuple[Key, dict[str, Any]]:
    metadata = {
        "name": name,
        "uid": str(uuid5(_UIDS, f"{kind}/{name}")),
        "generation": 1,
        "creationTimestamp": created,
        "annotations": {AUTO_UPDATED: "true"},
    }
    obj = {
        "apiVersion": f"{_GROUP}/v1",
        "kind": kind.partition(".")[0],
        "metadata": metadata,
        "spec": spec,
        "status": status,
    }
    return Key(kind, "", name), obj


def _limited(shares: int, lendable: int, queues: int, hand: int) -> Object:
    response: Object = {"type": "Reject"}
    if queues:
        queuing = {"queues": queues, "handSize": hand, "queueLengthLimit": 50}
        response = {"type": "Queue", "queuing": queuing}
    limits = {"nominalConcurrencyShares": shares, "lendablePercent": lendable}
    return {"type": "Limited", "limited": {**limits, "limitResponse": response}}


def _groups(*names: str) -> list[Object]:
    return [{"kind": "Group", "group": {"name": name}} for name in names]


def _users(*names: str) -> list[Object]:
    return [{"kind": "User", "user": {"name": name}} for name in names]


def _resources(
    verbs: Sequence[str], group: str, *resources: str, of_cluster: bool = True
) -> Object:
    rule = {"verbs": list(verbs), "apiGroups": [group], "resources": list(resources)}
    return {**rule, **({"clusterScope": True} if of_cluster else {}), "namespaces": ["*"]}


def _schema(
    level: str,
    precedence: int,
    by: str,
    subjects: Sequence[Object],
    resources: Sequence[Object] = (_resources(["*"], "*", "*"),),
    paths: tuple[Sequence[str], Sequence[str]] | None = None,
) -> Object:
    """The spec of a FlowSchema with one rule, for all resources if it names none."""
    rule: dict[str, Any] = {"subjects": list(subjects)}
    if resources:
        rule["resourceRules"] = list(resources)
    if paths is not None:
        rule["nonResourceRules"] = [{"verbs": [*paths[0]], "nonResourceURLs": [*paths[1]]}]
    spec: dict[str, Any] = {
        "priorityLevelConfiguration": {"name": level},
        "matchingPrecedence": precedence,
        "rules": [rule],
    }
    return {**spec, "distinguisherMethod": {"type": by}} if by else spec


_ALL_PATHS: Final = (("*",), ("*",))
_OF_KUBE_SYSTEM: Final[Object] = {
    "kind": "ServiceAccount",
    "serviceAccount": {"namespace": "kube-system", "name": "*"},
}
_NODE_LEASES: Final = _resources(["*"], _LEASES, "leases", of_cluster=False)
_ELECTIONS: Final = _resources(["get", "create", "update"], _LEASES, "leases", of_cluster=False)
_LEVELS: Final[dict[str, Object]] = {
    "exempt": {
        "type": "Exempt",
        "exempt": {"nominalConcurrencyShares": 0, "lendablePercent": 0},
    },
    "catch-all": _limited(5, 0, 0, 0),
    "system": _limited(30, 33, 64, 6),
    "node-high": _limited(40, 25, 64, 6),
    "leader-election": _limited(10, 0, 16, 4),
    "workload-high": _limited(40, 50, 128, 6),
    "workload-low": _limited(100, 90, 128, 6),
    "global-default": _limited(20, 50, 128, 6),
}
_SCHEMAS: Final[dict[str, Object]] = {
    "exempt": _schema("exempt", 1, "", _groups(MASTERS), paths=_ALL_PATHS),
    "probes": _schema(
        "exempt",
        2,
        "",
        _groups(*_EVERYBODY),
        (),
        (["get"], ["/healthz", "/readyz", "/livez"]),
    ),
    "system-leader-election": _schema(
        "leader-election",
        100,
        "ByUser",
        [*_users(_CONTROLLER_MANAGER, _SCHEDULER), _OF_KUBE_SYSTEM],
        [_ELECTIONS],
    ),
    "system-node-high": _schema(
        "node-high",
        400,
        "ByUser",
        _groups(NODES),
        [_resources(["*"], "", "nodes", "nodes/status"), _NODE_LEASES],
    ),
    "system-nodes": _schema("system", 500, "ByUser", _groups(NODES), paths=_ALL_PATHS),
    "kube-controller-manager": _schema(
        "workload-high", 800, "ByNamespace", _users(_CONTROLLER_MANAGER), paths=_ALL_PATHS
    ),
    "kube-scheduler": _schema(
        "workload-high", 800, "ByNamespace", _users(_SCHEDULER), paths=_ALL_PATHS
    ),
    "kube-system-service-accounts": _schema(
        "workload-high", 900, "ByNamespace", [_OF_KUBE_SYSTEM], paths=_ALL_PATHS
    ),
    "service-accounts": _schema(
        "workload-low", 9000, "ByUser", _groups(SERVICE_ACCOUNTS), paths=_ALL_PATHS
    ),
    "global-default": _schema(
        "global-default", 9900, "ByUser", _groups(*_EVERYBODY), paths=_ALL_PATHS
    ),
    "catch-all": _schema("catch-all", 10000, "ByUser", _groups(*_EVERYBODY), paths=_ALL_PATHS),
}
