"""The simulated world: cluster, operators, faults and recording, in one process."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from chaos.connection_rules import ConnectionRules
from chaos.fault import Fault
from chaos.ground import Rule, WatchRule
from chaos.happening import Follower
from chaos.injector import Injected, Injector
from chaos.plan import Plan, Step
from clusters.behaviour import expand, with_time_to_stop
from clusters.simulated.access.rules import Attributes, Rules
from clusters.simulated.access.users import AUTHENTICATED, MASTERS, User, uid_of_actor
from clusters.simulated.cluster import NodeSpec, SimulatedCluster
from clusters.simulated.controllers import OF_CUSTOM_KINDS
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.custom_resources.definitions import defined_kind
from clusters.simulated.loop import Timer
from conformance.editions import of_run, written
from conformance.history.outages import is_unanswered
from conformance.implementations.ours import SERVICE_ACCOUNT, SIMULATED_USERS, Implementation
from conformance.implementations.under_test import UnderTest, upgraded
from conformance.manifests.files import is_granted, load_manifests
from conformance.manifests.names_of_run import with_prefix
from conformance.manifests.pod_templates import map_pods, pods_of
from conformance.report.run_result import GIVEN_UP
from conformance.scenario_type import Scenario
from conformance.suite import Durations, KindUse
from conformance.suite import load as suites
from conformance.world import World
from conformance.worlds.simulated.bounds import Bounds
from conformance.worlds.simulated.connection import Connection
from conformance.worlds.simulated.in_process_host import InProcessHost
from conformance.worlds.simulated.operator_process import OperatorProcess
from conformance.worlds.simulated.processes import GroundProcesses
from conformance.worlds.simulated.versions import Versions, first_of
from reference_controller.runtime.work_queue import MAX_BACKOFF_US
from vocabulary import canonical
from vocabulary.bug import in_words
from vocabulary.clock import HOUR, MINUTE, Micros
from vocabulary.errors import ApiError
from vocabulary.history import (
    AT_REST,
    OPERATOR,
    RETRIES,
    Entry,
    Header,
    OperatorUnderTest,
    WorldFacts,
    replicas,
    role_of,
)
from vocabulary.history import Write as WriteEntry
from vocabulary.kinds import (
    CUSTOM_RESOURCE_DEFINITION,
    ENDPOINT_SLICE,
    EVENT,
    LEASE,
    Kind,
    kind_of,
    known_kinds,
)
from vocabulary.objects import Object, get_path, name_of
from vocabulary.requests import Create, Get, Update, as_served

if TYPE_CHECKING:
    from conformance.worlds.lockstep.pacing import Pacing
    from conformance.worlds.lockstep.program_host import ProgramHost
    from conformance.worlds.lockstep.program_process import ProgramProcess

NAMESPACE: Final = "default"
RUN_PREFIX: Final = "run-"
"""Begins the names of the further namespaces and cluster-scoped objects of a run."""
REPLICAS: Final = 2
"""Of each operator; the second one is started by some scenarios and faults only."""
KUBERNETES_VERSION: Final = "v1.36"
"""The version on which the simulation is modeled, and with which it is compared."""
READS: Final = ("get", "list", "watch")
PODS_OF_UNKNOWN: Final = 5
"""The pods that an object of a kind that no suite knows counts as, for the bounds of its run."""
QUIET_US: Final = 20 * MINUTE
"""No operator timer and no write of a kind under test for so long: twice a usual resync period."""
RESTLESS_US: Final = HOUR
"""So long a run waits for each further rest, and for its end, once it has waited in vain."""
RETRIED_US: Final = 4 * MAX_BACKOFF_US
"""So long without a change, each reconcile that failed has been tried three times again, and met
what the times before met."""


class SimulatedWorld(World):
    """One run's world. Build it, let a scenario's steps use it, then `finish` it."""

    def __init__(
        self,
        scenario: Scenario,
        implementations: Mapping[str, Implementation | UnderTest],
        seed: int,
        plan: Plan | None,
        edition: str = "",
    ) -> None:
        """`implementations` are those under test by role; `edition` is the one to judge by."""
        self.scenario = scenario
        self._editions = of_run(scenario.id, implementations, edition)
        self._users = SIMULATED_USERS | (SERVICE_ACCOUNT if scenario.needs_users else {})
        self.folder = scenario.folder
        self.namespace = NAMESPACE
        # As on shared clusters, so that steps which forget them fail here, too.
        self.prefix = RUN_PREFIX
        self.namespaces = {name: f"{RUN_PREFIX}{name}" for name in scenario.namespaces}
        self.nodes = tuple(f"n{index}" for index in range(scenario.nodes))
        self.roles = tuple(implementations)
        self.implementations = implementations
        self.configs: dict[str, Mapping[str, Any]] = {}
        """The operators' configurations by role."""
        self._durations: dict[str, Durations] = {}
        for role in self.roles:
            settings = suites()[role].settings
            by_edition = settings.overlay(settings.written, written(scenario.id, role, edition))
            asked = with_prefix(scenario.config_of(role), self.prefix)
            self.configs[role] = settings.overlay(by_edition, asked)
            self._durations[role] = settings.durations_at(self.configs[role])
        self.durations = self._durations[scenario.timed_by]
        self._next_configs = dict(self.configs)
        """Of operators that start from now on."""
        self._rights = {
            role: Rules(
                rule
                for version in {id(each): each for each in (first_of(known), known)}.values()
                for each in version.rbac()
                for rule in each.get("rules") or ()
            )
            for role, known in implementations.items()
        }
        """The rules of the operators' roles and cluster roles; those of two versions together."""
        crds = [crd for each in implementations.values() for crd in first_of(each).crds()]
        own = frozenset(map(_kind_defined_by, crds)) & OF_CUSTOM_KINDS.keys()
        self.cluster = SimulatedCluster(
            seed,
            settings=Settings(
                endpoint_slices=any(map(_reads_slices, self._rights.values())),
                every_kind=any(
                    may_use_further_kinds(self._rights[role])
                    for role, known in implementations.items()
                    if not isinstance(known, Implementation)
                ),
                controlled_elsewhere=own,
                # Nobody who writes pods for an unknown operator knows Assay's annotations.
                reads_commands=bool(scenario.manifests),
                behaviours=tuple(
                    declared for each in implementations.values() for declared in each.behaviours
                ),
            ),
            namespaces=self.namespaces.values(),
            nodes=[NodeSpec(name, gpus=scenario.gpus) for name in self.nodes],
            crds=crds,
        )
        self.loop = self.cluster.loop
        self.recorder = self.cluster.recorder
        for kind in sorted(own):
            name = OF_CUSTOM_KINDS[kind]
            self.mark("step", f"{name} of the simulation is off: an operator under test has {kind}")
        self.seed = seed
        self._rules = ConnectionRules(self._on_rule)
        self._connection = Connection(self.cluster.api, self._rules)
        self._crashes: dict[str, None] = {}
        """The bugs that the controller's code ran into, in order."""
        self._forbidden: set[str] = set()
        """The sorts of reads that operators lack the right to."""
        self.operators: dict[str, OperatorProcess | ProgramProcess] = {}
        self._programs: list[ProgramHost] = []
        self._plan = plan or Plan(scenario.id, seed=seed)
        self._pacing: Pacing | None = None
        """Of programs of their own."""
        hosts = {role: self._add_operator(role) for role in self.roles}
        for role in sorted(hosts):  # as the API server does, by the names of configurations
            self.cluster.api.admission.mutating.append(hosts[role].admission)
            self.cluster.api.admission.validating.append(hosts[role].validating_admission)
        self.cluster.api.interposed = {
            name: wire.before(self.cluster.api, name)
            for name in self.operators
            if (wire := implementations[role_of(name)].on_wire) is not None
        }
        self._set_rights()
        kinds = [use for role in self.roles for use in suites()[role].kinds]
        if scenario.manifests:  # of an operator whose suite knows no kinds
            found = {*map(defined_kind, crds), *map(kind_of, scenario.manifests)}
            kinds += [
                KindUse(kind, is_at_rest=bool, pods=lambda obj: max(pods_of(obj), PODS_OF_UNKNOWN))
                for kind in sorted(found, key=str)
            ]
        self._bounds = Bounds(self.roles, kinds)
        self._processes = GroundProcesses(self.cluster.processes)
        self._injector = Injector(self, self.recorder.fault, plan)
        self._injected: dict[bytes, list[Injected]] = {}
        self._quiet_since_us = self._unchanged_since_us = self.loop.now_us
        self._rest_bound_us = self.patience_us
        """So long a step waits for a rest."""
        self._refused: set[str] = set()
        """The operator processes that were refused a write since anything has changed."""
        self._own_kinds = {str(use.kind) for use in kinds}
        """The kinds under test."""
        self._leases = {
            each.lease: role
            for role, each in implementations.items()
            if isinstance(each, Implementation)
        }
        """The roles by the names of their Leases; those of programs as soon as these have one."""
        self._identities: dict[str, str] = {}
        """The programs by the names that they give themselves as holders of Leases."""
        self._leaders: dict[str, str] = {}
        self._follower = Follower()
        self._strike_timer: Timer | None = None
        self._connection.injector = self._injector if plan is not None else None
        self._connection.on_observed = self._await_plan
        self.recorder.listener = self._on_write
        for role in self.roles:
            for name in replicas(role, scenario.operators):
                self.cluster.processes.start(name)
        for host in self._programs:
            self.not_ready = self.not_ready or host.wait_ready(self.wait)
        self._injector.start()
        self._await_plan()

    # What faults stand on (chaos.ground.Ground).

    @property
    def processes(self) -> GroundProcesses:
        return self._processes

    @property
    def connection(self) -> ConnectionRules:
        return self._rules

    def rng(self, name: str) -> random.Random:
        return self.loop.rng(name)

    def concerned(self, kind: str) -> Sequence[str]:
        of_kind = [known for known in known_kinds() if str(known) == kind]
        if not of_kind:
            return self.roles
        return [role for role in self.roles if self._rights[role].apply_to(of_kind[0])]

    def elapsed_us(self) -> Micros:
        return self.loop.elapsed_us

    # What scenarios stand on (World).

    @property
    def now_us(self) -> Micros:
        return self.loop.now_us

    @property
    def patience_us(self) -> Micros:
        return max(it.patience_us for it in self._durations.values())

    @property
    def requests(self) -> int:  # type: ignore[override]  # counted here
        return self._connection.carried

    def reviews(self, kind: Kind, obj: Object) -> bool:
        return any(
            each.reviews(kind, obj)
            for each in self.implementations.values()
            if isinstance(each, Implementation)
        )

    def call(self, request: Any, actor: str = "chaos") -> Any:
        api = self.cluster.api
        return api.handle(as_served(request, api.served(request.kind), self.namespace), actor)

    def served(self, kind: Kind) -> Kind:
        return self.cluster.api.served(kind)

    def wait(self, span_us: Micros) -> None:
        self._run_until(_never, span_us)

    def _wait_until(self, done: Callable[[], bool], within_us: Micros) -> bool:
        """Conditions are read off stored objects: each is looked at again once one has changed."""
        store = self.cluster.store
        seen = -1

        def is_done() -> bool:
            nonlocal seen
            if seen == store.revision:
                return False
            seen = store.revision
            return done()

        return self._run_until(is_done, within_us)

    def rest(self) -> bool:
        is_over = self._run_until(self._is_stable_or_retries, self._rest_bound_us)
        is_at_rest = is_over and not self._repeated_call
        if not is_over:
            self._rest_bound_us = RESTLESS_US
        if is_at_rest:
            self.mark("step", AT_REST)
        return is_at_rest

    def _run_until(self, done: Callable[[], bool], within_us: Micros) -> bool:
        """Let time pass until `done()`, at most so long, and no longer than any run needs."""
        bounds, loop, pacing = self._bounds, self.loop, self._pacing
        if pacing is not None:
            pacing.awaits_quiet = done is not _never
        met = False

        def is_over() -> bool:
            nonlocal met
            met = done()
            steps = loop.steps if pacing is None else loop.steps - pacing.timers
            if steps > bounds.max_steps:
                bounds.took_too_long(steps)
            return met or bool(bounds.reached)

        loop.run_until(is_over, loop.now_us + within_us)
        return met

    def _inject(self, fault: Fault, *, is_repeated: bool = False) -> str:
        done = self._injector.inject(fault, is_repeated=is_repeated)
        self._injected.setdefault(_key(fault), []).extend(done)
        self._await_plan()
        return self._injector.refusal

    def revert(self, fault: Fault) -> None:
        for injected in self._injected.pop(_key(fault), ()):
            self._injector.revert(injected)

    def reconfigure(self, changes: Mapping[str, Any]) -> None:
        role = self.scenario.role
        config = self._next_configs[role] = suites()[role].settings.overlay(
            self._next_configs[role], changes
        )
        self.recorder.mark("reconfigured", role=role, parameters=config)

    def install(self, crd: str) -> None:
        for document in load_manifests(self.folder / crd):
            self.call(
                Create(CUSTOM_RESOURCE_DEFINITION, document, "", name_of(document)), "harness"
            )
            if not is_granted(document):
                self.cluster.api.access.restrict_to([defined_kind(document)])

    def mark(self, mark: Any, text: str = "") -> None:
        self.recorder.mark(mark, text)

    def prepare(self, obj: Object) -> dict[str, Any]:
        played = map_pods(expand(obj), with_time_to_stop)
        within = {"namespace": self.namespace} if self.served(kind_of(obj)).namespaced else {}
        return {**played, "metadata": {**within, **played.get("metadata", {})}}

    # The end of a run.

    def finish(self) -> None:
        """Stop the faults, then let the workload settle: the progress phase."""
        bound_us = self.patience_us + 2 * max(it.maximum_us for it in self._durations.values())
        if self._rest_bound_us == RESTLESS_US:
            bound_us = RESTLESS_US
        if self._injector.is_waiting:  # a plan's faults may strike after the last step
            self._run_until(lambda: not self._injector.is_waiting or self.is_stable(), bound_us)
        self._injector.stop()
        self._connection.injector = None
        # What was broken until now has not been quiet.
        self._quiet_since_us = self._unchanged_since_us = self.loop.now_us
        self.mark("faults-stopped")
        is_stable = self._run_until(self._is_stable_or_retries, bound_us)
        for program in self._programs:
            program.report_panics()
        if is_stable and self._repeated_call:
            self._bounds.called(self._repeated_call)
        if is_stable and not self.given_up:
            self.mark("stable", "" if self.is_stable() else RETRIES)
        else:
            self.mark("not-stable", self.given_up)
        self.mark("end")

    def give_up(self, bound: str) -> None:
        self._bounds.reached = self._bounds.reached or bound
        self.mark("not-stable", self.given_up)
        self.mark("end")

    def close(self) -> None:
        """Break the cycles: reference counts free the world then, and no collector has to."""
        for operator in self.operators.values():
            operator.kill()
        for host in self._programs:
            host.close()
        if self._pacing is not None:
            self._pacing.close()
        self.cluster.close()
        vars(self).clear()

    @property
    def given_up(self) -> str:
        return f"{GIVEN_UP}{self._bounds.reached}" if self._bounds.reached else ""

    def is_stable(self) -> bool:
        """Nothing left to do: no timer but housekeeping, or none of the operator's and quiet."""
        if self.cluster.processes.awaits_restart:
            return False
        if not all(operator.is_idle() for operator in self.operators.values()):
            return False
        for role in self.roles:
            up = [each for each in self._replicas(role) if each.running]
            if up and not any(operator.leads for operator in up):
                return False  # one of them will, and may find work that it was kept from
        if self.cluster.is_quiet(self.loop.now_us + HOUR):
            return True
        return self.loop.now_us - self._quiet_since_us > QUIET_US

    def _is_stable_or_retries(self) -> bool:
        return self.is_stable() or self._retries_in_vain()

    def _retries_in_vain(self) -> bool:
        """True if an operator asks again and again for what it is refused, and nothing else is left
        to do: nothing has changed for several times as long as it waits between two attempts."""
        # A suite of its own may have scenarios whose operator gives up, or goes on, after minutes.
        long_us = RETRIED_US if self.scenario.manifests else QUIET_US
        if self.loop.now_us - self._unchanged_since_us <= long_us or not self._refused:
            return False
        if self.cluster.processes.awaits_restart:
            return False
        busy = [each for each in self.operators.values() if not each.is_idle()]
        retrying = [each for each in busy if isinstance(each, OperatorProcess)]
        return (
            all(each.name in self._refused and each.only_retries() for each in retrying)
            and len(retrying) == len(busy)
            and self.cluster.is_quiet(self.loop.now_us + HOUR, [each.wake for each in retrying])
        )

    @property
    def _repeated_call(self) -> str:
        """A call that an operator goes on making, since it fails, in words."""
        if self.cluster.is_quiet(self.loop.now_us + HOUR):
            return ""
        since_us = self.loop.now_us - QUIET_US
        failed = (host.failed_call(since_us) for host in self._programs)
        return next(filter(None, failed), "")

    @property
    def leader(self) -> str:
        return self._leaders.get(self.scenario.role, "")

    @property
    def requested(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for name, counted in self.cluster.api.access.counted.items():
            # The informers of a reference list through the API, and watch the store itself.
            lists_only = isinstance(self.implementations[role_of(name)], Implementation)
            for (group, resource, verb), times in counted.items():
                of = f"{resource}{f' of {group}' if group else ''}"
                total[f"{verb} {of}"] += times
                if verb == "list" and lists_only:
                    total[f"watch {of}"] += times
        return total

    @property
    def pods(self) -> int:
        """How many pods the run's users have asked for."""
        return self._bounds.pods

    @property
    def crashes(self) -> tuple[str, ...]:
        return tuple(self._crashes)

    @property
    def strikes(self) -> int:
        return self._injector.strikes

    @property
    def struck(self) -> tuple[Step, ...]:
        return self._injector.struck

    def history(self) -> tuple[Header, tuple[Entry, ...]]:
        """Return the recorded history."""
        header = Header(
            scenario=self.scenario.id,
            seed=self.seed,
            cluster="simulated",
            clock="virtual",
            began_us=self.loop.began_us,
            kubernetes_version=KUBERNETES_VERSION,
            operators={
                role: OperatorUnderTest(
                    suite=role,
                    implementation=upgraded(each.upgraded_from, each.name),
                    parameters=dict(self.configs[role]),
                    facts=each.facts,
                )
                for role, each in self.implementations.items()
            },
            facts=WorldFacts(users=self._users),
            editions=self._editions or msgspec.UNSET,
        )
        return header, tuple(self.recorder.entries)

    # Inside.

    def _add_operator(self, role: str) -> InProcessHost | ProgramHost:
        """Add the processes of an operator; its webhooks are not called yet."""
        host = self._host(role, self.implementations[role])
        for name in replicas(role, REPLICAS):
            # The first operator's streams are named as they were before there were roles:
            # what a seed or a plan showed then, it shows now.
            stream = name.replace(role, OPERATOR, 1) if role == self.roles[0] else name
            operator = self.operators[name] = host.add(name, stream)
            self.cluster.processes.add(operator)
        return host

    def _set_rights(self) -> None:
        """Register the users, and restrict the operators to their roles; kinds that only scenarios
        know are granted to them, as an administrator would."""
        access = self.cluster.api.access
        access.register_users(
            {
                actor: User(user["username"], (MASTERS, AUTHENTICATED), user["uid"])
                for actor, user in self._users.items()
            }
        )
        access.register_users(
            {name: User(name, (AUTHENTICATED,), uid_of_actor(name)) for name in self.operators}
        )
        for name in self.operators:
            access.rbac.grant(name, self._rights[role_of(name)])
        if self.scenario.manifests:
            access.on_forbidden = self._note_forbidden
            access.counted = {name: Counter() for name in self.operators}
        served = (strategy.kind for strategy in self.cluster.api.strategies.values())
        access.restrict_to((*known_kinds(), *served))

    def _host(
        self, role: str, implementation: Implementation | UnderTest
    ) -> InProcessHost | ProgramHost:
        elects = self.scenario.operators > 1
        if isinstance(implementation, Implementation):
            return InProcessHost(
                Versions(implementation, self._install),
                lambda: self._next_configs[role],
                cluster=self.cluster,
                connection=self._connection,
                namespace=self.namespace,
                elects=elects,
                on_crash=self._note_crash,
            )
        # Most runs need none of these.
        from conformance.worlds.lockstep.pacing import Pacing
        from conformance.worlds.lockstep.program_host import ProgramHost

        if self._pacing is None:
            self._pacing = Pacing(self.loop)
        host = ProgramHost(
            Versions(implementation, self._install),
            lambda: self._next_configs[role],
            cluster=self.cluster,
            pacing=self._pacing,
            connection=self._connection,
            namespaces=(self.namespace, *self.namespaces.values()),
            elects=elects,
            run=f"{self._plan.digest()}/{implementation.name}",
            on_crash=self._note_crash,
        )
        self._programs.append(host)
        return host

    def _install(self, version: Implementation | UnderTest) -> None:
        """Apply the definitions of the version that replaces the one that is installed."""
        self.mark("step", f"{version.name} is installed")
        for crd in version.crds():
            try:
                found = self.call(Get(CUSTOM_RESOURCE_DEFINITION, "", name_of(crd)), "harness")
            except ApiError as error:
                if not error.is_not_found:
                    raise
                self.call(Create(CUSTOM_RESOURCE_DEFINITION, crd, "", name_of(crd)), "harness")
                self.cluster.api.access.restrict_to([defined_kind(crd)])
            else:
                metadata = {**found["metadata"], **crd["metadata"]}
                changed = {**found, **crd, "metadata": metadata}
                self.call(Update(CUSTOM_RESOURCE_DEFINITION, changed), "harness")

    def _replicas(self, role: str) -> Iterator[OperatorProcess | ProgramProcess]:
        """The processes of an operator."""
        return (self.operators[name] for name in replicas(role, REPLICAS))

    def _on_rule(self, rule: Rule, holds: bool) -> None:
        if isinstance(rule, WatchRule):
            for operator in self.operators.values():
                operator.on_watch_rule(rule, holds)

    def _on_write(self, write: WriteEntry) -> None:
        self._bounds.wrote(write)
        if write.event and write.kind in self._own_kinds:
            self._quiet_since_us = self.loop.now_us
        elif write.event and write.kind == _LEASE:
            self._note_lease(write)
        if write.actor in self.operators and is_unanswered(write):
            self._unchanged_since_us = self.loop.now_us  # the server may answer yet
        elif write.event and write.kind not in _NO_CHANGE:
            self._unchanged_since_us = self.loop.now_us
            self._refused.clear()
        elif write.code >= 400 and write.actor in self.operators:
            self._refused.add(write.actor)
        if self._connection.injector is not None:
            self._connection.committed(self._follower.committed(write))

    def _note_crash(self, name: str, error: Exception) -> None:
        """Once for each bug: a controller that meets one meets it at every retry."""
        text = f"{name} raised {in_words(error)}"
        if text not in self._crashes:
            self.mark("step", text)
        self._crashes[text] = None
        self._bounds.crashed()

    def _note_forbidden(self, name: str, asked: Attributes) -> None:
        """Once for each sort of read; writes are recorded as they are."""
        text = f"{role_of(name)} may not {asked.verb} {asked.resource}"
        if name in self.operators and asked.verb in READS and text not in self._forbidden:
            self._forbidden.add(text)
            self.mark("step", text)

    def _note_lease(self, write: WriteEntry) -> None:
        holder = get_path(write.object or {}, "spec.holderIdentity", "")
        if (
            holder
            and write.actor in self.operators
            and not isinstance(self.implementations[role_of(write.actor)], Implementation)
        ):
            self._leases.setdefault(write.name, role_of(write.actor))
            self._identities.setdefault(holder, write.actor)
        role = self._leases.get(write.name)
        if role is not None:
            self._note_leader(role, self._identities.get(holder, holder))

    def _note_leader(self, role: str, identity: str) -> None:
        """Record the holder of a role's Lease; no operator, if its holder released or lost it."""
        before = self._leaders.get(role, "")
        leader = self._leaders[role] = identity if identity in self.operators else ""
        if before == leader:
            return
        if before:
            self.recorder.process(before, "following")
        if leader:
            self.recorder.process(leader, "leading")

    def _await_plan(self) -> None:
        """Strike when the plan's next point in time has come."""
        if self._strike_timer is not None:
            self._strike_timer.cancel()
        due_us = self._injector.next_due_us()
        self._strike_timer = (
            None if due_us is None else self.loop.call_at(self.loop.began_us + due_us, self._strike)
        )

    def _strike(self) -> None:
        self._injector.advance()
        self._await_plan()


_LEASE: Final = str(LEASE)
_NO_CHANGE: Final = (_LEASE, str(EVENT))
"""The kinds whose objects tell of work, and are none."""


def _reads_slices(rules: Rules) -> bool:
    """True if an operator's roles name EndpointSlices: only then are they written."""
    kind = ENDPOINT_SLICE
    return any(rules.name((kind.group, kind.plural, verb)) for verb in ("get", "list", "watch"))


def _kind_defined_by(definition: Object) -> str:
    """`PyTorchJob.kubeflow.org`."""
    spec = definition["spec"]
    return f"{spec['names']['kind']}.{spec['group']}"


def may_use_further_kinds(rules: Rules) -> bool:
    """True if a program's roles name a kind that suites do not use, or cover it by an asterisk."""
    # Most runs need none of these.
    from clusters.simulated.builtin.registry import further_kinds

    return any(rules.apply_to(plain.kind) for plain in further_kinds())


def _key(fault: Fault) -> bytes:
    """Faults hold patches, which do not hash; what they are spelled as does."""
    return canonical.encode(fault.to_data())


def _never() -> bool:
    return False
