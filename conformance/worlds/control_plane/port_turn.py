"""Turns at a port of this machine on which every operator under test would listen.

The port belongs to the machine, and so does the lock: a file in its directory for temporary files,
which runs of all sessions, commands and users lock. The kernel releases the lock of a killed
process.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

LOOK_SECONDS: Final = 0.1


@contextmanager
def turn_at(port: int, require_time: Callable[[], None]) -> Iterator[None]:
    """Wait for the turn, and have it until the end of the block.

    `require_time` is called again and again meanwhile; whatever it raises ends the waiting.
    """
    descriptor = _opened(lock_of(port))
    try:
        while not _is_locked(descriptor):
            require_time()
            time.sleep(LOOK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def lock_of(port: int) -> Path:
    """The file that is locked; it stays."""
    return Path(tempfile.gettempdir()) / f"assay-port-{port}.lock"


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
