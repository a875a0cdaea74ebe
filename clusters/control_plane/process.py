"""Operating system processes: start, signal and observe them without confusing them.

A process is identified by its id *and* its start time, because ids are reused: a control plane
recorded yesterday must never kill an unrelated process today.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from clusters import parent_bound

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
END_LIMIT_SECONDS = 10.0
_UNHANDLED = frozenset((signal.SIGKILL, signal.SIGSTOP, signal.SIGCONT))

# The kernel ties the death signal to the *thread* that started a child. This thread lives as
# long as the interpreter, whichever thread requests a process.
_spawner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="control-plane-spawner")
# Children of this interpreter by process id, kept to be reaped when they end.
_children: dict[int, subprocess.Popen[bytes]] = {}


@dataclass(frozen=True)
class Process:
    """One process, as recorded at its start (start time in clock ticks since boot)."""

    pid: int
    start_ticks: int

    def is_alive(self) -> bool:
        """False once the process has ended, even if its id has been reused."""
        fields = _stat(self.pid)
        return fields is not None and int(fields[19]) == self.start_ticks and fields[0] != "Z"

    def is_paused(self) -> bool:
        """True while the process is stopped by SIGSTOP."""
        fields = _stat(self.pid)
        return fields is not None and int(fields[19]) == self.start_ticks and fields[0] == "T"

    def memory_bytes(self) -> int:
        """The resident set size; 0 once the process has ended."""
        fields = _stat(self.pid)
        return int(fields[21]) * PAGE_BYTES if fields is not None and self.is_alive() else 0

    def signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended.

        Signals that cannot be handled go to the whole group: a program behind a shell script is
        killed, paused and resumed with it, like all processes of a container. The first process
        has to forward any other signal.
        """
        if not self.is_alive():
            return
        try:
            if number in _UNHANDLED and os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except ProcessLookupError:
            return

    def wait_ended(self, limit_seconds: float = END_LIMIT_SECONDS) -> bool:
        """Wait until the process ends, without polling; False if the limit is reached first."""
        child = _children.get(self.pid)
        if child is not None:
            try:
                child.wait(limit_seconds)
            except subprocess.TimeoutExpired:
                return False
            _children.pop(self.pid, None)
            return True
        try:
            descriptor = os.pidfd_open(self.pid)
        except ProcessLookupError:
            return True
        try:
            fields = _stat(self.pid)
            if fields is None or int(fields[19]) != self.start_ticks:
                return True  # the id is another's by now
            # A process whose first thread has ended looks dead, but holds its ports until the
            # last one has ended: only the kernel knows about all of them.
            ended = select.poll()  # not select(): descriptors may be many
            ended.register(descriptor, select.POLLIN)
            return bool(ended.poll(limit_seconds * 1000))
        finally:
            os.close(descriptor)


def start(
    argv: Sequence[str],
    *,
    environment: Mapping[str, str],
    log: Path,
    folder: Path,
    outlives_parent: bool,
) -> Process:
    """Start a program in a process group of its own, and append its output to `log`.

    It ends with this process or, if it outlives it, with the process in ASSAY_ENDS_WITH.
    """
    holder = parent_bound.holder_from_environment() if outlives_parent else os.getpid()
    command = [*([] if holder is None else parent_bound.prefix(holder)), *argv]
    with log.open("ab") as output:
        child = _spawner.submit(
            subprocess.Popen,
            command,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ).result()
    _children[child.pid] = child
    fields = _stat(child.pid)
    assert fields is not None, "a child is visible until it is waited for"
    return Process(child.pid, int(fields[19]))


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat from the third (the state) on."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field is the program's name in parentheses, which may contain anything.
    return text.rpartition(")")[2].split()
