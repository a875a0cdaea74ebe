"""Files that replace earlier ones as a whole: a killed writer or a full disk loses nothing.

A report is written into a directory of its own within the report's folder, and one rename makes it
the folder's report. From then on readers find it there (`report_at`), until each of its files has
replaced the earlier one of its name. So at any moment one report is whole: the earlier one before
the rename, and the new one after it. The folder itself is not replaced: it may hold a persistent
control plane, and may be the working directory.

Writers of one folder take turns by a lock on it, which the kernel takes back from one that is
killed: what stands there while the lock is free was left.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_STAGED: Final = ".report-being-written"
_WHOLE: Final = ".report-being-put-in-place"
_REPLACED: Final = ".report-put-in-place"
_NEXT: Final = ".next"
LEFT_OVER: Final = frozenset((_STAGED, _WHOLE, _REPLACED))
"""The directories that a killed run leaves."""


def report_at(folder: Path) -> Path:
    """The directory that holds the folder's report."""
    whole = folder / _WHOLE
    return whole if whole.is_dir() else folder


def left_over(folder: Path) -> list[Path]:
    """Directories of runs that were killed while they wrote their report; sorted."""
    found = _left_in(folder)
    if not found:
        return []
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return []  # of a run that goes on
    except OSError:
        pass  # a file system without locks
    finally:
        os.close(descriptor)
    return found


def _left_in(folder: Path) -> list[Path]:
    return sorted(folder / name for name in LEFT_OVER if (folder / name).is_dir())


@contextmanager
def replacing(folder: Path, earlier: Callable[[], Iterable[Path]]) -> Iterator[Path]:
    """A directory for the new files; the folder's report from the end of the block on.

    `earlier` lists the files of reports in the folder, of which those that have no successor are
    removed, and links to directories, which new ones replace. If the block raises, the earlier
    report stays.
    """
    with _locked(folder):
        if report_at(folder) != folder:
            _put_in_place(folder, earlier)
        for path in _left_in(folder):
            shutil.rmtree(path)
        staged = folder / _STAGED
        staged.mkdir()
        try:
            yield staged
            staged.rename(folder / _WHOLE)
        except BaseException:
            shutil.rmtree(staged, ignore_errors=True)
            raise
        _put_in_place(folder, earlier)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Wait for another process that writes there."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _put_in_place(folder: Path, earlier: Callable[[], Iterable[Path]]) -> None:
    """May be repeated: the new files stay where readers look until all are in place."""
    whole = folder / _WHOLE
    (whole / _NEXT).unlink(missing_ok=True)
    old, placed = set(earlier()), set()
    for link in filter(Path.is_symlink, tuple(old)):
        link.unlink()  # what it leads to is not the folder's
        old.remove(link)
    for path in sorted(whole.rglob("*")):
        place = folder / path.relative_to(whole)
        if path.is_dir():
            place.mkdir(exist_ok=True)
            continue
        _link(path, whole / _NEXT)
        (whole / _NEXT).replace(place)
        placed.add(place)
    for path in old - placed:
        path.unlink(missing_ok=True)
    replaced = folder / _REPLACED
    whole.rename(replaced)
    shutil.rmtree(replaced)


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except OSError:  # a file system without hard links
        shutil.copyfile(path, place)


def write_whole(path: Path, text: str) -> None:
    """Write a file beside the earlier one, and replace that; a device or a pipe is written to."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    fresh = path.with_name(f".{path.name}.new")  # what a killed writer left, is written over
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path.resolve())
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
