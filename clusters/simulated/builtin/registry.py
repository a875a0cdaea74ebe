"""The strategies of built-in kinds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from clusters.simulated.access.reviews import REVIEWS
from clusters.simulated.builtin.api_services import ApiServiceStrategy
from clusters.simulated.builtin.endpoint_slices import EndpointSliceStrategy
from clusters.simulated.builtin.events import EventStrategy
from clusters.simulated.builtin.jobs import JobStrategy
from clusters.simulated.builtin.leases import LeaseStrategy
from clusters.simulated.builtin.limit_ranges import LimitRangeStrategy
from clusters.simulated.builtin.namespaces import NamespaceStrategy
from clusters.simulated.builtin.plain import (
    ConfigMapStrategy,
    ControllerRevisionStrategy,
    NodeStrategy,
    PersistentVolumeClaimStrategy,
    PriorityClassStrategy,
    ResourceQuotaStrategy,
    RuntimeClassStrategy,
    SecretStrategy,
    ServiceAccountStrategy,
)
from clusters.simulated.builtin.pods import PodStrategy
from clusters.simulated.builtin.rbac import BindingStrategy, ClusterRoleStrategy, RoleStrategy
from clusters.simulated.builtin.reviews import ReviewStrategy
from clusters.simulated.builtin.services import ServiceStrategy
from clusters.simulated.builtin.workloads import (
    DeploymentStrategy,
    ReplicaSetStrategy,
    StatefulSetStrategy,
)
from clusters.simulated.custom_resources.definitions import DefinitionStrategy
from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.strategy import Strategy
from vocabulary import kinds
from vocabulary.kinds import Kind

if TYPE_CHECKING:
    # A cluster that does not serve these kinds does not load them.
    from clusters.simulated.builtin.uncontrolled import Plain


def built_in_strategies() -> dict[str, Strategy]:
    """A strategy for every kind that is served from the start, by the kind's text.

    The custom resources that Assay knows by name are among them, without a schema, so that
    a scenario need not install a definition that it does not test.
    """
    return {strategy.kind.group_kind: strategy for strategy in _strategies()}


@cache
def further_strategies() -> tuple[Strategy, ...]:
    """Those of all other built-in kinds, for clusters that serve every kind."""
    from clusters.simulated.builtin.uncontrolled import strategy_of

    return tuple(map(strategy_of, further_kinds()))


def further_kinds() -> tuple[Plain, ...]:
    """The kinds that only such clusters serve, as their tables have them."""
    from clusters.simulated.builtin.autoscalers import AUTOSCALERS
    from clusters.simulated.builtin.disruption_budgets import DISRUPTION_BUDGETS
    from clusters.simulated.builtin.uncontrolled import UNCONTROLLED

    return (*UNCONTROLLED, AUTOSCALERS, DISRUPTION_BUDGETS)


def uncontrolled_kinds() -> dict[Kind, str]:
    """The kinds on which no controller of the simulation acts, with what a real cluster's would
    do."""
    return {plain.kind: plain.without for plain in further_kinds() if plain.without}


@cache
def _strategies() -> tuple[Strategy, ...]:
    """They hold no state, so all clusters of a process share them."""
    return (
        NamespaceStrategy(kinds.NAMESPACE),
        NodeStrategy(kinds.NODE),
        PodStrategy(kinds.POD),
        ServiceStrategy(kinds.SERVICE),
        ConfigMapStrategy(kinds.CONFIG_MAP),
        SecretStrategy(kinds.SECRET),
        ServiceAccountStrategy(kinds.SERVICE_ACCOUNT),
        PersistentVolumeClaimStrategy(kinds.PERSISTENT_VOLUME_CLAIM),
        EventStrategy(kinds.EVENT),
        ResourceQuotaStrategy(kinds.RESOURCE_QUOTA),
        LimitRangeStrategy(kinds.LIMIT_RANGE),
        JobStrategy(kinds.JOB),
        DeploymentStrategy(kinds.DEPLOYMENT),
        ReplicaSetStrategy(kinds.REPLICA_SET),
        StatefulSetStrategy(kinds.STATEFUL_SET),
        ControllerRevisionStrategy(kinds.CONTROLLER_REVISION),
        LeaseStrategy(kinds.LEASE),
        PriorityClassStrategy(kinds.PRIORITY_CLASS),
        RuntimeClassStrategy(kinds.RUNTIME_CLASS),
        DefinitionStrategy(kinds.CUSTOM_RESOURCE_DEFINITION),
        CustomResourceStrategy(kinds.PYTORCH_JOB),
        CustomResourceStrategy(kinds.RAY_CLUSTER),
        CustomResourceStrategy(kinds.RAY_JOB),
        ApiServiceStrategy(kinds.API_SERVICE),
        EndpointSliceStrategy(kinds.ENDPOINT_SLICE),
        RoleStrategy(kinds.ROLE),
        ClusterRoleStrategy(kinds.CLUSTER_ROLE),
        BindingStrategy(kinds.ROLE_BINDING),
        BindingStrategy(kinds.CLUSTER_ROLE_BINDING),
        *(ReviewStrategy(kind) for kind in REVIEWS),
    )
