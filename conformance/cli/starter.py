"""The process that starts operators: it imports what they need once, and forks for each order.

See `conformance.worlds.control_plane.starter`, which runs it and sends the orders.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from clusters import parent_bound
from conformance.worlds.control_plane.network import enter
from conformance.worlds.control_plane.starter import OURS
from reference_controller import programs

PR_SET_CHILD_SUBREAPER: Final = 36
POLL_SECONDS: Final = 0.01
_PRELOADED: Final = (
    "conformance.cli.app",
    "kubernetes.client",
    "kubernetes.config",
    "pydantic.type_adapter",
    "reference_controller.runtime.access_review",
    "reference_controller.runtime.process",
    "typer._adapters",
    "vocabulary.safe_yaml",
)


def main() -> None:
    """Import, then fork for each order, until the harness has gone; then kill what is left."""
    # A program may start further ones, and end before them: they become children of this process.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for module in _PRELOADED:
        importlib.import_module(module)
    for name in programs.names():
        with contextlib.suppress(Exception):  # it is reported when that program is run
            programs.load(name)
    gc.freeze()  # what is imported is never garbage: children need not copy it to find out
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel buries those that have ended
    starter = os.getpid()
    for line in sys.stdin:
        order = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _become(order, starter)
        sys.stdout.write(json.dumps([pid, _start_ticks(pid)]) + "\n")
        sys.stdout.flush()
    _kill_descendants(starter)


def _kill_descendants(ancestor: int) -> None:
    """Kill the children until there are none: those of a killed child become children here."""
    while children := [pid for pid, parent in _parents() if parent == ancestor]:
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def _parents() -> Iterator[tuple[int, int]]:
    """The id of each process that has not ended, and that of its parent."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                state, parent, *_ = fields.rpartition(")")[2].split()
                if state != "Z":
                    yield int(entry.name), int(parent)


def _become(order: dict[str, Any], starter: int) -> NoReturn:
    """Turn this fork into the program that was ordered."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    parent_bound.die_with_parent(starter)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for descriptor, wanted in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, wanted)
    if order["network"] is not None:
        enter(Path(order["network"]))
    command = order["command"]
    if tuple(command[: len(OURS)]) != OURS:
        os.execvp(command[0], command)
    from conformance.cli.app import main as run_assay

    sys.argv = ["assay", *command[len(OURS) :]]
    code: Any = 0
    try:
        run_assay()
    except SystemExit as ended:
        code = ended.code
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1)


def _start_ticks(pid: int) -> int:
    """When a process started, as `clusters.control_plane.process` tells one from another."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return 0  # it has ended already; no process has started at boot
    return int(text.rpartition(")")[2].split()[19])


if __name__ == "__main__":
    main()
