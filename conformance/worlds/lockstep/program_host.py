"""The programs of one role in one run, with their files, ports and webhooks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from clusters.control_plane.ports import free_ports
from clusters.simulated.admission_webhooks import AdmissionWebhooks
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.custom_resources.conversion import of_definitions
from clusters.simulated.serve.kubeconfig import kubeconfig, write_kubeconfig
from conformance.implementations.under_test import (
    READY_AFTER_SECONDS,
    Launch,
    OwnWebhooks,
    Place,
    UnderTest,
)
from conformance.worlds.control_plane.network import (
    MachineNetwork,
    NamedMachine,
    Network,
    NetworkNamespace,
    why_no_hostname_can_be_given,
    why_none_can_be_made,
)
from conformance.worlds.lockstep.health_probe import HealthProbe
from conformance.worlds.lockstep.outgoing import Outgoing
from conformance.worlds.lockstep.own_files import SERVICE_ACCOUNT, has_own
from conformance.worlds.lockstep.pacing import BusyError, Pacing
from conformance.worlds.lockstep.program_process import ProgramProcess
from conformance.worlds.lockstep.serving_certificate import ServingCertificates
from conformance.worlds.lockstep.webhook_exchange import https_exchange
from conformance.worlds.simulated.connection import Connection
from conformance.worlds.simulated.versions import Versions
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.history import label_of
from vocabulary.objects import Object, name_of
from vocabulary.requests import Get, Request, Update, create

READY_WITHIN_US: Final = 120 * SECOND
LOOK_EVERY_US: Final = 20 * MILLISECOND
TIMEOUT_SECONDS: Final = 10
"""The timeoutSeconds of a webhook that names none."""


class ProgramHost:
    """Makes them; none is started."""

    def __init__(
        self,
        versions: Versions[UnderTest],
        config: Callable[[], Mapping[str, Any]],
        *,
        cluster: SimulatedCluster,
        pacing: Pacing,
        connection: Connection,
        namespaces: tuple[str, ...],
        elects: bool,
        run: str,
        on_crash: Callable[[str, Exception], None],
    ) -> None:
        """`config` returns the configuration of a process that starts now; `run` identifies the
        run: a repetition gets the same."""
        self._versions = versions
        self._config = config
        self._cluster = cluster
        self._pacing = pacing
        self._connection = connection
        self._namespaces = namespaces
        self._elects = elects
        self._run = run
        self._on_crash = on_crash
        self._folder = tempfile.TemporaryDirectory(prefix="assay-run-")
        self._processes: dict[str, ProgramProcess] = {}
        self._ports: dict[str, tuple[int, int]] = {}
        self._launches: dict[str, Launch] = {}
        self._webhooks: AdmissionWebhooks | None = None
        self._certificates = ServingCertificates(
            cluster, versions.present.role, namespaces[0], self._wake_all
        )

    def add(self, name: str, stream: str) -> ProgramProcess:
        """The process of that name; `stream` names its random streams."""
        path = Path(self._folder.name)
        health, webhook = free_ports(2)
        ports = self._ports[name] = health, webhook
        process = self._processes[name] = ProgramProcess(
            name,
            partial(self._launch, name),
            network=self._new_network(label_of(name)),
            pacing=self._pacing,
            loop=self._cluster.loop,
            api=self._cluster.api,
            connection=self._connection,
            outgoing=Outgoing(
                name,
                self._namespaces[0],
                self._cluster.api,
                self._cluster.recorder,
                lambda: self._versions.present.answers,
            ),
            log=path / f"{label_of(name)}.log",
            on_end=self._ended,
            stream=stream,
            run=self._run,
            ports=ports,
        )
        file = path / f"{label_of(name)}.kubeconfig"
        write_kubeconfig(file, kubeconfig(process.url, "", namespace=self._namespaces[0]))
        return process

    def wait_ready(self, run_for: Callable[[Micros], None]) -> str:
        """Let time pass until those that run are ready; why one is not, or nothing."""
        for name, process in self._processes.items():
            if not process.running:
                continue
            connect = partial(process.network.connect, self._ports[name][0])
            path = self._launches[name].ready_path
            if not path:
                run_for(READY_AFTER_SECONDS * SECOND)
                continue
            probe = HealthProbe(connect, path, process.settle)
            try:
                why = self._why_not_ready(process, probe, run_for)
            except BusyError as busy:
                why = f"{busy}; {process.last_words}"
            if why:
                probe.close()
                return why
        return self._await_webhooks(run_for)

    def admission(
        self, request: Request, actor: str, new: dict[str, Any], old: Object | None
    ) -> dict[str, Any]:
        """Its webhooks, as a hook of the simulated API server."""
        if self._webhooks is None:
            return new
        return self._webhooks.mutate(request, actor, new, old)

    def validating_admission(
        self, request: Request, actor: str, new: Object | None, old: Object | None
    ) -> None:
        """The same for those that only refuse."""
        if self._webhooks is not None:
            self._webhooks.validate(request, actor, new, old)

    def failed_call(self, since_us: Micros) -> str:
        """The last call to another machine that failed after that time, in words."""
        told = (it.outgoing.failed_since(since_us) for it in self._processes.values())
        return next(filter(None, told), "")

    def report_panics(self) -> None:
        """Those that the processes have recovered from."""
        for process in self._processes.values():
            for panic in process.panics:
                self._on_crash(process.name, panic)

    def close(self) -> None:
        """End the processes, and remove their files."""
        for process in self._processes.values():
            process.close()
        self._folder.cleanup()

    # Inside.

    def _why_not_ready(
        self, process: ProgramProcess, probe: HealthProbe, run_for: Callable[[Micros], None]
    ) -> str:
        until_us = self._cluster.loop.now_us + READY_WITHIN_US
        while not probe.is_ready():
            if self._cluster.loop.now_us > until_us:
                return (
                    f"{process.name} is not ready after {READY_WITHIN_US // SECOND} s: "
                    f"{probe.answered}; {process.last_words}"
                )
            if not process.running:
                return f"{process.name} ended before it was ready"
            if not process.starts_now:  # else it listens already, or does not, as chance has it
                probe.ask()
            run_for(LOOK_EVERY_US)
        return ""

    def _await_webhooks(self, run_for: Callable[[Micros], None]) -> str:
        """Let time pass until the API server reaches the webhooks, which a program may begin to
        serve long after it has called itself ready: no user would go on before."""
        served = {
            process: webhooks.port
            for name, process in self._processes.items()
            if process.running and (webhooks := self._launches[name].webhooks) is not None
        }
        until_us = self._cluster.loop.now_us + READY_WITHIN_US
        while served and not any(process.listens_on(port) for process, port in served.items()):
            if self._cluster.loop.now_us > until_us:
                process, port = next(iter(served.items()))
                return (
                    f"{process.name} is ready, and does not serve its webhooks on port {port} "
                    f"after {READY_WITHIN_US // SECOND} s; correct process.webhooks, or leave it "
                    f"out if they are switched off; {process.last_words}"
                )
            run_for(LOOK_EVERY_US)
        return ""

    def _wake_all(self) -> None:
        for process in self._processes.values():
            process.wake()

    def _ended(self, name: str, error: Exception) -> None:
        self._on_crash(name, error)
        self._cluster.processes.ended(name)

    def _new_network(self, hostname: str) -> Network:
        """That of one program, which has a host name as in a pod; ports that it cannot choose, of
        which no profile may say anything, are free in its own. Either is left out if this user may
        not give it."""
        if why_no_hostname_can_be_given():
            hostname = ""
        if not why_none_can_be_made():
            return NetworkNamespace(hostname)
        return NamedMachine(hostname) if hostname else MachineNetwork()

    def _launch(self, name: str) -> Launch:
        health_port, webhook_port = self._ports[name]
        folder = Path(self._folder.name)
        label = label_of(name)
        before, version = self._versions.present, self._versions.of_start(name)
        if version is not before:
            self._webhooks = None
        launch = self._launches[name] = version.launch(
            Place(
                label=label,
                folder=folder,
                kubeconfig=folder / f"{label}.kubeconfig",
                namespace=self._namespaces[0],
                beside=self._namespaces[1:],
                health_port=health_port,
                webhook_port=webhook_port,
                config=self._config(),
                elects=self._elects,
            )
        )
        self._apply(launch.objects)
        mounts = {SERVICE_ACCOUNT: self._service_account()}
        webhooks = launch.webhooks
        if (
            webhooks is not None
            and has_own(webhooks.folder)
            and folder not in webhooks.folder.parents
        ):
            mounts[webhooks.folder] = folder / f"{label}-certificates"
            webhooks = replace(webhooks, folder=mounts[webhooks.folder])
        launch = replace(launch, mounts=mounts)
        if webhooks is None:
            return launch
        self._certificates.mount(webhooks)
        if self._webhooks is None:
            self._webhooks = self._admission_webhooks(webhooks)
        return launch

    def _service_account(self) -> Path:
        """The directory that a pod of the run's namespace has of its service account. It lacks the
        token: each process has its own kubeconfig."""
        folder = Path(self._folder.name) / "service-account"
        folder.mkdir(exist_ok=True)
        (folder / "namespace").write_text(self._namespaces[0])
        return folder

    def _apply(self, objects: Iterable[Object]) -> None:
        """Create what a program finds when it starts, or bring that up to date.

        Not recorded: it names ports and directories, which are others in each run, and the
        history's header has the settings.
        """
        handle = self._cluster.api.handle
        for each in objects:
            creation = create(each)
            self._cluster.recorder.unrecorded.add((creation.kind.group_kind, creation.name))
            try:
                handle(Get(creation.kind, creation.namespace, creation.name), "harness")
            except ApiError as error:
                if not error.is_not_found:
                    raise
                handle(creation, "harness")
            else:
                handle(Update(creation.kind, each), "harness")

    def _admission_webhooks(self, served: OwnWebhooks) -> AdmissionWebhooks:
        fixed_port = self._versions.present.fixed_port
        exchanges = {
            name: https_exchange(
                partial(process.network.connect, fixed_port or self._ports[name][1]),
                process.settle,
                process.await_input,
            )
            for name, process in self._processes.items()
        }

        def exchange(webhook: Object, review: bytes) -> bytes:
            path = webhook["clientConfig"]["service"].get("path", "/")
            within_us = webhook.get("timeoutSeconds", TIMEOUT_SECONDS) * SECOND
            refused = ConnectionRefusedError("connect: connection refused")
            for it in self._processes.values():
                if not it.running or it.paused:
                    continue
                try:
                    return it.asked(partial(exchanges[it.name], path, review), within_us)
                except ConnectionRefusedError as error:
                    refused = error  # it is starting; a Service would lead to others
                except TimeoutError:
                    raise BusyError(
                        f"{it.name}: its webhook {path} does not answer, while all others stand "
                        "still; run it with --cluster control-plane"
                    ) from None
            raise refused

        api, own = self._cluster.api, {name_of(crd) for crd in self._versions.present.crds()}

        def convert(definition: Object, review: bytes) -> bytes:
            return exchange(definition["spec"]["conversion"]["webhook"], review)

        # It converts its own resources; those of others are theirs.
        api.conversion = of_definitions(own, convert, api.conversion)
        return AdmissionWebhooks(api, served.configurations, exchange)
