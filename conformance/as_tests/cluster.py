"""A simulated cluster for one test: `assay_cluster`.

The cluster lives in virtual time, and stands still until the test advances it. Programs that the
test runs against it live in real time: before virtual time goes on, `advance` gives them the
chance to react to each change that they watch. docs/pytest.md says what that can show, and what
it cannot.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import chaos.faults  # noqa: F401 - registers every fault
from chaos.fault import Fault, fault_from_data
from chaos.faults import Kill
from chaos.injector import Injected, Injector
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.controllers import SHORT_NAMES
from clusters.simulated.controllers.settings import Settings
from clusters.simulated.serve.certificate import make_certificate
from clusters.simulated.serve.registered_webhooks import RegisteredWebhooks, Services
from clusters.simulated.serve.server import serve
from conformance.as_tests.judging import Judgement, judged
from conformance.cli.manifest_files import create, manifests_in
from conformance.history import History
from conformance.running.run_options import DEFAULT_SEED
from conformance.suite import load as suites
from conformance.worlds.served.faults import FaultGate, ServedGround
from conformance.worlds.served.program import Program
from conformance.worlds.served.programs import Programs
from conformance.worlds.served.recording import end, header_of, is_at_rest
from vocabulary.clock import SECOND, Micros
from vocabulary.durations import parse_span
from vocabulary.history import (
    AT_REST,
    OPERATOR,
    Header,
    OperatorFacts,
    write_history,
)
from vocabulary.kinds import Kind
from vocabulary.objects import Object

if TYPE_CHECKING:
    from kubernetes.client import ApiClient

Span: TypeAlias = str | timedelta
"""A span of virtual time: `7d`, `1h30m`, `90s`, or a timedelta."""

USER: Final = "user"
REACTION: Final = "300ms"
"""How long programs must have been quiet, in real time, before virtual time goes on."""
REST_WITHIN: Final = "2h"
_certificate = cache(make_certificate)


class EndedError(RuntimeError):
    """The history of the cluster has ended, since it was judged."""


class FaultRefused(AssertionError):  # noqa: N818 - an outcome of a test, named as the history does
    """A fault that could not be injected here and now; the message says why."""


class Injection:
    """A fault that was injected. Use it as a context manager, or `revert` it."""

    def __init__(self, revert: Callable[[], None], text: str) -> None:
        self._revert = revert
        self.text = text
        """The act in words."""

    def revert(self) -> None:
        """Undo it; nothing happens if that was done before, or where nothing can be undone."""
        self._revert()

    def __enter__(self) -> Injection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.revert()


class AssayCluster:
    """One simulated cluster, served over HTTPS on the loopback address.

    The attributes and methods below are for tests. All paths may be relative, to the directory of
    the test's file. Errors of input are BadInputError, YamlError, PlanError and ValueError, which
    name file, field or value.
    """

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "cluster",
        base: Path | None = None,
        crds: str | Path | Sequence[str | Path] = (),
        load: str | Path | Sequence[str | Path] = (),
        nodes: int = 2,
        gpus: int = 0,
        controllers: Collection[str] | None = None,
        reaction: Span = REACTION,
        services: Mapping[str, str] | None = None,
        seed: int = DEFAULT_SEED,
    ) -> None:
        """Start it. `folder` takes its files; `base` is what relative paths are relative to.

        `crds` and `load` are files and directories to `load`. `nodes` have `gpus` each.
        `controllers` run, by their short names; None: all, (): none, as with envtest. `reaction`
        is how long programs must be quiet, in real time, before virtual time goes on. `services`
        says where webhooks listen: `{"hooks/webhook": "127.0.0.1:9443"}`.
        """
        from conformance.cli.serve import addresses

        self.folder = folder
        self.name = name
        self._base = base or Path()
        self._reaction_s = _span_us(reaction) / SECOND
        self._cluster = SimulatedCluster(
            seed,
            nodes=nodes,
            gpus=gpus,
            settings=Settings(endpoint_slices=True, reads_commands=True, every_kind=True),
            controllers=_full_names(controllers),
            began_us=time.time_ns() // 1_000,
        )
        self._served = serve(
            self._cluster,
            token=secrets.token_urlsafe(32),
            clock="advanced",
            certificate=_certificate(),
        )
        located: Services = addresses([f"{k}={v}" for k, v in (services or {}).items()])
        self._cluster.api.conversion = RegisteredWebhooks(
            self._cluster.api, self._served.lock, located
        ).convert
        self._gate = FaultGate(self._served)
        self._served.gate = self._gate
        self._ground = ServedGround(self._cluster, self._gate.rules)
        self._injector = Injector(self._ground, self._cluster.recorder.fault)
        self._programs = Programs(self._cluster, self._served, self._gate, self._ground, folder)
        self._has_ended = False
        self._served.admit(OPERATOR)
        self._served.start()
        self.kubeconfig = folder / "kubeconfig"
        """The kubeconfig of a user with all rights, for kubectl and other tools."""
        self._config = self._served.write_kubeconfig(self.kubeconfig, actor=USER)
        self.operator_kubeconfig = folder / "operator.kubeconfig"
        """A kubeconfig whose user the history records as the operator under test, with all rights.
        `run` gives it to its program; an operator in a thread of the test takes it from here."""
        self._served.write_kubeconfig(self.operator_kubeconfig, actor=OPERATOR)
        try:
            self.load(*_several(crds), *_several(load))
        except BaseException:
            self.close()
            raise

    @cached_property
    def client(self) -> ApiClient:
        """A client of the official library `kubernetes`: `CoreV1Api(cluster.client)`."""
        from kubernetes.config import new_client_from_config_dict

        made: ApiClient = new_client_from_config_dict(self._config)  # type: ignore[no-untyped-call]
        return made

    @property
    def url(self) -> str:
        """Where the API server listens."""
        return self._served.url

    @property
    def now_us(self) -> Micros:
        """The cluster's time, in microseconds since the Unix epoch."""
        return self._cluster.loop.now_us

    # Objects.

    def load(self, *paths: str | Path) -> list[Object]:
        """Create the objects of these YAML and JSON files and directories, as a user.

        Of each path, CRDs and Namespaces go first. Objects without a namespace go to `default`. The
        result has the objects as they are stored.
        """
        self._require_open()
        found = [each for path in paths for each in manifests_in(self._base / path)]
        with self._served.lock:
            return [create(self._cluster.api, each, USER) for each in found]

    def get(self, kind: str, name: str, namespace: str = "default") -> Object | None:
        """The stored object of a kind, such as `Job` or `Backup.example.dev`; None: there is none.

        For assertions on any kind, without a client for it.
        """
        api = self._cluster.api
        with self._served.lock:
            served = [each for each in api.kinds.values() if kind in (str(each), each.kind)]
            if len(served) != 1:
                known = ", ".join(map(str, served)) or "it does not; load its CRD first"
                raise ValueError(f"{kind}: has to name one kind that is served; here: {known}")
            of: Kind = served[0]
            return api.store.get((of.group_kind, namespace if of.namespaced else "", name))

    # Time.

    def advance(self, span: Span) -> None:
        """Let virtual time pass, in step with programs.

        At each change that a client watches, time stands still until all clients and programs have
        been quiet for `reaction`. UnsettledError if they are not within a minute of real time.
        """
        self._require_open()
        self._advance(_span_us(span), lambda: False)

    def rest(self, within: Span = REST_WITHIN) -> bool:
        """Let virtual time pass until nothing is left to do within the next hour, at most so long.

        False if it did not come to that. The history has a mark, `at rest`, if it did.
        """
        self._require_open()
        is_at_rest = self._advance(_span_us(within), self._is_stable)
        if is_at_rest:
            self._cluster.recorder.mark("step", AT_REST)
        return is_at_rest

    def settle(self) -> None:
        """Wait in real time until clients and programs are quiet; virtual time stands still."""
        if self._programs.names or self._gate.has_clients_beside(USER):
            self._served.traffic.settle(
                self._reaction_s, self._programs.busy, starved_s=self._programs.starved_s
            )
        if self._served.failure is not None:
            raise self._served.failure

    def _advance(self, span_us: Micros, is_over: Callable[[], bool]) -> bool:
        clock, traffic = self._served.clock, self._served.traffic
        return clock.advance_in_step(span_us, traffic, self.settle, is_over)

    def _is_stable(self) -> bool:
        return is_at_rest(self._cluster)

    # Programs and faults.

    def run(
        self,
        command: str | Sequence[str],
        *,
        role: str = OPERATOR,
        replica: int = 0,
        service_account: str = "",
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
    ) -> Program:
        """Start a program against the cluster, and wait until it has settled.

        It finds the cluster by KUBECONFIG, in which it is `role` to the history. With
        `service_account`, as `NAMESPACE/NAME`, it has the rights of that account, else all. It ends
        with the test; if it ends by itself, it starts again as a container does, in virtual time.
        ProgramEndedError if it ends before it has settled.
        """
        self._require_open()
        folder = None if cwd is None else self._base / cwd
        program = self._programs.add(
            command,
            role=role,
            replica=replica,
            service_account=service_account,
            environment=env or {},
            folder=folder,
        )
        self.settle()
        self._programs.starting = ""
        return program

    def inject(self, fault: Fault | Mapping[str, Any]) -> Injection:
        """Inject a fault of `chaos.faults`, or one as plans spell it: `{"cordon": {"node": "n0"}}`.

        Spans of a fault are virtual. FaultRefused if it cannot be injected here and now.
        """
        self._require_open()
        found = fault if isinstance(fault, Fault) else fault_from_data(fault)
        with self._served.lock:
            done = self._injector.inject(found)
            refusal = self._injector.refusal
        if refusal:
            raise FaultRefused(f"{found.describe()}: {refusal}")
        return Injection(lambda: self._revert(done), found.describe())

    def _revert(self, done: Iterable[Injected]) -> None:
        with self._served.lock:
            for each in done:
                self._injector.revert(each)

    def kill(self, process: str = OPERATOR, *, restart_after: Span | None = "2s") -> None:
        """Kill a process: a program by its role, or `scheduler`, `job-controller`, `kubelet/n0`.

        It starts again after a span of virtual time; None: when the test says `start`.
        """
        after_us = None if restart_after is None else _span_us(restart_after)
        self.inject(Kill(actor=process, restart_after=after_us))

    def start(self, process: str = OPERATOR) -> None:
        """Start a process that was killed, and wait until it has settled."""
        self._require_open()
        with self._served.lock:
            self._ground.processes.start(process)
        self.settle()

    # Verdicts.

    @property
    def history(self) -> History:
        """All that has been recorded until now, indexed."""
        with self._served.lock:
            return History(self._header(OPERATOR, OperatorFacts()), self._entries())

    def judge(
        self,
        suite: str = OPERATOR,
        *,
        armed: Collection[str] = (),
        undisturbed: Sequence[History] = (),
        facts: OperatorFacts | None = None,
    ) -> Judgement:
        """Stop all faults, come to rest, and evaluate the claims of a suite on the history.

        It ends the history. Raises ClaimViolatedError if a claim is violated, and NotArmedError if
        one of `armed` was not put to the test. `undisturbed` are the histories of two judged
        clusters that saw the same without faults: claims that compare ends need them. `facts` has
        what the operator is meant to do, such as `OperatorFacts(keeps=("PersistentVolumeClaim",))`.
        """
        known = suites()
        if suite not in known:
            raise ValueError(f"judge: {suite!r}: there is no such suite; name {', '.join(known)}")
        self._end()
        header = self._header(suite, facts or OperatorFacts())
        return judged(header, self._entries(), suite, armed, undisturbed)

    def write_history(self, path: str | Path) -> None:
        """Write the history to a file, for `assay explain` and `assay verify`."""
        with self._served.lock:
            write_history(
                self._base / path, self._header(OPERATOR, OperatorFacts()), self._entries()
            )

    def _end(self) -> None:
        if self._has_ended:
            return
        recorder = self._cluster.recorder
        with self._served.lock:
            self._injector.stop()
            recorder.mark("faults-stopped")
        self._advance(_span_us(REST_WITHIN), self._is_stable)
        with self._served.lock:
            end(self._cluster)
            self._last = len(recorder.entries)
            self._has_ended = True

    def _entries(self) -> tuple[Any, ...]:
        entries = self._cluster.recorder.entries
        return tuple(entries[: self._last] if self._has_ended else entries)

    def _header(self, suite: str, facts: OperatorFacts) -> Header:
        roles = {*self._ground.roles}
        if suite != OPERATOR and not {*suites()[suite].roles} & roles:
            wanted = ", ".join(suites()[suite].roles) or "none"
            raise ValueError(
                f"judge: {suite!r} is about programs of the role {wanted}; run one with "
                f"run(…, role=…). Here: {', '.join(sorted(roles))}"
            )
        return header_of(self._cluster, f"{suite}/pytest/{self.name}", roles, facts)

    # The end.

    def _require_open(self) -> None:
        if self._has_ended:
            raise EndedError("judge() has ended the history of this cluster; judge last")

    @property
    def outputs(self) -> Mapping[str, str]:
        """The end of each program's output, by its name."""
        return self._programs.outputs

    def close(self) -> None:
        """End all programs, and stop serving. The fixture does so after the test."""
        self._programs.kill()
        self._served.close()
        made = self.__dict__.get("client")
        if made is not None:
            made.close()


@contextmanager
def clusters(
    folder: Callable[[], Path], name: str, base: Path
) -> Iterator[Callable[..., AssayCluster]]:
    """A function that starts clusters, all of which end with the block."""
    started: list[AssayCluster] = []

    def start(**options: Any) -> AssayCluster:
        found = AssayCluster(folder(), name=name, base=base, **options)
        started.append(found)
        return found

    try:
        yield start
    finally:
        for each in reversed(started):
            each.close()


def _span_us(span: Span) -> Micros:
    if isinstance(span, timedelta):
        return round(span.total_seconds() * SECOND)
    return parse_span(span)


def _several(paths: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [paths] if isinstance(paths, str | Path) else paths


def _full_names(controllers: Collection[str] | None) -> set[str] | None:
    if controllers is None:
        return None
    full = {name: name for name in SHORT_NAMES.values()} | dict(SHORT_NAMES)
    unknown = sorted(set(controllers) - full.keys())
    if unknown:
        raise ValueError(
            f"controllers: {unknown[0]!r} is not a controller; there are {', '.join(SHORT_NAMES)}"
        )
    return {full[name] for name in controllers}
