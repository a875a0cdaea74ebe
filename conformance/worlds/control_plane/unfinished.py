"""Histories of runs in progress, on disk: readable leftovers of a killed suite.

About once a second the history of each run so far is written beside the previous one, and
replaces it. Such a file has no end mark, so it never counts as complete. A run
that ended leaves its whole history until the report has taken it over.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.report.build import slug
from conformance.report.folder import UNFINISHED_NAME
from vocabulary.history import to_lines, write_history

if TYPE_CHECKING:
    from conformance.worlds.control_plane.world import ControlPlaneWorld

EVERY_SECONDS: Final = 1.0


class Unfinished:
    """Writes the histories of a session's runs, in a thread of its own."""

    def __init__(self, out: Path | None) -> None:
        """`out` is the report's folder; None writes nothing."""
        self._folder = None if out is None else out / UNFINISHED_NAME
        self._worlds: dict[ControlPlaneWorld, int] = {}
        """Each run in progress, and how much had been heard of it when all of that was written."""
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._write_always, name="unfinished", daemon=True)

    def start(self) -> None:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def begin(self, world: ControlPlaneWorld) -> None:
        """From now on the run's history is kept on disk."""
        with self._lock:
            self._worlds[world] = 0

    def end(self, world: ControlPlaneWorld) -> None:
        """The run is over: what stays is its whole history, as it will be judged."""
        with self._lock:
            self._worlds.pop(world, None)
            if self._folder is not None:
                path = self._path(self._folder, world, ".jsonl.gz")
                fresh = path.with_name(f"{path.name}.new")
                write_history(fresh, *world.history())
                fresh.replace(path)
                self._path(self._folder, world, ".jsonl").unlink(missing_ok=True)

    def _write_always(self) -> None:
        while not self._stopping.wait(EVERY_SECONDS):
            with self._lock:
                worlds = list(self._worlds)
            for world in worlds:
                self._write(world)

    def _write(self, world: ControlPlaneWorld) -> None:
        size = world.heard
        with self._lock:
            if self._folder is None or self._worlds.get(world, size) == size:
                return
            header, entries, is_all = world.history_so_far()
            self._worlds[world] = size if is_all else 0
            path = self._path(self._folder, world, ".jsonl")
            fresh = path.with_name(f"{path.name}.new")
            fresh.write_bytes(to_lines(header, entries))
            fresh.replace(path)

    @staticmethod
    def _path(folder: Path, world: ControlPlaneWorld, suffix: str) -> Path:
        name = f"{slug(world.scenario.id)}-{world.seed}-{world.namespace}"
        return folder / f"{name}{suffix}"
