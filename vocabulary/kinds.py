"""Resource kinds, as an API server needs them to route a request.

`Kind` is group, version, kind, plural and scope. Kinds that Assay itself uses have constants
here; suites register theirs.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

import msgspec

from vocabulary.objects import Object


class Kind(msgspec.Struct, frozen=True, dict=True):
    """One served resource, for example `Kind("batch", "v1", "Job", "jobs")`."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @cached_property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def group_kind(self) -> str:
        """`Pod`, `Job.batch`: the kind, and its group where it has one."""
        return f"{self.kind}.{self.group}" if self.group else self.kind

    def __str__(self) -> str:
        return self.group_kind

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL path of the collection, the object or its subresource."""
        parts = ["/apis", self.group] if self.group else ["/api"]
        parts.append(self.version)
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts.append(self.plural)
        if name:
            parts.append(name)
        if subresource:
            parts.append(subresource)
        return "/".join(parts)


NAMESPACE: Final = Kind("", "v1", "Namespace", "namespaces", namespaced=False)
NODE: Final = Kind("", "v1", "Node", "nodes", namespaced=False)
POD: Final = Kind("", "v1", "Pod", "pods")
SERVICE: Final = Kind("", "v1", "Service", "services")
CONFIG_MAP: Final = Kind("", "v1", "ConfigMap", "configmaps")
SECRET: Final = Kind("", "v1", "Secret", "secrets")
SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts")
PERSISTENT_VOLUME_CLAIM: Final = Kind("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims")
EVENT: Final = Kind("", "v1", "Event", "events")
RESOURCE_QUOTA: Final = Kind("", "v1", "ResourceQuota", "resourcequotas")
LIMIT_RANGE: Final = Kind("", "v1", "LimitRange", "limitranges")
JOB: Final = Kind("batch", "v1", "Job", "jobs")
DEPLOYMENT: Final = Kind("apps", "v1", "Deployment", "deployments")
REPLICA_SET: Final = Kind("apps", "v1", "ReplicaSet", "replicasets")
STATEFUL_SET: Final = Kind("apps", "v1", "StatefulSet", "statefulsets")
CONTROLLER_REVISION: Final = Kind("apps", "v1", "ControllerRevision", "controllerrevisions")
PYTORCH_JOB: Final = Kind("kubeflow.org", "v1", "PyTorchJob", "pytorchjobs")
RAY_CLUSTER: Final = Kind("ray.io", "v1", "RayCluster", "rayclusters")
RAY_JOB: Final = Kind("ray.io", "v1", "RayJob", "rayjobs")
LEASE: Final = Kind("coordination.k8s.io", "v1", "Lease", "leases")
PRIORITY_CLASS: Final = Kind(
    "scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", namespaced=False
)
RUNTIME_CLASS: Final = Kind("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", namespaced=False)
CUSTOM_RESOURCE_DEFINITION: Final = Kind(
    "apiextensions.k8s.io",
    "v1",
    "CustomResourceDefinition",
    "customresourcedefinitions",
    namespaced=False,
)

# Served, but no part of a workload: histories do not follow these.
_RBAC: Final = "rbac.authorization.k8s.io"
ROLE: Final = Kind(_RBAC, "v1", "Role", "roles")
ROLE_BINDING: Final = Kind(_RBAC, "v1", "RoleBinding", "rolebindings")
CLUSTER_ROLE: Final = Kind(_RBAC, "v1", "ClusterRole", "clusterroles", namespaced=False)
CLUSTER_ROLE_BINDING: Final = Kind(
    _RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False
)
RBAC_KINDS: Final = (ROLE, ROLE_BINDING, CLUSTER_ROLE, CLUSTER_ROLE_BINDING)
API_SERVICE: Final = Kind(
    "apiregistration.k8s.io", "v1", "APIService", "apiservices", namespaced=False
)
ENDPOINT_SLICE: Final = Kind("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices")
POD_DISRUPTION_BUDGET: Final = Kind("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets")

BUILT_IN_KINDS: Final[tuple[Kind, ...]] = (
    NAMESPACE,
    NODE,
    POD,
    SERVICE,
    CONFIG_MAP,
    SECRET,
    SERVICE_ACCOUNT,
    PERSISTENT_VOLUME_CLAIM,
    EVENT,
    RESOURCE_QUOTA,
    LIMIT_RANGE,
    JOB,
    DEPLOYMENT,
    REPLICA_SET,
    STATEFUL_SET,
    CONTROLLER_REVISION,
    PYTORCH_JOB,
    RAY_CLUSTER,
    RAY_JOB,
    LEASE,
    PRIORITY_CLASS,
    RUNTIME_CLASS,
    CUSTOM_RESOURCE_DEFINITION,
)
_BY_GVK: Final = {(known.api_version, known.kind): known for known in BUILT_IN_KINDS}


def register(kind: Kind) -> None:
    """Add a kind that a suite or a program knows.

    Registering equal kinds twice is fine; raises ValueError for unequal ones of one name.
    """
    known = _BY_GVK.setdefault((kind.api_version, kind.kind), kind)
    if known != kind:
        raise ValueError(f"kind {kind.api_version}/{kind.kind} is registered twice, differently")


def known_kinds() -> tuple[Kind, ...]:
    """The built-in kinds, and those that were registered."""
    return tuple(_BY_GVK.values())


def kind_of(obj: Object) -> Kind:
    """Return an object's kind, from its apiVersion and kind.

    An unknown kind is assumed to be namespaced, with the conventional plural (lower case,
    `s`): this is how a workload's components are addressed before discovery.
    """
    api_version, kind = str(obj.get("apiVersion", "")), str(obj.get("kind", ""))
    known = _BY_GVK.get((api_version, kind))
    if known is not None:
        return known
    group, _, version = api_version.rpartition("/")
    return Kind(group, version, kind, _plural(kind.lower()))


def _plural(singular: str) -> str:
    if singular.endswith(("s", "x", "ch", "sh")):
        return singular + "es"
    if singular.endswith("y") and singular[-2:-1] not in "aeiou":
        return singular[:-1] + "ies"
    return singular + "s"
