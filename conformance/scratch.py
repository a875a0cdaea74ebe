"""The folder that a session works in: removed at its end, or by others if it was killed.

Its owner holds a lock on a file in it for as long as it lives. The kernel takes the lock back
from an owner that was killed, so a folder whose lock is free has been abandoned.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

PREFIX: Final = "assay-run-"
LOCK: Final = "lock"


class Scratch:
    """A new folder, ours until `remove`."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        # Written apart and then moved into place: a lock that can be seen is held.
        fresh = self.path / f"{LOCK}.new"
        self._descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        fresh.rename(self.path / LOCK)

    def remove(self) -> None:
        """Remove the folder with all that is in it; nothing may write there any more."""
        shutil.rmtree(self.path)
        os.close(self._descriptor)


def abandoned() -> list[Path]:
    """Folders of sessions that were killed, in order of their names."""
    folders = sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))
    return [folder for folder in folders if _is_free(folder / LOCK)]


def remove_abandoned() -> list[Path]:
    """Remove what sessions that were killed left in the file system; their processes are gone."""
    found = abandoned()
    for folder in found:
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _is_free(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDWR)
    except OSError:
        return False  # not locked yet, gone by now, or somebody else's
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
