"""Open untrusted files: regular ones only, without blocking.

Opening a pipe blocks until it has a writer, and reading a device may never end. Names come
from files, too, and some of them no system can open.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final

_OTHERS: Final[tuple[tuple[Callable[[int], bool], str], ...]] = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
NO_NAME: Final = "invalid file name"


def open_regular(path: Path) -> BinaryIO:
    """Open a file for reading. Raises OSError, also if it is not a regular file."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, NO_NAME, str(path)) from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kind = next((name for is_one, name in _OTHERS if is_one(mode)), "no file")
    raise OSError(errno.EINVAL, f"is {kind}; save its output as a file", str(path))


def path_below(folder: Path, name: str) -> Path:
    """Return the path of the named file below a directory.

    Raises OSError if it is outside of the directory, for instance by a symbolic link, or if the
    name is invalid.
    """
    try:
        path = folder / name
        if path.resolve().is_relative_to(folder.resolve()):
            return path
    except (RuntimeError, ValueError) as error:  # a loop of symbolic links; a NUL
        is_loop = isinstance(error, RuntimeError)
        number = errno.ELOOP if is_loop else errno.EINVAL
        raise OSError(number, os.strerror(number) if is_loop else NO_NAME, name) from error
    raise OSError(errno.EACCES, "is outside of the directory; it was not opened", name)
