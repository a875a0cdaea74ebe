"""Processes that die, stop, hang or run twice: the operator above all, and other controllers."""

from __future__ import annotations

from dataclasses import field
from typing import Final, Literal

from chaos.fault import Fault, fault
from chaos.fields import ALWAYS_WRITTEN, Name, Span
from chaos.ground import Ground
from vocabulary.clock import SECOND, format_seconds
from vocabulary.history import OPERATOR

RESTART_AFTER_US: Final = 2 * SECOND
"""About what a Deployment needs to bring a crashed container back."""
SECOND_OPERATOR: Final = f"{OPERATOR}/1"


@fault("kill")
class Kill(Fault):
    """End a process, by SIGKILL or gracefully by SIGTERM; null: it stays down."""

    actor: Name = field(default=OPERATOR, metadata=ALWAYS_WRITTEN)
    signal: Literal["KILL", "TERM"] = "KILL"
    restart_after: Span | None = RESTART_AFTER_US

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        if self.restart_after is not None:
            return ()
        match ground.processes.state(self.actor):
            case "running":
                return (Start(self.actor),)
            case "paused":
                return (Start(self.actor), Pause(self.actor))
            case "down" | "restarting":
                return ()

    def inject(self, ground: Ground) -> None:
        ground.processes.kill(
            self.actor, graceful=self.signal == "TERM", restart_after_us=self.restart_after
        )

    def describe(self) -> str:
        if self.restart_after is None:
            after = "and do not restart it"
        else:
            after = f"and restart it after {format_seconds(self.restart_after)}"
        return f"kill {self.actor} (SIG{self.signal}) {after}"


@fault("restart")
class Restart(Fault):
    """Stop a process gracefully and start it again, as a rollout does."""

    actor: Name = field(default=OPERATOR, metadata=ALWAYS_WRITTEN)
    downtime: Span = RESTART_AFTER_US

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # it comes back itself
        return ()

    def inject(self, ground: Ground) -> None:
        ground.processes.kill(self.actor, graceful=True, restart_after_us=self.downtime)

    def describe(self) -> str:
        return f"restart {self.actor}, down for {format_seconds(self.downtime)}"


@fault("start")
class Start(Fault):
    """Start a process that is down; a paused one is replaced by a fresh one."""

    actor: Name = field(default=OPERATOR, metadata=ALWAYS_WRITTEN)

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        return _undo_start(ground, self.actor)

    def inject(self, ground: Ground) -> None:
        ground.processes.start(self.actor)

    def describe(self) -> str:
        return f"start {self.actor}"


@fault("pause")
class Pause(Fault):
    """Stop a process in its tracks (SIGSTOP): `operator`, `job-controller`, `scheduler`, ….

    It keeps its memory, and what it believed then it still believes when it goes on.
    """

    actor: Name

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        is_running = ground.processes.state(self.actor) == "running"
        return (Resume(self.actor),) if is_running else ()

    def inject(self, ground: Ground) -> None:
        ground.processes.pause(self.actor)

    def describe(self) -> str:
        return f"pause {self.actor}"


@fault("resume")
class Resume(Fault):
    """Let a paused process go on."""

    actor: Name

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        is_paused = ground.processes.state(self.actor) == "paused"
        return (Pause(self.actor),) if is_paused else ()

    def inject(self, ground: Ground) -> None:
        ground.processes.resume(self.actor)

    def describe(self) -> str:
        return f"resume {self.actor}"


@fault("double_operator")
class DoubleOperator(Fault):
    """Run a second operator beside the first, as happens when two believe they lead."""

    actor: Name = SECOND_OPERATOR

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        return _undo_start(ground, self.actor)

    def inject(self, ground: Ground) -> None:
        ground.processes.start(self.actor)

    def describe(self) -> str:
        return f"start a second operator, {self.actor}, beside the first"


def _undo_start(ground: Ground, actor: str) -> tuple[Fault, ...]:
    match ground.processes.state(actor):
        case "running" | "restarting":
            return ()
        case "paused":
            return (Pause(actor),)
        case "down":
            return (Kill(actor, signal="TERM", restart_after=None),)
