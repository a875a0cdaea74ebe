"""A simulated cluster with programs as its operators, without suite and scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml

from chaos.connection_rules import ConnectionRules
from chaos.ground import Rule, WatchRule
from chaos.happening import Happening
from chaos.happening import Place as HappeningPlace
from chaos.injector import Injector
from clusters.simulated.cluster import SimulatedCluster
from conformance.implementations.under_test import (
    MUTATING,
    DeclaredAnswer,
    Launch,
    OwnWebhooks,
    Place,
    UnderTest,
)
from conformance.worlds.lockstep.pacing import Pacing
from conformance.worlds.lockstep.program_host import ProgramHost
from conformance.worlds.lockstep.program_process import ProgramProcess
from conformance.worlds.simulated.connection import Connection
from conformance.worlds.simulated.versions import Versions
from vocabulary.clock import MILLISECOND, SECOND, Micros
from vocabulary.history import Entry, Process, Write, role_of
from vocabulary.kinds import CONFIG_MAP, SECRET
from vocabulary.objects import Object
from vocabulary.requests import Create, Get

T = TypeVar("T")

NAME = "operator"
SETTINGS = "settings"
"""The ConfigMap that each start of the program finds, with the number of that start."""
WEBHOOK: Object = {
    "kind": MUTATING,
    "webhooks": [
        {
            "name": "label.example.com",
            "clientConfig": {"service": {"name": "webhook", "path": "/label"}},
            "failurePolicy": "Fail",
            "rules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ],
        }
    ],
}


def defined_by(role: str) -> Object:
    """The definition of what a role converts, where it reviews ConfigMaps."""
    webhook = {"clientConfig": WEBHOOK["webhooks"][0]["clientConfig"]}
    return {"metadata": {"name": f"planks.{role}"}, "spec": {"conversion": {"webhook": webhook}}}


class Program:
    """The part of `UnderTest` that a host of programs needs."""

    upgraded_from = None
    answers: tuple[DeclaredAnswer, ...] = ()
    fixed_port = None
    constant_folder = None

    def __init__(
        self, role: str, program: Path, wait: str, *, webhooks: bool, certificates: Path | None
    ) -> None:
        self.role = role
        self._program = program
        self._starts = 0
        self._wait = wait
        self._webhooks = webhooks
        self._certificates = certificates

    def crds(self) -> tuple[Object, ...]:
        return (defined_by(self.role),)

    def launch(self, place: Place) -> Launch:
        cluster = yaml.safe_load(place.kubeconfig.read_text())["clusters"][0]["cluster"]
        certificates = self._certificates or place.folder / "certificates"
        environment = {
            "SERVER": cluster["server"],
            "WAIT": self._wait,
            "HEALTH_PORT": str(place.health_port),
            "WEBHOOK_PORT": str(place.webhook_port),
            "CERTIFICATES": str(certificates),
            "SUFFIX": "" if place.label == NAME else f"-{place.label}",
        }
        self._starts += 1
        settings = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": SETTINGS, "namespace": place.namespace},
            "data": {"start": str(self._starts)},
        }
        webhooks = OwnWebhooks(
            port=place.webhook_port, folder=certificates, secret="", configurations=(WEBHOOK,)
        )
        return Launch(
            command=(str(self._program),),
            environment=environment,
            objects=(settings,),
            webhooks=webhooks if self._webhooks else None,
        )


class LockstepRun:
    """One cluster, its programs, and their end."""

    def __init__(
        self,
        program: Path,
        wait: str,
        *,
        webhooks: bool,
        certificates: Path | None,
        names: Sequence[str] = (NAME,),
    ) -> None:
        """`names` are the programs, each of the role before its slash; `certificates` is where they
        find those of their webhooks, if that is one directory for all."""
        self.cluster = SimulatedCluster(1, nodes=0)
        self._began_us = self.cluster.loop.now_us
        self.crashes: list[str] = []
        self.rules = ConnectionRules(self._on_rule)
        self._connection = Connection(self.cluster.api, self.rules)
        self._pacing = Pacing(self.cluster.loop)
        self._hosts = {
            role: ProgramHost(
                Versions(
                    cast(
                        UnderTest,
                        Program(role, program, wait, webhooks=webhooks, certificates=certificates),
                    ),
                    lambda _version: None,
                ),
                dict,
                cluster=self.cluster,
                pacing=self._pacing,
                connection=self._connection,
                namespaces=("default",),
                elects=False,
                run=str(program),
                on_crash=lambda name, error: self.crashes.append(f"{name}: {error}"),
            )
            for role in dict.fromkeys(map(role_of, names))
        }
        self.processes: dict[str, ProgramProcess] = {
            name: self._hosts[role_of(name)].add(name, name) for name in names
        }
        self.process = self.processes[names[0]]
        for process in self.processes.values():
            self.cluster.processes.add(process)
        for host in self._hosts.values():
            self.cluster.api.admission.mutating.append(host.admission)
            self.cluster.api.admission.validating.append(host.validating_admission)

    def start(self) -> None:
        for name in self.processes:
            self.cluster.processes.start(name)
        for host in self._hosts.values():
            why = host.wait_ready(self.run_for)
            assert not why, why

    def run_for(self, span_us: Micros) -> None:
        self.cluster.loop.run_for(span_us)

    def beside(self, act: Callable[[], T]) -> T:
        """Have another thread act as a client of the program's API server, in its network."""
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(self.process.network.make, act)
            while not future.done():
                self.process.settle()
                self.run_for(MILLISECOND)
            return future.result()

    def ask(self, name: str) -> Any:
        """Create the ConfigMap that is answered."""
        return self.create(f"ask-{name}")

    def create(self, name: str) -> Any:
        manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}
        return self.cluster.api.handle(Create(CONFIG_MAP, manifest, "default", name), "user")

    def read(self, name: str) -> Any:
        return self.cluster.api.handle(Get(CONFIG_MAP, "default", name), "user")

    def pause_after_a_delivery(self) -> None:
        """Pause the program in the moment in which it has heard of a ConfigMap."""
        self._connection.injector = cast(Injector, _PausesOnce(self))

    def kill_before_a_secret(self, restart_after_us: Micros) -> None:
        """Kill the program in the moment in which a Secret of its is about to be stored."""
        self._connection.injector = cast(Injector, _KillsOnce(self, restart_after_us))

    def answered_after(self, name: str = NAME) -> list[float]:
        """For each answer of a program that was stored, the seconds since the first question."""
        writes = [entry for entry in self.entries if isinstance(entry, Write) and entry.event]
        asked = next(write.t for write in writes if write.name.startswith("ask-"))
        return [
            (each.t - asked) / SECOND
            for each in writes
            if each.actor == name and each.name.startswith("answer-")
        ]

    def life_since(self, since_us: Micros) -> list[tuple[str, float]]:
        """The changes of the program's process, each with how many seconds after that time."""
        since_t = since_us - self._began_us
        return [
            (each.change, (each.t - since_t) / SECOND)
            for each in self.entries
            if isinstance(each, Process) and each.t >= since_t
        ]

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self.cluster.recorder.entries)

    @property
    def hosts(self) -> tuple[ProgramHost, ...]:
        return tuple(self._hosts.values())

    def close(self) -> None:
        for host in self._hosts.values():
            host.close()
        self._pacing.close()

    def _on_rule(self, rule: Rule, holds: bool) -> None:
        if isinstance(rule, WatchRule):
            for process in self.processes.values():
                process.on_watch_rule(rule, holds)


class _PausesOnce:
    """The part of an injector that a connection needs."""

    def __init__(self, run: LockstepRun) -> None:
        self._run = run

    def listens(self, place: HappeningPlace) -> bool:
        return place is HappeningPlace.AFTER_DELIVERY

    def observe(self, _happening: Happening) -> None:
        self._run.cluster.processes.pause(NAME)


class _KillsOnce:
    """The part of an injector that a connection needs."""

    def __init__(self, run: LockstepRun, restart_after_us: Micros) -> None:
        self._run = run
        self._restart_after_us = restart_after_us
        self._has_killed = False

    def listens(self, place: HappeningPlace) -> bool:
        return place is HappeningPlace.BEFORE_COMMIT and not self._has_killed

    def observe(self, happening: Happening) -> None:
        if happening.kind == SECRET.group_kind:
            self._has_killed = True
            self._run.cluster.processes.kill(NAME, restart_after_us=self._restart_after_us)


@contextmanager
def lockstep_run(
    program: Path,
    wait: str = "30s",
    *,
    webhooks: bool = False,
    certificates: Path | None = None,
    names: Sequence[str] = (NAME,),
) -> Iterator[LockstepRun]:
    """A run whose programs are up."""
    run = LockstepRun(program, wait, webhooks=webhooks, certificates=certificates, names=names)
    try:
        run.start()
        yield run
    finally:
        run.close()
