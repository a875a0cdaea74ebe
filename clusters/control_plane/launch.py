"""Start a control plane, and kill, pause, resume and restart its components."""

from __future__ import annotations

import os
import shutil
import signal
import threading
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import yaml

from clusters.control_plane import (
    audit,
    binaries,
    commands,
    crds,
    health,
    kubeconfig,
    kwok,
    pki,
    process,
    starting,
    state,
    users,
)
from clusters.control_plane.api import Api
from clusters.control_plane.layout import Layout
from clusters.control_plane.ports import LOOPBACK, free_ports
from clusters.control_plane.settings import Settings
from clusters.control_plane.starting import READY_LIMIT_SECONDS, StartError
from clusters.control_plane.waiting import wait_until


class AlreadyRunningError(Exception):
    """The directory belongs to a control plane that has not been stopped."""


class ControlPlane:
    """A real control plane in one directory.

    As a context manager it is started on entry and stopped on exit. The kernel also ends its
    processes when the process that started them ends in any way. With `detached` they outlive
    it, and `ControlPlane.attach` finds them again.
    """

    def __init__(
        self,
        folder: Path,
        settings: Settings | None = None,
        *,
        programs: binaries.Binaries | None = None,
        detached: bool = False,
    ) -> None:
        self.settings = settings or Settings()
        self.layout = Layout(folder.resolve())
        self._programs = programs
        self._detached = detached
        self.turn = threading.RLock()
        """Held while a component is killed, started, paused or resumed; callers that check before
        they act hold it for both."""
        self._stopped = threading.Event()
        """Set once no component must be started any more."""
        self._components: dict[str, state.Component] = {}
        self._tokens: dict[str, str] = {}
        self._server = ""

    @classmethod
    def attach(cls, folder: Path) -> Self:
        """Return the control plane running in `folder`. Raises `FileNotFoundError` if none is."""
        layout = Layout(folder.resolve())
        remembered = state.load(layout.state)
        plane = cls(folder, Settings(zones=remembered.zones), detached=remembered.detached)
        plane._components = {component.name: component for component in remembered.components}
        plane._tokens = remembered.tokens
        plane._server = remembered.server
        return plane

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def server(self) -> str:
        """The API server's address."""
        return self._server

    @property
    def ca(self) -> Path:
        """The CA certificate of the API server and of webhooks."""
        return pki.locate(self.layout.pki).ca.certificate

    @property
    def etcd(self) -> str:
        """The address of etcd, which anybody may write to."""
        return f"http://{LOOPBACK}:{self._components[commands.ETCD].port}"

    @property
    def webhook_pair(self) -> pki.KeyPair:
        """A certificate for webhook servers on the loopback address, `tls.crt` and `tls.key`."""
        return pki.locate(self.layout.pki).webhook

    @property
    def audit_log(self) -> Path:
        """JSON lines, one per write; `audit.read` reads them."""
        return self.layout.audit_log

    @property
    def components(self) -> tuple[str, ...]:
        """Component names, for `kill`, `pause` and so on; a zone's is `kwok.component(zone)`."""
        return tuple(self._components)

    def start(self, crds_to_install: Iterable[Mapping[str, Any]] = ()) -> Self:
        """Start all components; return when they are ready and the CRDs are served.

        A component that ends instead is restarted, see `starting`. If that fails, everything is
        started once more, on other ports: another program may have taken one before its owner
        bound it. A second `StartError` is raised.
        """
        documents = tuple(crds_to_install)
        with suppress(StartError):
            return self._start(documents)
        try:
            return self._start(documents)
        except StartError as error:
            error.add_note("an earlier attempt on other ports failed, too")
            raise

    def _start(self, crds_to_install: Iterable[Mapping[str, Any]]) -> Self:
        # The order matters: CRDs need the API server, and the controller manager needs the CRDs
        # (`crds` says why). Components that depend on neither start at the same time.
        self._stopped.clear()
        self._prepare()
        try:
            for name in (commands.ETCD, commands.API_SERVER):
                self._spawn(name)
            for name in (commands.ETCD, commands.API_SERVER):
                self._wait_started(name)
            zones = self._zone_components()
            for name in (commands.SCHEDULER, *zones):
                self._spawn(name)
            crds.install(self.api(), crds_to_install)
            self._spawn(commands.CONTROLLER_MANAGER)
            for name in (commands.CONTROLLER_MANAGER, commands.SCHEDULER, *zones):
                self._wait_started(name)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End every process; the files stay, for inspection."""
        self._stopped.set()  # whoever waits for a component that he has started, gives up
        with self.turn:
            for component in self._components.values():
                if component.process is not None:
                    component.process.signal(signal.SIGKILL)
            for component in self._components.values():
                self._forget_process(component)
            self._save()

    def kill(self, name: str) -> None:
        """Send SIGKILL, and return when the process is gone."""
        with self.turn:
            component = self._component(name)
            if component.process is not None:
                component.process.signal(signal.SIGKILL)
                self._forget_process(component)
            self._save()

    def restart(self, name: str) -> None:
        """Restart the component with its original command, killing it if it still runs.

        Returns when it is ready; failed starts are retried, see `starting`. After an outage of
        the API server, running fake kubelets are restarted too: a kubelet retries a write whose
        response was lost, KWOK does not, and its pod would be stuck. Controllers recover by
        themselves: immediately after a first outage; after several within two minutes their
        clients wait up to 30 s, as in production.
        """
        with self.turn:
            self._spawn_again(name)
            self._wait_started(name)
            if name in (commands.ETCD, commands.API_SERVER):
                api_server = self._component(commands.API_SERVER)
                starting.wait_ready(api_server, self.layout.log_of(api_server.name), self._stopped)
                zones = [
                    component for component in self._zone_components() if self._acts(component)
                ]
                for zone in zones:
                    self._spawn_again(zone)
                for zone in zones:
                    self._wait_started(zone)

    def pause(self, name: str) -> None:
        """Send SIGSTOP: the process keeps its connections and caches, and does nothing."""
        with self.turn:
            running = self._running(name)
            running.signal(signal.SIGSTOP)
            wait_until(running.is_paused, f"{name} is paused", limit_seconds=READY_LIMIT_SECONDS)

    def resume(self, name: str) -> None:
        """Send SIGCONT: the process continues where `pause` stopped it."""
        with self.turn:
            self._running(name).signal(signal.SIGCONT)

    def install_crds(self, documents: Iterable[Mapping[str, Any]]) -> None:
        """Add CRDs to a running control plane.

        The controller manager is restarted, since its garbage collector learns of new kinds
        immediately only at its start.
        """
        crds.install(self.api(), documents)
        self.restart(commands.CONTROLLER_MANAGER)

    def api(
        self,
        user: users.User = users.HARNESS,
        user_agent: str = "assay",
        patience_seconds: float = 0.0,
    ) -> Api:
        """Return a small client for `user`, one of `users.ALL`; see `Api` for the rest."""
        token = self._tokens[user.name]
        return Api(self._server, self.ca, token, user_agent, patience_seconds)

    def knows(self, user: users.User) -> bool:
        """True if the API server was started with the user; earlier versions had fewer users."""
        return user.name in self._tokens

    def kubeconfig(self, user: users.User = users.ADMIN) -> Path:
        """The kubeconfig of one of `users.ALL`."""
        if user == users.ADMIN:
            return self.layout.admin_kubeconfig
        token = self._tokens[user.name]
        return kubeconfig.write(
            self.layout.kubeconfig_of(user.name),
            kubeconfig.with_token(self._server, self.ca, user.name, token),
        )

    def mint_kubeconfig(self, user: users.User) -> Path:
        """Create a kubeconfig for any other user and groups, with a client certificate."""
        path = self.layout.kubeconfig_of(user.name)
        pair = pki.KeyPair(path.with_suffix(".crt"), path.with_suffix(".key"))
        pki.issue_client(pki.locate(self.layout.pki), pair, user.name, user.groups)
        config = kubeconfig.with_certificate(
            self._server, self.ca, user.name, pair.certificate, pair.key
        )
        return kubeconfig.write(path, config)

    def status(self) -> list[health.ComponentStatus]:
        """Return the status of every component, in the order of their start."""
        return [health.status_of(component) for component in self._components.values()]

    def _prepare(self) -> None:
        """Write every file that the components read, and prepare their commands."""
        self._clear_folder()
        names = [
            commands.ETCD,
            commands.API_SERVER,
            commands.CONTROLLER_MANAGER,
            commands.SCHEDULER,
            *self._zone_components(),
        ]
        with_port = [*names, commands.ETCD_PEER]
        ports = dict(zip(with_port, free_ports(len(with_port)), strict=True))
        plan = commands.Plan(
            binaries=self._programs or binaries.locate(),
            layout=self.layout,
            pki=pki.create(self.layout.pki),
            settings=self.settings,
            ports=ports,
        )
        self._server = f"https://{LOOPBACK}:{ports[commands.API_SERVER]}"
        self._tokens = users.create_tokens()
        users.write_token_file(self.layout.tokens, self._tokens)
        kubeconfig.write(
            self.layout.admin_kubeconfig,
            kubeconfig.with_token(
                self._server, self.ca, users.ADMIN.name, self._tokens[users.ADMIN.name]
            ),
        )
        for user in (users.CONTROLLER_MANAGER, users.SCHEDULER, users.KUBELET):
            self.kubeconfig(user)
        _write_yaml(self.layout.audit_policy, audit.policy(self.settings.audit_reads_of))
        _write_yaml(self.layout.scheduler_configuration, commands.scheduler_configuration(plan))
        for zone in self.settings.zones:
            text = kwok.configuration(self.settings, zone)
            self.layout.kwok_configuration(zone).write_text(text)
        self._components = {
            name: state.Component(name, tuple(commands.argv_of(name, plan)), ports[name])
            for name in names
        }

    def _clear_folder(self) -> None:
        """Remove the files of an earlier control plane, unless it still runs."""
        if self.layout.state.exists():
            earlier = state.load(self.layout.state).components
            if any(component.is_alive() for component in earlier):
                raise AlreadyRunningError(
                    f"a control plane is already running in {self.layout.folder}; stop it with"
                    " `assay cluster down`, or use another directory"
                )
        for folder in self.layout.folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for file in (self.layout.state, self.layout.audit_log):
            file.unlink(missing_ok=True)

    def _spawn(self, name: str) -> None:
        component = self._component(name)
        if self._stopped.is_set():
            raise StartError(f"{name} cannot be started: the control plane was stopped")
        started = process.start(
            component.argv,
            # KWOK reads its defaults from the home directory, which must not be the user's.
            environment={
                "HOME": str(self.layout.folder),
                "PATH": os.environ.get("PATH", os.defpath),
            },
            log=self.layout.log_of(name),
            folder=self.layout.folder,
            outlives_parent=self._detached,
        )
        self._components[name] = component.running(started)
        self._save()

    def _spawn_again(self, name: str) -> state.Component:
        self.kill(name)  # also one that has ended: until it is seen off, it may hold its port
        self._spawn(name)
        return self._component(name)

    def _wait_started(self, name: str) -> None:
        starting.wait_started(
            self._component(name),
            partial(self._spawn_again, name),
            self.layout.log_of(name),
            self._stopped,
        )

    def _zone_components(self) -> list[str]:
        return [kwok.component(zone) for zone in self.settings.zones]

    def _acts(self, name: str) -> bool:
        """True if the component runs and is not paused."""
        running = self._component(name).process
        return running is not None and running.is_alive() and not running.is_paused()

    def _forget_process(self, component: state.Component) -> None:
        if component.process is not None and not component.process.wait_ended():
            raise TimeoutError(f"{component.name} did not end after SIGKILL")
        self._components[component.name] = component.running(None)

    def _component(self, name: str) -> state.Component:
        if name not in self._components:
            known = ", ".join(self._components) or "none, it is not started"
            raise KeyError(f"no component {name!r}; this control plane has {known}")
        return self._components[name]

    def _running(self, name: str) -> process.Process:
        running = self._component(name).process
        if running is None or not running.is_alive():
            raise ProcessLookupError(f"{name} is not running; use `restart` to start it")
        return running

    def _save(self) -> None:
        if not self._components:
            return
        state.save(
            self.layout.state,
            state.State(
                detached=self._detached,
                zones=self.settings.zones,
                tokens=self._tokens,
                components=tuple(self._components.values()),
                server=self._server,
            ),
        )


def _write_yaml(path: Path, document: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(document), sort_keys=False))
