"""The programs under test of one served cluster."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from clusters.simulated.access.rules import Attributes
from clusters.simulated.access.users import service_account as user_of_service_account
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.serve.server import ServedCluster
from conformance.worlds.served.faults import FaultGate, ServedGround
from conformance.worlds.served.program import Program
from vocabulary.history import label_of, replicas, role_of
from vocabulary.kinds import Kind

_SERVICE_ACCOUNT: Final = Kind("", "v1", "ServiceAccount", "serviceaccounts")
_READS: Final = ("get", "list", "watch")


class ProgramEndedError(AssertionError):
    """A program ended while it was started; the message has its last output."""


class Programs:
    """Starts programs, and knows which are at work."""

    def __init__(
        self,
        cluster: SimulatedCluster,
        served: ServedCluster,
        gate: FaultGate,
        ground: ServedGround,
        folder: Path,
    ) -> None:
        """`folder` takes their kubeconfigs and logs."""
        self._cluster = cluster
        self._served = served
        self._gate = gate
        self._ground = ground
        self._folder = folder
        self._programs: dict[str, Program] = {}
        self._forbidden: set[str] = set()
        self.starting = ""
        """The program that has yet to settle for the first time: one that ends is an error."""
        cluster.api.access.on_forbidden = self._note_forbidden

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._programs)

    @property
    def outputs(self) -> Mapping[str, str]:
        """The end of each program's output, by its name."""
        return {name: program.last_words for name, program in self._programs.items()}

    def add(
        self,
        command: str | Sequence[str],
        *,
        role: str,
        replica: int,
        service_account: str,
        environment: Mapping[str, str],
        folder: Path | None,
    ) -> Program:
        """Start a program, see `AssayCluster.run`. Raises ValueError."""
        words = shlex.split(command) if isinstance(command, str) else list(command)
        found = shutil.which(words[0], path=environment.get("PATH")) if words else None
        if found is None:
            raise ValueError(f"run: {command!r}: no such program; name one that is in PATH")
        name = replicas(role, replica + 1)[replica]
        if name in self._programs:
            raise ValueError(f"run: {name} runs already; give another replica, or role")
        with self._served.lock:
            if service_account:
                self._restrict(name, service_account)
            self._served.admit(name)
            self._ground.add_role(role)
            path = self._folder / f"{label_of(name)}.kubeconfig"
            self._served.write_kubeconfig(path, actor=name)
            program = self._programs[name] = Program(
                name,
                [str(Path(found).absolute()), *words[1:]],
                self._folder / f"{label_of(name)}.log",
                environment={"KUBECONFIG": str(path), **environment},
                folder=folder,
                reached=self._gate.reached,
                on_start=self._served.traffic.note,
            )
            self._cluster.processes.add(program)
            self.starting = name
            self._cluster.processes.start(name)
        return program

    def _restrict(self, name: str, service_account: str) -> None:
        """Give a program the rights of a service account alone."""
        api = self._cluster.api
        namespace, _, account = service_account.partition("/")
        if api.store.get((str(_SERVICE_ACCOUNT), namespace, account)) is None:
            raise ValueError(
                f"run: service_account: {service_account!r}: there is none; load its manifest "
                "first, and name it as NAMESPACE/NAME"
            )
        api.access.register_users({name: user_of_service_account(namespace, account)})

    def busy(self) -> str:
        """A program that is at work, in words; empty: none is."""
        for name, program in self._programs.items():
            with self._served.lock:
                code = program.look()
                if code is not None:
                    self._note_end(name, code, program)
            if code is not None:
                return f"{name} has just ended with {code}"
            if work := program.work:
                return f"{name} {work}; its last output: {program.last_words}"
        return ""

    def starved_s(self) -> float:
        """How long all of them have waited for a processor."""
        return sum(program.starved_s for program in self._programs.values())

    def _note_end(self, name: str, code: int, program: Program) -> None:
        self._cluster.recorder.mark("step", f"{name} ended with {code}")
        self._cluster.processes.ended(name)
        if name == self.starting:
            self.starting = ""
            raise ProgramEndedError(
                f"{name} ended with {code} before it had settled; its output: {program.last_words}"
            )

    def _note_forbidden(self, user: str, asked: Attributes) -> None:
        """Once for each sort of read of a program; writes are recorded as they are."""
        access = self._cluster.api.access
        name = next((each for each in self._programs if access.user(each).name == user), "")
        text = f"{role_of(name)} may not {asked.verb} {asked.resource}"
        if name and asked.verb in _READS and text not in self._forbidden:
            self._forbidden.add(text)
            self._cluster.recorder.mark("step", text)

    def kill(self) -> None:
        """End all of them, at the end of the test."""
        with self._served.lock:
            for program in self._programs.values():
                program.kill()
