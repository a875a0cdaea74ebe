"""The real world of one run: namespace and nodes of its own on a session's control plane."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final

from chaos.fault import Fault
from chaos.happening import Happening, Place
from chaos.injector import Injected, Injector
from chaos.plan import Plan, Step
from conformance.editions import of_run
from conformance.scenario_type import Scenario
from conformance.suite import load as suites
from conformance.world import World
from conformance.worlds.control_plane.at_rest import are_at_rest
from conformance.worlds.control_plane.commit_teller import CommitTeller
from conformance.worlds.control_plane.connections import Connections
from conformance.worlds.control_plane.leaders import Leaders
from conformance.worlds.control_plane.manifest_for_run import ManifestForRun
from conformance.worlds.control_plane.operator_process import RealOperator
from conformance.worlds.control_plane.operator_rights import may_have_to_do_with
from conformance.worlds.control_plane.processes import RealProcesses
from conformance.worlds.control_plane.recorder import Commit, wall_us
from conformance.worlds.control_plane.resync_trigger import ResyncTrigger
from conformance.worlds.control_plane.role_operators import RoleOperators
from conformance.worlds.control_plane.run_record import BARRIER_SECONDS, RunRecord
from conformance.worlds.control_plane.session import NotLentError, Session
from vocabulary import canonical
from vocabulary.bug import in_words
from vocabulary.clock import SECOND, Micros
from vocabulary.history import Entry, Header
from vocabulary.kinds import LEASE, Kind, kind_of
from vocabulary.objects import Object, labels_of
from vocabulary.requests import Request, as_served
from vocabulary.selectors import parse_selector

REPLICAS: Final = 2
"""Of an operator that the suite starts; the second one is started by some scenarios and faults."""
QUIET_US: Final = 1_500_000
"""Nothing was written in the run's namespace for so long, or for as long as an operator may take to
react if that is more, and the workload is settled."""
PATIENCE_US: Final = 90 * SECOND
PATIENCE_ATTEMPTS: Final = 3
"""A wait lasts for so many attempts at their longest, if that is more."""
LEADER_US: Final = 20 * SECOND
LOOK_SECONDS: Final = 0.5
DOWN: Final = ("killed", "stopped", "ended")


class ControlPlaneWorld(World):
    """One run's world. Build it, let a scenario's steps use it, `finish` it, `close` it."""

    def __init__(
        self,
        session: Session,
        scenario: Scenario,
        seed: int,
        plan: Plan | None,
        stretch: int = 1,
        edition: str = "",
    ) -> None:
        """`stretch` multiplies durations beyond what the machine's pace asks for; `edition` is the
        one to judge by."""
        self.session = session
        self.scenario = scenario
        self.seed = seed
        self.folder = scenario.folder
        self.roles = scenario.roles
        self._editions = of_run(scenario.id, scenario.roles, edition)
        self._of_role = {
            role: RoleOperators(session, scenario, role, stretch, edition) for role in self.roles
        }
        self.durations = self._of_role[scenario.timed_by].settings.durations
        latencies = (
            each.implementation.facts.detection_latency_us or 0 for each in self._of_role.values()
        )
        self._quiet_us = max(QUIET_US, *latencies)
        self._chaos_lock = threading.RLock()
        """Rules and injector are made for one thread; many are at work here."""
        self._rngs: dict[str, random.Random] = {}
        self._injected: dict[bytes, list[Injected]] = {}
        self._ended: set[str] = set()
        """Operators that have ended and are not ready again."""
        self._closed = threading.Event()
        with ExitStack() as begun:
            self._take_place(begun)
            self._make_operators(begun)
            self._expose_to(plan)
            self._start(begun, plan)
            self._begun = begun.pop_all()

    def _take_place(self, begun: ExitStack) -> None:
        """Namespace, nodes and folder."""
        self.namespace = self.session.new_namespace()
        begun.callback(self.session.end_run, self.namespace)
        self.namespaces = {
            name: self.session.add_namespace(self.namespace, name)
            for name in self.scenario.namespaces
        }
        self.prefix = f"{self.namespace}-"
        self._zones: dict[str, str] = {}
        for each in self._of_role.values():
            if self.namespaces and not each.implementation.acts_in_several_namespaces:
                name = each.implementation.name
                self.not_ready = f"{name} acts in one namespace, and the scenario has several"
        try:
            self._zones = self.session.take_nodes(self.namespace, self.scenario)
        except NotLentError as error:
            self.not_ready = str(error)
        self.nodes = tuple(self._zones)
        self._manifests = ManifestForRun.of(
            self.namespace,
            self.session.pod_image,
            self.durations,
            counts_requests=any(suites()[role].counts_requests for role in self._of_role),
        )
        self._work = self.session.folder / self.namespace
        self._work.mkdir()
        self._began_us = self._last_write_us = wall_us()

    def _make_operators(self, begun: ExitStack) -> None:
        """They are down as yet; what they will find is there."""
        session = self.session
        for group in self._of_role.values():
            group.make(self._own_namespaces, self._work, self._record_process, begun)
        groups = self._of_role.values()
        self._users = {name: user for each in groups for name, user in each.users.items()}
        self._proxies = {name: proxy for each in groups for name, proxy in each.proxies.items()}
        self._operators = {name: it for each in groups for name, it in each.operators.items()}
        self._leaders = Leaders(self._operators, self._record_process)
        self._own_webhooks = [each.own_webhooks for each in groups if each.own_webhooks is not None]
        self._record = RunRecord(
            session,
            self.namespace,
            self.nodes,
            scenario=self.scenario.id,
            seed=self.seed,
            operators={role: each.in_header for role, each in self._of_role.items()},
            editions=self._editions,
            began_us=self._began_us,
            users=self._users,
            webhooks=self._own_webhooks,
        )
        own = session.components(self._zones, self._record_process) if self.scenario.alone else {}
        self._processes = RealProcesses(self._operators, own)
        begun.callback(self._processes.end)

    def _expose_to(self, plan: Plan | None) -> None:
        """Put chaos between the operators and the API server."""
        recorder = self.session.recorder
        self._connection = Connections(
            tuple(self._proxies.values()),
            tuple(webhooks for each in self._of_role.values() for webhooks in each.webhooks),
        )
        self._injector = Injector(self, self._record.fault, plan)
        self._teller = None if plan is None else CommitTeller(self._observe)
        for proxy in self._proxies.values():
            proxy.lock = self._chaos_lock
            proxy.revision = lambda: recorder.revision
            proxy.injector = self._injector if plan is not None else None
            proxy.teller = self._teller
            proxy.followed = frozenset(map(str, recorder.kinds))

    def _start(self, begun: ExitStack, plan: Plan | None) -> None:
        """Everything moves from now on, the plan last."""
        session = self.session
        call = session.connections["harness"].handle
        self._triggers = [
            ResyncTrigger(each.poke_every_us, each.suite.kinds, self._own, call)
            for each in self._of_role.values()
        ]
        for proxy in self._proxies.values():
            proxy.start()
        session.recorder.listeners.append(self._on_commit)
        begun.callback(session.recorder.listeners.remove, self._on_commit)
        if not self.not_ready:
            self.not_ready = self._start_operators() or "".join(
                webhooks.wait_reached() for webhooks in self._own_webhooks
            )
            session.starts.note(self.not_ready)
        for trigger in self._triggers:
            trigger.start()
            begun.callback(trigger.stop)
        with self._chaos_lock:
            self._injector.start()
        begun.callback(self._closed.set)
        if plan is not None:
            threading.Thread(target=self._keep_time, name="plan", daemon=True).start()

    @property
    def _own_namespaces(self) -> tuple[str, ...]:
        return (self.namespace, *self.namespaces.values())

    # What faults stand on (chaos.ground.Ground).

    @property
    def processes(self) -> RealProcesses:
        return self._processes

    @property
    def connection(self) -> Connections:
        return self._connection

    def rng(self, name: str) -> random.Random:
        return self._rngs.setdefault(name, random.Random(f"{self.seed}/{name}"))

    def concerned(self, kind: str) -> tuple[str, ...]:
        groups = self._of_role.items()
        return tuple(r for r, it in groups if may_have_to_do_with(kind, it.implementation))

    def elapsed_us(self) -> Micros:
        return wall_us() - self._began_us

    # What scenarios stand on (World).

    @property
    def now_us(self) -> Micros:
        return wall_us()

    def call(self, request: Request, actor: str = "chaos") -> Any:
        if actor == "chaos":
            self._manifests.require_possible(request)
        asked = as_served(request, self.served(request.kind), self.namespace)
        return self.session.connections[actor].handle(self.session.as_sent(asked))

    def served(self, kind: Kind) -> Kind:
        return self.session.discovery.served_or_unknown(kind)

    def create(self, obj: Object, actor: str = "user") -> Object:
        return self._shown(super().create(obj, actor))

    def patch(
        self, kind: Kind, name: str, body: Any, actor: str = "user", *, namespace: str = ""
    ) -> Object:
        return self._shown(super().patch(kind, name, body, actor, namespace=namespace))

    def _shown(self, written: Object) -> Object:
        """A scenario reads what it has written, though `get` asks what watches have shown."""
        self.session.recorder.await_shown(self.served(kind_of(written)), written)
        return written

    def get(self, kind: Kind, name: str, *, namespace: str = "") -> Object | None:
        return self.session.recorder.stored(self.served(kind), namespace or self.namespace, name)

    def list(
        self, kind: Kind, label_selector: str = "", *, namespace: str = ""
    ) -> tuple[Object, ...]:
        selects = parse_selector(label_selector)
        if self.served(kind).namespaced:
            found = self.session.recorder.stored_of_kind(kind, namespace or self.namespace)
        else:
            found = self._own(kind)
        return tuple(obj for obj in found if selects(labels_of(obj)))

    def _own(self, kind: Kind) -> tuple[Object, ...]:
        """The run's objects of a kind, in all of its namespaces."""
        recorder = self.session.recorder
        scopes = (*recorder.scopes(self.namespace), *self.nodes)
        return tuple(
            obj for scope in dict.fromkeys(scopes) for obj in recorder.stored_of_kind(kind, scope)
        )

    def wait(self, span_us: Micros) -> None:
        deadline = time.monotonic() + span_us / SECOND
        while (left := self.session.seconds_until(deadline)) > 0:
            time.sleep(min(left, LOOK_SECONDS))

    def _wait_until(self, done: Callable[[], bool], within_us: Micros) -> bool:
        """Check again whenever a watch has reported something new."""
        deadline = time.monotonic() + within_us / SECOND
        changed = self.session.recorder.changed
        with changed:
            while not done():
                left = self.session.seconds_until(deadline)
                if left <= 0:
                    return False
                changed.wait(min(left, LOOK_SECONDS))
        return True

    @property
    def patience_us(self) -> Micros:
        attempt_us = max(
            each.settings.durations.attempt_bound_us for each in self._of_role.values()
        )
        return max(PATIENCE_US, PATIENCE_ATTEMPTS * attempt_us)

    def _inject(self, fault: Fault, *, is_repeated: bool = False) -> str:
        with self._chaos_lock:
            done = self._injector.inject(fault, is_repeated=is_repeated)
            refusal = self._injector.refusal
        self._injected.setdefault(_key(fault), []).extend(done)
        return refusal

    def revert(self, fault: Fault) -> None:
        with self._chaos_lock:
            for injected in self._injected.pop(_key(fault), ()):
                self._injector.revert(injected)

    def install(self, crd: str) -> None:
        """The session has installed every definition of the suite already, before the KCM."""

    def prepare(self, obj: Object) -> dict[str, Any]:
        asked = self._manifests.tailored(obj, self.served(kind_of(obj)))
        for each in self._of_role.values():
            asked = each.settings.asked_for(asked)
        return asked

    # The end of a run.

    def finish(self) -> None:
        """Stop the faults, then let the workload settle: the progress phase."""
        self._wait_until(lambda: not self._is_plan_waiting() or self.is_stable(), self.patience_us)
        with self._chaos_lock:
            self._injector.stop()
        for proxy in self._proxies.values():
            proxy.injector = None
        self._last_write_us = wall_us()  # what was broken until now has not been quiet
        self.mark("faults-stopped")
        is_stable = self._wait_until(self.is_stable, self.patience_us)
        for name, operator in self._operators.items():
            for panic in operator.panics if isinstance(operator, RealOperator) else ():
                self.mark("step", f"{name} raised {in_words(panic)}")
        self.mark("stable" if is_stable else "not-stable")
        self._wait_until(lambda: self.session.recorder.is_watching, self.patience_us)
        time.sleep(BARRIER_SECONDS)
        self.mark("end")

    def _is_plan_waiting(self) -> bool:
        """True if faults of the plan may strike after the last step, or last beyond it."""
        with self._chaos_lock:
            return self._injector.is_waiting

    def _is_operator_on_its_way(self) -> bool:
        """True if an operator that was ended will be started again, or has not come up yet."""
        return self._processes.awaits_restart or any(
            self._processes.state(name) == "running" for name in tuple(self._ended)
        )

    def is_stable(self) -> bool:
        """Every object under test is where it may stay, and nothing was written for a while."""
        if wall_us() - self._last_write_us < self._quiet_us or self._is_operator_on_its_way():
            return False
        uses = [
            replace(use, kind=self.served(use.kind))
            for each in self._of_role.values()
            for use in each.suite.kinds
        ]
        seen = all(use.is_at_rest(obj) for use in uses for obj in self._own(use.kind))
        call = self.session.connections["harness"].handle
        return seen and are_at_rest(uses, call, self._own_namespaces)

    def close(self) -> None:
        """End the operators and give back what the run had for itself."""
        self._begun.close()

    @property
    def leader(self) -> str:
        return self._leaders.of(self._of_role[self.scenario.role].operators)

    @property
    def strikes(self) -> int:
        return self._injector.strikes

    @property
    def struck(self) -> tuple[Step, ...]:
        return self._injector.struck

    def history(self) -> tuple[Header, tuple[Entry, ...]]:
        """Return the recorded history."""
        return self._record.history()

    def history_so_far(self) -> tuple[Header, tuple[Entry, ...], bool]:
        """Return its settled part while the run continues; see `RunRecord`."""
        return self._record.history_so_far()

    @property
    def heard(self) -> int:
        """How much there is to make a history of; grows with the run."""
        return self._record.heard

    def mark(self, mark: Any, text: str = "") -> None:
        self._record.mark(mark, text)

    # Inside.

    def _start_operators(self) -> str:
        """Start those of each role and wait until they are ready, or why they are not; the first
        of several is to lead."""
        started: list[str] = []
        for each in self._of_role.values():
            names = tuple(each.operators)[: self.scenario.operators]
            started += names
            for name in names:
                self._processes.start(name)
                if len(names) > 1:
                    self._wait_until(partial(self._leaders.has_one_of, names), LEADER_US)
        return self._processes.wait_ready(started)

    def _record_process(self, process: str, change: Any) -> None:
        if process in self._users and change in DOWN:
            self._ended.add(process)
        elif process in self._users and change == "started":
            self._ended.discard(process)
            self._last_write_us = wall_us()  # it begins with a look at everything
        if process in self._proxies and change in DOWN:
            self._proxies[process].hang_up()
        if not self._closed.is_set():
            self._record.process(process, change)

    def _on_commit(self, scope: str, commit: Commit) -> None:
        is_own = scope == self.namespace or scope.startswith(self.prefix)
        if not is_own and scope not in self.nodes:
            return
        if commit.kind == LEASE:
            self._leaders.seen(commit)
            return
        made = [trigger.made(commit.kind, commit.object) for trigger in self._triggers]
        if is_own and scope not in self.nodes and not any(made):
            self._last_write_us = wall_us()
        if self._teller is None:
            return
        with self._chaos_lock:
            self._teller.seen(commit.as_write())

    def _observe(self, happening: Happening) -> None:
        if self._injector.listens(Place.AFTER_COMMIT):
            self._injector.observe(happening)

    def _keep_time(self) -> None:
        """Strike when the plan's next point in time has come."""
        while not self._closed.is_set():
            with self._chaos_lock:
                self._injector.advance()
                due_us = self._injector.next_due_us()
            left_us = 50_000 if due_us is None else due_us - self.elapsed_us()
            self._closed.wait(min(max(left_us, 1_000), 50_000) / SECOND)


def _key(fault: Fault) -> bytes:
    """Faults hold patches, which do not hash; what they are spelled as does."""
    return canonical.encode(fault.to_data())
