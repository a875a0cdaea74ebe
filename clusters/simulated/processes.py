"""The processes of a simulated cluster, and what chaos can do to each of them.

Every controller and every kubelet is one, by its actor name. `kube-controller-manager`
stands for all controllers that a real cluster runs in that one process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Final, Literal, Protocol

from clusters.crash_loop import CrashLoop
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.recorder import Recorder
from vocabulary.clock import Micros

CONTROLLER_MANAGER: Final = "kube-controller-manager"
_ON_THEIR_OWN: Final = (
    "scheduler",
    "pytorchjob-controller",
    "raycluster-controller",
    "rayjob-controller",
)


class UnknownProcessError(ValueError):
    """No process of that name; the message lists those that there are."""


class Life(Protocol):
    """A process that can be started and stopped."""

    name: str
    running: bool
    paused: bool

    def start(self) -> None: ...
    def kill(self) -> None: ...

    def stop(self, ended: Callable[[], None]) -> None:
        """End it in an orderly way, now or later, and call `ended` then."""

    def pause(self) -> None: ...
    def resume(self) -> None: ...


class ClusterProcesses:
    """Start, kill, pause and resume by name; each change is recorded."""

    def __init__(self, loop: Loop, recorder: Recorder) -> None:
        self._loop = loop
        self._recorder = recorder
        self._lives: dict[str, Life] = {}
        self._restarts: dict[str, Timer] = {}
        self._stopping: dict[str, Micros | None] = {}
        """Those that have been asked to end, and after how long each starts again."""
        self._loops: defaultdict[str, CrashLoop] = defaultdict(CrashLoop)
        self._listeners: list[Callable[[str], None]] = []

    def add(self, life: Life) -> None:
        self._lives[life.name] = life

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call the listener with a process' name whenever its state has changed."""
        self._listeners.append(listener)

    def state(self, name: str) -> Literal["running", "paused", "down", "restarting"]:
        """The state of a process; for a group, that of its first member."""
        life = self._members(name)[0]
        if life.paused:
            return "paused"
        if life.running:
            return "running"
        return "restarting" if life.name in self._restarts else "down"

    def is_running(self, name: str) -> bool:
        """True if there is such a process, and it is neither down nor paused."""
        life = self._lives.get(name)
        return life is not None and life.running and not life.paused

    @property
    def awaits_restart(self) -> bool:
        """True if a process is down, or stopping, that will restart by itself."""
        return bool(self._restarts) or any(
            after_us is not None for after_us in self._stopping.values()
        )

    def kill(
        self, name: str, *, graceful: bool = False, restart_after_us: Micros | None = None
    ) -> None:
        """End it, memory and queue lost; it starts again by itself after the span, if given.

        Nothing happens to one that is down already. A graceful end takes a program the time that it
        needs for it.
        """
        for life in self._members(name):
            if not life.running:
                continue
            if graceful:
                self._stopping.setdefault(life.name, restart_after_us)
                life.stop(partial(self._stopped, life))
            else:
                self._stopping.pop(life.name, None)
                life.kill()
                self._changed(life.name, "killed")
                self._restart(life, restart_after_us)

    def start(self, name: str) -> None:
        """Run it now with an empty memory; nothing happens to one that runs."""
        for life in self._members(name):
            waiting = self._restarts.pop(life.name, None)
            if waiting is not None:
                waiting.cancel()
            if life.name in self._stopping:
                self._stopping[life.name] = 0
            elif not life.running:
                self._loops[life.name].began(self._loop.now_us)
                life.start()
                self._changed(life.name, "started")

    def ended(self, name: str) -> None:
        """It has ended by itself; it starts again as a container does that its kubelet restarts."""
        self._changed(name, "ended")
        self._restart(self._lives[name], self._loops[name].ended(self._loop.now_us))

    def pause(self, name: str) -> None:
        """Stop it in its tracks, as SIGSTOP does."""
        for life in self._members(name):
            if life.running and not life.paused:
                life.pause()
                if life.paused:  # else it has ended by itself
                    self._changed(life.name, "paused")

    def resume(self, name: str) -> None:
        """Let it go on where it was paused."""
        for life in self._members(name):
            if life.paused:
                life.resume()
                self._changed(life.name, "resumed")

    def _stopped(self, life: Life) -> None:
        restart_after_us = self._stopping.pop(life.name, None)
        self._changed(life.name, "stopped")
        self._restart(life, restart_after_us)

    def _restart(self, life: Life, after_us: Micros | None) -> None:
        if after_us is not None:
            self._restarts[life.name] = self._loop.call_later(after_us, self.start, life.name)

    def _changed(
        self,
        name: str,
        change: Literal["started", "killed", "stopped", "ended", "paused", "resumed"],
    ) -> None:
        self._recorder.process(name, change)
        for listener in self._listeners:
            listener(name)

    def _members(self, name: str) -> list[Life]:
        if name == CONTROLLER_MANAGER:
            return [life for life in self._lives.values() if is_in_controller_manager(life.name)]
        life = self._lives.get(name)
        if life is None:
            known = ", ".join((CONTROLLER_MANAGER, *self._lives))
            raise UnknownProcessError(f"no process {name!r} in this cluster; there are {known}")
        return [life]


def is_in_controller_manager(name: str) -> bool:
    """True if a real cluster runs this controller inside kube-controller-manager."""
    return name not in _ON_THEIR_OWN and not name.startswith("kubelet/")
