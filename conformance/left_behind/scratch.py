"""The folder that a session works in: removed at its end, or by others if it was killed.

Its owner holds a lock on a file in it for as long as it lives. The kernel takes the lock back
from an owner that was killed, so a folder whose lock is free has been abandoned.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "assay-run-"
LOCK: Final = "lock"
_CLAIM: Final = "claim.json"


class Claim(NamedTuple):
    """The objects on a cluster that belong to a session whose process is alive."""

    pid: int
    label: str
    """The session's run label, and the beginning of those of its runs; empty: all labels."""
    server: str
    """The URL of the API server; empty: `label` is unique among all clusters."""

    def covers(self, label: str) -> bool:
        """True if an object with this run label belongs to the session."""
        return not self.label or label == self.label or label.startswith(f"{self.label}-")


class Scratch:
    """A new folder, ours until `remove`."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        # Written apart and then moved into place: a lock that can be seen is held.
        fresh = self.path / f"{LOCK}.new"
        self._descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        fresh.rename(self.path / LOCK)

    def claim(self, *, label: str = "", server: str = "") -> None:
        """Record what belongs to this session, before it creates anything; see `Claim`."""
        fresh = self.path / f"{_CLAIM}.new"
        fresh.write_text(json.dumps(Claim(os.getpid(), label, server)), encoding="utf-8")
        fresh.rename(self.path / _CLAIM)

    def remove(self) -> None:
        """Remove the folder with all that is in it; nothing may write there any more."""
        shutil.rmtree(self.path)
        os.close(self._descriptor)


def abandoned() -> list[Path]:
    """Folders of sessions that were killed, in order of their names."""
    return [folder for folder in _folders() if _is_free(folder / LOCK)]


def live_claims() -> list[Claim]:
    """The claims of this machine's sessions whose processes are alive."""
    found = (_claim_in(folder) for folder in _folders() if not _is_free(folder / LOCK))
    return [claim for claim in found if claim is not None]


def _folders() -> list[Path]:
    return sorted(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))


def _claim_in(folder: Path) -> Claim | None:
    """The claim of a session; None if it has none yet, or its folder is another user's."""
    try:
        pid, label, server = json.loads((folder / _CLAIM).read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None
    return Claim(int(pid), str(label), str(server))


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
