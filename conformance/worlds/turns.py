"""Turns at what every run of an operator would use: a port, a folder, a name in the cluster.

A port or a folder belongs to the machine, and so does the lock: a file in its directory for
temporary files, which runs of all sessions, commands and users lock. The kernel releases the lock
of a killed process.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from conformance.worlds.mounted_certificate import emptied

LOOK_SECONDS: Final = 0.1


def port_turn(port: int) -> str:
    """The name of the turn at a port."""
    return f"port-{port}"


@contextmanager
def turns_at(
    names: Iterable[str], folders: Iterable[Path], require_time: Callable[[], None] = lambda: None
) -> Iterator[None]:
    """Have the turns of these names and at these folders, which are empty when the block begins,
    and gone when it ends."""
    with ExitStack() as held:
        # Everybody takes them in one order, so that none wait for each other.
        for name in sorted({*names, *map(str, folders)}):
            held.enter_context(turn_at(name, require_time))
        for folder in sorted(set(folders)):
            held.enter_context(emptied(folder))
        yield


@contextmanager
def turn_at(name: str, require_time: Callable[[], None]) -> Iterator[None]:
    """Wait for the turn, and have it until the end of the block.

    `require_time` is called again and again meanwhile; whatever it raises ends the waiting.
    """
    descriptor = _opened(lock_of(name))
    try:
        while not _is_locked(descriptor):
            require_time()
            time.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def lock_of(name: str) -> Path:
    """The file that is locked; it stays."""
    return Path(tempfile.gettempdir()) / f"assay-{quote(name, safe='')}.lock"


def _opened(path: Path) -> int:
    """Opened for this turn alone: two openings exclude each other, also within one process.

    To read is enough to lock. A file that another user has made may not be opened by way of
    making it (`fs.protected_regular`).
    """
    while True:
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY)
        with suppress(FileExistsError):
            descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_EXCL)
            os.fchmod(descriptor, 0o444)
            return descriptor


def _is_locked(descriptor: int) -> bool:
    """Lock it, unless it is locked already."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
