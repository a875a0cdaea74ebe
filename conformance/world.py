"""The world of one run, as the steps of a scenario see it: cluster, implementation, clock.

`World` holds what is the same everywhere; a class in `conformance.worlds` adds what differs:
how requests are sent, how time passes, and how faults take hold. A scenario that uses only
what is here runs in virtual time and on real clusters alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chaos.choice import named_kind
from chaos.fault import Fault
from chaos.plan import Step
from chaos.scale import Scale
from chaos.subject_kind import subject_kind
from conformance.manifests.names_of_run import of_run
from conformance.manifests.pod_templates import with_replicas
from conformance.scenario_type import Scenario
from conformance.stored_objects.lookup import WEBHOOK_FAILED
from vocabulary.clock import SECOND, Micros, format_seconds
from vocabulary.errors import ApiError
from vocabulary.history import AT_REST, Entry, Header
from vocabulary.kinds import NODE, Kind, kind_of
from vocabulary.objects import Object, name_of, namespace_of
from vocabulary.requests import Create, Delete, Get, List, ObjectList, Patch, PropagationPolicy


class NotReachedError(Exception):
    """A state that the scenario waited for did not come; the message names it and the bound."""


ASKED_EVERY_US: Final = 1 * SECOND
TIMES_ASKED: Final = 30


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that a scenario can wait for: a predicate on stored objects, and its name."""

    text: str
    holds: Callable[[], bool]

    def __and__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} and {other.text}", lambda: self.holds() and other.holds())

    def __or__(self, other: Condition) -> Condition:
        return Condition(f"{self.text} or {other.text}", lambda: self.holds() or other.holds())


class World(ABC):
    """The environment of a scenario."""

    scenario: Scenario
    namespace: str
    namespaces: Mapping[str, str]
    """The further namespaces of the run, by the names that the scenario declares."""
    prefix: str = ""
    """The text for `$(RUN)` in manifests. Steps write it before names of cluster-scoped objects
    themselves."""
    nodes: tuple[str, ...]
    durations: Any
    """The durations of the scenario's suite at the configuration in force; where its operator is
    not under test, those of the first one that is."""
    folder: Path
    """Where the scenario's manifests stand."""
    requests: int = 0
    """How many requests the operators have sent, where the cluster counts them."""
    not_ready: str = ""
    """Why the implementation did not come up, so that nothing can be tested; empty if it did."""

    @property
    def requested(self) -> Counter[str]:
        """The operators' requests by verb, resource and group, `patch deployments/scale of apps`,
        where the cluster counts them and the scenario's objects come from a plan."""
        return Counter()

    # What differs from cluster to cluster.

    @property
    @abstractmethod
    def now_us(self) -> Micros:
        """The time now, on the cluster's clock."""

    @abstractmethod
    def call(self, request: Any, actor: str = "user") -> Any:
        """Send a request as `user`, `chaos` or `harness`; raises ApiError if it is refused.

        Its kind is taken as the cluster serves it, whatever the request says of scope and plural.
        """

    @abstractmethod
    def served(self, kind: Kind) -> Kind:
        """The kind with the plural and scope that the cluster serves it with, as discovery tells;
        unchanged if it is not served."""

    @abstractmethod
    def wait(self, span_us: Micros) -> None:
        """Let time pass."""

    @abstractmethod
    def _wait_until(self, done: Callable[[], bool], within_us: Micros) -> bool:
        """Let time pass until `done()`; False if it does not become true within the span."""

    def inject(self, fault: Fault) -> None:
        """Let a fault happen now. What is still in force when the steps end is then reverted.

        A user whom no webhook answers asks again, until one does or half a minute is over.
        """
        refusal = self._inject(fault)
        for _ in range(TIMES_ASKED):
            if not fault.is_user_act or WEBHOOK_FAILED not in refusal:
                return
            self.wait(ASKED_EVERY_US)
            refusal = self._inject(fault, is_repeated=True)

    @abstractmethod
    def _inject(self, fault: Fault, *, is_repeated: bool = False) -> str:
        """Let a fault happen now, the last one once more if `is_repeated`; why it was refused,
        empty if it was not."""

    @abstractmethod
    def revert(self, fault: Fault) -> None:
        """Undo a fault before the steps end."""

    @abstractmethod
    def is_stable(self) -> bool:
        """True if nothing is going on, and nothing is left to do but what is far off."""

    def rest(self) -> bool:
        """Let time pass until the world is stable, and mark the moment; False if it does not come
        within the bound."""
        is_at_rest = self._wait_until(self.is_stable, self.patience_us)
        if is_at_rest:
            self.mark("step", AT_REST)
        return is_at_rest

    @abstractmethod
    def finish(self) -> None:
        """Stop the faults, then let the workload settle: the progress phase."""

    @property
    def given_up(self) -> str:
        """The bound that a run has reached whose workload does not settle; empty if none was."""
        return ""

    @property
    @abstractmethod
    def leader(self) -> str:
        """The operator process that leads where several compete; empty if none does."""

    @property
    def crashes(self) -> tuple[str, ...]:
        """The bugs that the implementation's own code ran into, as far as the world sees them."""
        return ()

    @property
    @abstractmethod
    def strikes(self) -> int:
        """How many faults of the plan have struck, beside those of the steps."""

    @property
    @abstractmethod
    def struck(self) -> tuple[Step, ...]:
        """Everything that went wrong, in order, as an exhaustive plan lists it."""

    @abstractmethod
    def history(self) -> tuple[Header, tuple[Entry, ...]]:
        """Return the recorded history."""

    @abstractmethod
    def mark(self, mark: Any, text: str = "") -> None:
        """Write down what the run itself has to say; see `vocabulary.history.Mark`."""

    @abstractmethod
    def prepare(self, obj: Object) -> dict[str, Any]:
        """Adapt a manifest to this cluster: namespace, nodes, pod behavior."""

    # What is the same everywhere.

    def create(self, obj: Object, actor: str = "user") -> Object:
        """Create one object in the namespace that it names, else in the scenario's; see
        `conformance.manifests.names_of_run`."""
        workload = self.scenario.workload
        changed = obj if workload is None else workload.applied(obj)
        named = of_run(changed, self.prefix, self.namespaces)
        prepared = self.prepare(_scaled(named, self.scenario.scale))
        kind = self.served(kind_of(prepared))
        namespace = (namespace_of(prepared) or self.namespace) if kind.namespaced else ""
        stored: Object = self.call(Create(kind, prepared, namespace, name_of(prepared)), actor)
        return stored

    def get(self, kind: Kind, name: str, *, namespace: str = "") -> Object | None:
        """The object as it is stored now; None if there is none."""
        try:
            found: Object = self.call(
                Get(kind, self._namespace(kind, namespace), name, live=True), "harness"
            )
        except ApiError as error:
            if error.is_not_found:
                return None
            raise
        return found

    def list(
        self, kind: Kind, label_selector: str = "", *, namespace: str = ""
    ) -> tuple[Object, ...]:
        """The objects of a kind in one namespace, as they are stored now."""
        found: ObjectList = self.call(
            List(
                kind,
                self._namespace(kind, namespace),
                label_selector=label_selector,
                live=True,
            ),
            "harness",
        )
        return tuple(found.items)

    def patch(
        self, kind: Kind, name: str, body: Any, actor: str = "user", *, namespace: str = ""
    ) -> Object:
        """Merge-patch an object, as the user unless another client is named."""
        where = self._namespace(kind, namespace)
        patched: Object = self.call(Patch(kind, where, name, body), actor)
        return patched

    def delete(
        self,
        kind: Kind,
        name: str,
        *,
        propagation_policy: PropagationPolicy | None = None,
        actor: str = "user",
        namespace: str = "",
    ) -> None:
        """Delete an object, as the user unless another client is named."""
        where = self._namespace(kind, namespace)
        self.call(Delete(kind, where, name, propagation_policy=propagation_policy), actor)

    def _namespace(self, kind: Kind, namespace: str) -> str:
        return (namespace or self.namespace) if self.served(kind).namespaced else ""

    def delete_if_there(self, kind: str, name: str) -> None:
        """Delete an object that scenario steps made, unless something else did already."""
        found = named_kind(kind)
        if self.get(found, name) is not None:
            self.delete(found, name)

    def reconfigure(self, changes: Mapping[str, Any]) -> None:
        """Change the configuration of operators that start from now on, section by section.

        Only the simulation can; elsewhere the file is written once, for the whole run.
        """
        raise NotImplementedError(f"{type(self).__name__} configures operators once")

    @abstractmethod
    def install(self, crd: str) -> None:
        """Serve what a custom resource definition beside the scenario describes."""

    def reviews(self, kind: Kind, obj: Object) -> bool:
        """True if the API server would ask the webhooks of a reference about a new object. The
        webhooks of programs are called, and need no fault to be down."""
        del kind, obj
        return False

    def add_capacity(self, node: str, resource: str, count: int) -> None:
        """Let a node offer so many of an extended resource."""
        amounts = {resource: str(count)}
        self.call(
            Patch(
                NODE,
                "",
                node,
                {"status": {"capacity": amounts, "allocatable": amounts}},
                subresource="status",
            ),
            "harness",
        )

    def until(self, condition: Condition, within_us: Micros | None = None) -> None:
        """Wait for a condition; NotReachedError if it does not come within the bound.

        Without a bound: what the whole retry loop may take at the parameters in force.
        """
        bound_us = within_us if within_us is not None else self.patience_us
        if not self._wait_until(condition.holds, bound_us):
            raise NotReachedError(f"{condition.text}: not within {format_seconds(bound_us)}")

    @property
    def patience_us(self) -> Micros:
        """The longest that any single wait may last."""
        patience_us: Micros = self.durations.patience_us
        return patience_us


def _scaled(obj: Object, scale: Scale) -> Object:
    """The manifest with what a plan leaves of its replicas and components."""
    scaled = obj if scale.replicas is None else with_replicas(obj, scale.replicas)
    if scale.components is None:
        return scaled
    return subject_kind(kind_of(obj)).with_components(scaled, scale.components)
