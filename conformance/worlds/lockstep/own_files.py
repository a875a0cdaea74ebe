"""Files of a process's own, as in a container: empty /tmp and /run at each start, and mounts.

On Linux a thread with the permission can have a view of the file system of its own (a mount
namespace), which the processes that it starts inherit.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from clusters import parent_bound
from conformance.worlds.control_plane.network import NamedMachine, Network, call_libc

OWN: Final = (Path("/run"), Path("/tmp"))
"""The directories of which each process has its own."""
SERVICE_ACCOUNT: Final = Path("/run/secrets/kubernetes.io/serviceaccount")
"""Where a pod has the files of its service account; programs name it below /var/run."""
_RESOLVER: Final = Path("/etc/resolv.conf")
_SWITCH: Final = Path("/etc/nsswitch.conf")
_FILES_THEN_DNS: Final = "hosts: files dns\n"
"""As in a container: a desktop's file may have names that end in .local looked up elsewhere."""
_CLONE_NEWNS: Final = 0x00020000
_MS_NOSUID, _MS_NODEV, _MS_BIND, _MS_REC, _MS_PRIVATE = 0x2, 0x4, 0x1000, 0x4000, 0x40000
_MNT_DETACH: Final = 2
_SIZE: Final = b"mode=1777,size=256m"


class OwnFiles:
    """Those of one process, in the view of the thread that starts it.

    OSError if this user may not have them.
    """

    def __init__(self, network: Network) -> None:
        """`network` is the process's, and has a thread of its own."""
        self._is_mounted = False
        network.make(_have_own_view)

    def renew(self, shown: Iterable[Path], mounts: Mapping[Path, Path]) -> None:
        """Empty /tmp and /run but for what is `shown` there, and for `mounts`: directories by
        where the process finds them. Call it in the thread that starts the process."""
        if self._is_mounted:
            for own in OWN:
                call_libc("umount2", bytes(own), _MNT_DETACH)
        # What starts a process may lie there as well.
        needed = (*shown, *map(Path, (sys.prefix, sys.base_prefix, parent_bound.__file__)))
        paths = (
            path for each in (*needed, _RESOLVER) for path in (each.absolute(), each.resolve())
        )
        found = {path: path for path in paths if _is_own(path) and path.exists()}
        with ExitStack() as opened:
            sources = {}
            for path, source in sorted((found | dict(mounts)).items()):
                sources[path] = os.open(source, os.O_PATH), source.is_dir()
                opened.callback(os.close, sources[path][0])
            for own in OWN:
                call_libc("mount", b"tmpfs", bytes(own), b"tmpfs", _MS_NOSUID | _MS_NODEV, _SIZE)
            self._is_mounted = True
            for path, (descriptor, is_directory) in sources.items():
                (path if is_directory else path.parent).mkdir(parents=True, exist_ok=True)
                if not is_directory:
                    path.touch()
                opened_as = f"/proc/self/fd/{descriptor}".encode()
                call_libc("mount", opened_as, bytes(path), None, _MS_BIND, None)


def has_own(folder: Path) -> bool:
    """True if each process has its own directory at that path."""
    return _is_own(folder) and not why_no_files_of_its_own()


@cache
def why_no_files_of_its_own() -> str:
    """Why processes of this user share /tmp and /run, in words; empty if each can have its own."""
    try:
        machine = NamedMachine("any")
        try:
            files = OwnFiles(machine)
            machine.make(lambda: files.renew((), {}))
        finally:
            machine.close()
    except (OSError, AttributeError) as error:  # not permitted, or no Linux
        return str(error)
    return ""


def _have_own_view() -> None:
    call_libc("unshare", _CLONE_NEWNS)
    call_libc("mount", None, b"/", None, _MS_REC | _MS_PRIVATE, None)
    if _SWITCH.exists():
        with NamedTemporaryFile("w") as switch:  # what is mounted outlives its name
            switch.write(_FILES_THEN_DNS)
            switch.flush()
            Path(switch.name).chmod(0o644)
            call_libc("mount", switch.name.encode(), bytes(_SWITCH), None, _MS_BIND, None)


def _is_own(path: Path) -> bool:
    return any(own in path.parents for own in OWN)
