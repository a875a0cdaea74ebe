"""The state file: the running processes, and how to start each again.

It lets later commands observe, disturb and stop a control plane that outlives the command which
started it (`assay cluster up`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from clusters.control_plane.process import Process

FORMAT = 1


@dataclass(frozen=True)
class Component:
    """One component: its command, its port and its current process (None if ended)."""

    name: str
    argv: tuple[str, ...]
    port: int
    process: Process | None = None

    def running(self, process: Process | None) -> Component:
        """Return the component with another process, or with none."""
        return replace(self, process=process)

    def is_alive(self) -> bool:
        """True if the component's process runs or is paused."""
        return self.process is not None and self.process.is_alive()


@dataclass(frozen=True)
class State:
    """The state of a control plane, for later commands."""

    detached: bool
    zones: tuple[str, ...]
    tokens: dict[str, str]
    components: tuple[Component, ...]
    server: str


def save(path: Path, state: State) -> None:
    """Replace the file atomically."""
    incomplete = path.with_suffix(".incomplete")
    incomplete.touch(mode=0o600)
    incomplete.write_text(json.dumps({"format": FORMAT, **asdict(state)}, indent=1))
    incomplete.replace(path)


def load(path: Path) -> State:
    """Load the state. Raises `FileNotFoundError` if the directory holds no control plane."""
    data: dict[str, Any] = json.loads(path.read_text())
    if data["format"] != FORMAT:
        raise ValueError(
            f"{path} was written by another version of assay;"
            " stop its processes manually and delete the directory"
        )
    return State(
        detached=data["detached"],
        zones=tuple(data["zones"]),
        tokens=data["tokens"],
        components=tuple(
            Component(
                name=component["name"],
                argv=tuple(component["argv"]),
                port=component["port"],
                process=Process(**component["process"]) if component["process"] else None,
            )
            for component in data["components"]
        ),
        server=data["server"],
    )
