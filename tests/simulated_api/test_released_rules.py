"""The rules of released CRDs, read from their Go modules: each compiles, passes and refuses."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import pytest
import yaml

from clusters.control_plane.builder import BuildError
from conformance.profiles.profile import GoModule
from conformance.profiles.program import download
from tests.simulated_api.cluster import NAMESPACE, Cluster
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.objects import with_path
from vocabulary.requests import Create, Update

APPWRAPPER: Final = ("github.com/project-codeflare/appwrapper", "v1.2.0", "config/crd/bases")
JOB_SET: Final = ("sigs.k8s.io/jobset", "v0.12.0", "config/components/crd/bases")
KUEUE: Final = ("sigs.k8s.io/kueue", "v0.19.2", "config/components/crd/bases")
CERT_MANAGER: Final = ("github.com/cert-manager/cert-manager", "v1.21.2", "deploy/crds")
OLD_CERT_MANAGER: Final = ("github.com/cert-manager/cert-manager", "v1.11.5", "deploy/crds")
KUBE_RAY: Final = (
    "github.com/ray-project/kuberay/ray-operator",
    "v1.5.0",
    "config/crd/bases",
)
TRAINING: Final = ("github.com/kubeflow/training-operator", "v1.8.1", "manifests/base/crds")
LEADER_WORKER_SET: Final = ("sigs.k8s.io/lws", "v0.7.0", "config/crd/bases")
GATEWAY: Final = ("sigs.k8s.io/gateway-api", "v1.6.0", "config/crd/standard")
KARPENTER: Final = ("sigs.k8s.io/karpenter", "v1.8.0", "pkg/apis/crds")
RULES: Final = {
    APPWRAPPER: (0, 0),
    JOB_SET: (8, 8),
    KUEUE: (79, 39),
    CERT_MANAGER: (2, 2),
    OLD_CERT_MANAGER: (0, 0),
    KUBE_RAY: (10, 5),
    TRAINING: (6, 6),
    LEADER_WORKER_SET: (0, 0),
    GATEWAY: (295, 108),
    KARPENTER: (42, 19),
}
"""The numbers of rules and of the places where they stand."""
KEY: Final = "x-kubernetes-validations"
WRONG: Final = "nothing == self"

Crd = dict[str, Any]


@cache
def _downloaded(path: str, version: str, folder: str) -> tuple[Crd, ...] | str:
    """The CRDs of a module; why it cannot be got."""
    try:
        module = download(GoModule(path=path, package="."), version)
    except BuildError as error:
        return str(error)
    texts = [file.read_text(encoding="utf-8") for file in (module.folder / folder).glob("*.yaml")]
    found = [part for text in sorted(texts) for part in yaml.load_all(text, yaml.CSafeLoader)]
    # The labels of some are templates of a chart.
    return tuple(
        {**part, "metadata": {"name": part["metadata"]["name"]}}
        for part in found
        if part["kind"] == CUSTOM_RESOURCE_DEFINITION.kind
    )


def crds_of(module: tuple[str, str, str]) -> tuple[Crd, ...]:
    found = _downloaded(*module)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def places(part: Any, path: str) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The lists of rules in a schema, each with the path that an error has there."""
    if KEY in part:
        yield f"{path}.{KEY}", part[KEY]
    for name, child in (part.get("properties") or {}).items():
        yield from places(child, f"{path}.properties[{name}]")
    for key in ("items", "additionalProperties"):
        if isinstance(part.get(key), dict):
            yield from places(part[key], f"{path}.{key}")


def places_of(crd: Crd) -> list[tuple[str, list[dict[str, Any]]]]:
    """Those of all versions."""
    versions = crd["spec"]["versions"]
    are_equal = all(version["schema"] == versions[0]["schema"] for version in versions)
    return [
        place
        for number, version in enumerate(versions)
        for place in places(
            version["schema"]["openAPIV3Schema"],
            f"spec.{'validation' if are_equal else f'versions[{number}].schema'}.openAPIV3Schema",
        )
    ]


@pytest.mark.parametrize("module", RULES, ids=lambda module: module[0])
def test_every_rule_compiles(module: tuple[str, str, str]) -> None:
    crds = crds_of(module)
    cluster = Cluster()
    for crd in crds:
        cluster.create(crd, CUSTOM_RESOURCE_DEFINITION)
    found = [rules for crd in crds for _, rules in places_of(crd)]
    assert (sum(map(len, found)), len(found)) == RULES[module]


@pytest.mark.parametrize("module", [JOB_SET, KUEUE], ids=lambda module: module[0])
def test_a_definition_is_refused_at_the_one_rule_that_does_not_compile(
    module: tuple[str, str, str],
) -> None:
    for crd in crds_of(module):
        for number in range(min(2, len(places_of(crd)))):
            wrong = copy.deepcopy(crd)
            places_of(wrong)[-1 - number][1][-1]["rule"] = WRONG
            path, rules = places_of(wrong)[-1 - number]
            error = Cluster().refused(Create(CUSTOM_RESOURCE_DEFINITION, wrong))
            [cause] = (error.details or {})["causes"]
            assert cause["field"] == f"{path}[{len(rules) - 1}].rule"
            assert "undeclared reference to 'nothing'" in cause["message"]


def pod_template() -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "a", "image": "b"}]}}


def replicated_job(name: str, *needed: str) -> dict[str, Any]:
    depends = [{"name": other, "status": "Ready"} for other in needed]
    job = {"name": name, "template": {"spec": {"template": pod_template()}}}
    return {**job, "dependsOn": depends} if depends else job


def claims_in(namespace: str) -> list[dict[str, Any]]:
    metadata = {"name": "c", **({"namespace": namespace} if namespace else {})}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
    }
    return [{"templates": [{"metadata": metadata, "spec": spec}]}]


def resource_group(*resources: str, **quota: str) -> dict[str, Any]:
    found = [{"name": name, "nominalQuota": "1", **quota} for name in resources]
    return {"coveredResources": ["cpu"], "flavors": [{"name": "f", "resources": found}]}


def topology_assignment(**changes: Any) -> dict[str, Any]:
    piece = {
        "domainCount": 2,
        "podCounts": {"universal": 1},
        "valuesPerLevel": [{"individual": {"roots": ["a", "b"]}}],
        **changes,
    }
    topology = {"levels": ["host"], "slices": [piece]}
    return {"podSetAssignments": [{"name": "main", "count": 2, "topologyAssignment": topology}]}


def conditions(*types: str) -> list[dict[str, Any]]:
    when = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "R", "message": "m"}
    return [{"type": type_, "status": "True", **when} for type_ in types]


def check_state(**toleration: Any) -> list[dict[str, Any]]:
    update = {"name": "main", "tolerations": [toleration]}
    when = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
    return [{"name": "c", "state": "Ready", "message": "m", **when, "podSetUpdates": [update]}]


PRIORITY: Final = {"group": "scheduling.k8s.io", "kind": "PriorityClass", "name": "high"}
POD_SETS: Final = [{"name": "main", "count": 2, "template": pod_template()}]
RESERVED: Final = {
    "conditions": conditions("QuotaReserved", "Admitted"),
    "admission": {
        "clusterQueue": "q",
        **topology_assignment(),
    },
}
SOURCES: Final = {
    "jobsets": JOB_SET,
    "issuers": CERT_MANAGER,
    "rayjobs": KUBE_RAY,
    "pytorchjobs": TRAINING,
    "gateways": GATEWAY,
    "httproutes": GATEWAY,
    "nodepools": KARPENTER,
}
"""The modules of kinds that are not Kueue's."""
LISTENER: Final = {"name": "web", "port": 80, "protocol": "HTTP"}
NODE: Final = {"group": "a.b", "kind": "NodeClass", "name": "n"}
ZONE: Final = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z"]}
DELETION: Final = {"policy": "DeleteCluster"}
GOOD: Final[Mapping[str, tuple[dict[str, Any], ...]]] = {
    "gateways": ({"spec": {"gatewayClassName": "c", "listeners": [LISTENER]}},),
    "httproutes": (
        {
            "spec": {
                "parentRefs": [{"name": "g", "sectionName": "web"}],
                "rules": [{"matches": [{"path": {"type": "Exact", "value": "/a"}}]}],
            }
        },
    ),
    "nodepools": (
        {"spec": {"template": {"spec": {"nodeClassRef": NODE, "requirements": [ZONE]}}}},
    ),
    "issuers": (
        {
            "spec": {
                "venafi": {"zone": "z", "tpp": {"url": "u", "credentialsRef": {"name": "c"}}},
            }
        },
    ),
    "rayjobs": (
        {
            "spec": {
                "managedBy": "ray.io/kuberay-operator",
                "deletionStrategy": {"onSuccess": DELETION, "onFailure": DELETION},
            }
        },
    ),
    "pytorchjobs": (
        {
            "spec": {
                "pytorchReplicaSpecs": {},
                "runPolicy": {"schedulingPolicy": {"queue": "q"}},
            }
        },
    ),
    "jobsets": (
        {
            "spec": {
                "replicatedJobs": [replicated_job("a"), replicated_job("b", "a")],
                "failurePolicy": {"maxRestarts": 1},
                "volumeClaimPolicies": claims_in(""),
            }
        },
    ),
    "admissionchecks": ({"spec": {"controllerName": "a.b/c"}},),
    "clusterqueues": ({"spec": {"cohortName": "c", "resourceGroups": [resource_group("cpu")]}},),
    "cohorts": ({"spec": {"resourceGroups": [resource_group("cpu")]}},),
    "localqueues": ({"spec": {"clusterQueue": "q"}},),
    "multikueueclusters": (
        {
            "spec": {
                "clusterSource": {"kubeConfig": {"location": "l", "locationType": "Secret"}},
            }
        },
    ),
    "multikueueconfigs": ({"spec": {"clusters": ["a", "b"]}},),
    "resourceflavors": (
        {
            "spec": {
                "nodeLabels": {"a": "b"},
                "topologyName": "t",
                "tolerations": [{"key": "k", "operator": "Exists"}],
            }
        },
    ),
    "topologies": ({"spec": {"levels": [{"nodeLabel": "a"}, {"nodeLabel": "b"}]}},),
    "workloads": (
        {
            "spec": {
                "podSets": POD_SETS,
                "priorityClassRef": PRIORITY,
                "priority": 1,
                "queueName": "q",
            }
        },
        RESERVED,
    ),
}
"""An object of each kind that breaks no rule, and its status if it has one."""
BROKEN: Final[tuple[tuple[str, str, Any, str], ...]] = (
    (
        "gateways",
        "spec.listeners",
        [{**LISTENER, "tls": {"certificateRefs": [{"name": "c"}]}}],
        "!has(l.tls)",
    ),
    (
        "gateways",
        "spec.listeners",
        [LISTENER, {**LISTENER, "name": "other"}],
        "self.exists_one(l2, l1.port == l2.port",
    ),
    (
        "httproutes",
        "spec.rules",
        [{"matches": [{"path": {"type": "Exact", "value": "/a/../b"}}]}],
        "contains('/../')",
    ),
    (
        "httproutes",
        "spec.parentRefs",
        [{"name": "g", "sectionName": "a"}, {"name": "g", "sectionName": "a"}],
        "self.exists_one(p2, p1.group == p2.group",
    ),
    (
        "nodepools",
        "spec.template.spec.requirements",
        [{**ZONE, "values": []}],
        "x.operator == 'In' ? x.values.size() != 0",
    ),
    ("nodepools", "spec.template.spec.nodeClassRef", {**NODE, "kind": "Other"}, "self.kind =="),
    ("issuers", "spec.venafi", {"zone": "z"}, "has(self.ngts)"),
    ("rayjobs", "spec.managedBy", "kueue.x-k8s.io/multikueue", "self == oldSelf"),
    ("rayjobs", "spec.managedBy", "x", "self in ["),
    ("rayjobs", "spec.deletionStrategy", {"onSuccess": DELETION}, "((has(self.onSuccess) &&"),
    (
        "rayjobs",
        "spec.deletionStrategy.deletionRules",
        [{"policy": "DeleteSelf", "condition": {"jobStatus": "FAILED"}}],
        "!((has(self.onSuccess)",
    ),
    ("pytorchjobs", "spec.runPolicy.schedulingPolicy.queue", "r", "self == oldSelf"),
    ("jobsets", "spec.startupPolicy", {"startupPolicyOrder": "InOrder"}, "dependsOn"),
    ("jobsets", "spec.failurePolicy", {"maxRestarts": 2}, "oldSelf"),
    ("jobsets", "spec.volumeClaimPolicies", claims_in("x"), "templates.all"),
    ("admissionchecks", "spec.controllerName", "a.b/d", "oldSelf"),
    ("clusterqueues", "spec.resourceGroups", [resource_group("cpu", "memory")], "coveredRes"),
    (
        "clusterqueues",
        "spec",
        {"resourceGroups": [resource_group("cpu", borrowingLimit="1")]},
        "borrowingLimit",
    ),
    (
        "clusterqueues",
        "spec.flavorFungibility",
        {"preference": "BorrowingOverPreemption", "whenCanBorrow": "MayStopSearch"},
        "self.preference",
    ),
    (
        "clusterqueues",
        "spec.preemption",
        {"borrowWithinCohort": {"policy": "LowerPriority"}},
        "reclaimWithinCohort",
    ),
    ("cohorts", "spec.resourceGroups", [resource_group("cpu", "memory")], "coveredResources"),
    ("localqueues", "spec.clusterQueue", "r", "oldSelf"),
    ("multikueueclusters", "spec.clusterSource", {}, "kubeConfig"),
    ("multikueueconfigs", "spec.clusters", ["a", "a"], "filter"),
    ("resourceflavors", "spec.nodeLabels", {}, "self.nodeLabels.size()"),
    ("resourceflavors", "spec.nodeLabels", {"a": "c"}, "self.nodeLabels == oldSelf"),
    ("resourceflavors", "spec.topologyName", "u", "self.topologyName == oldSelf"),
    ("resourceflavors", "spec.nodeTaints", [{"key": "k", "effect": "x"}], "x.effect in"),
    ("topologies", "spec.levels", [{"nodeLabel": "a"}], "self == oldSelf"),
    ("workloads", "spec.priority", None, "priorityClassRef) || has(self.priority)"),
    ("workloads", "spec.queueName", "r", "self.spec.queueName"),
    ("workloads", "spec.priorityClassRef.name", "low", "priorityClassRef.name =="),
    ("workloads", "spec.priorityClassRef", None, "!has(self.spec.priorityClassRef)"),
    ("workloads", "spec.maximumExecutionTimeSeconds", 5, "maximumExecutionTimeSeconds"),
    (
        "workloads",
        "status",
        {**RESERVED, "clusterName": "a", "nominatedClusterNames": ["a"]},
        "nominatedClusterNames",
    ),
    (
        "workloads",
        "status.admission",
        {"clusterQueue": "q", **topology_assignment(podCounts={"individual": [1]})},
        "podCounts.individual",
    ),
    (
        "workloads",
        "status.admission",
        {"clusterQueue": "q", **topology_assignment(podCounts={})},
        "has(self.universal),has(self.individual)",
    ),
    ("workloads", "status.admissionChecks", check_state(operator="Equal"), "!has(x.key)"),
)
"""(plural, what is changed, its new value, a part of the rule that this breaks)."""


def stored_kind(crd: Crd) -> Kind:
    spec, names = crd["spec"], crd["spec"]["names"]
    [version] = (version["name"] for version in spec["versions"] if version["storage"])
    return Kind(
        spec["group"], version, names["kind"], names["plural"], spec["scope"] == "Namespaced"
    )


def stored_rules(crd: Crd) -> list[dict[str, Any]]:
    [version] = (version for version in crd["spec"]["versions"] if version["storage"])
    schema = version["schema"]["openAPIV3Schema"]
    return [rule for _, rules in places(schema, "") for rule in rules]


class Served:
    """A server of one released kind."""

    def __init__(self, plural: str) -> None:
        crds = crds_of(SOURCES.get(plural, KUEUE))
        [self.crd] = (crd for crd in crds if crd["spec"]["names"]["plural"] == plural)
        self.kind = stored_kind(self.crd)
        self.cluster = Cluster()
        self.cluster.create(self.crd, CUSTOM_RESOURCE_DEFINITION)

    def create(self, obj: dict[str, Any]) -> None:
        within = {"namespace": NAMESPACE} if self.kind.namespaced else {}
        named = {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": "a", **within},
        }
        self.cluster.create({**named, **obj}, self.kind)

    def report(self, status: Any) -> None:
        self._update("status", status, "status")

    def change(self, path: str, value: Any) -> None:
        self._update(path, value, "status" if path.startswith("status") else "")

    def _update(self, path: str, value: Any, subresource: str) -> None:
        stored = self.cluster.get(self.kind, "a")
        assert stored is not None
        self.cluster.user(Update(self.kind, with_path(stored, path, value), subresource))

    def says(self, part: str) -> tuple[bool, str]:
        """For the rules with this part: whether they compare with the old value; their message."""
        [said] = {
            ("oldSelf" in rule["rule"], rule["message"])
            for rule in stored_rules(self.crd)
            if part in rule["rule"]
        }
        return said


@pytest.mark.parametrize("plural", GOOD)
def test_a_good_object_is_created_and_updated(plural: str) -> None:
    obj, *status = GOOD[plural]
    server = Served(plural)
    server.create(obj)
    for each in status:
        server.report(each)
    server.change("metadata.labels", {"changed": "yes"})


@pytest.mark.parametrize(("plural", "path", "value", "part"), BROKEN)
def test_an_object_that_breaks_a_rule_is_refused_with_its_message(
    plural: str, path: str, value: Any, part: str
) -> None:
    obj, *status = GOOD[plural]
    server = Served(plural)
    is_transition, message = server.says(part)
    with pytest.raises(ApiError) as refused:
        if is_transition or path.startswith("status"):
            server.create(obj)
            for each in status:
                server.report(each)
            server.change(path, value)
        else:
            server.create(with_path(obj, path, value))
    causes = (refused.value.details or {})["causes"]
    assert {cause["message"].endswith(f": {message}") for cause in causes} == {True}, causes
