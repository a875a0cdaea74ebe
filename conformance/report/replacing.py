"""Files that replace earlier ones as a whole: a killed writer or a full disk loses nothing.

A report is written into a directory of its own within the report's folder, and one rename makes it
the folder's report. From then on readers find it there (`report_at`), until all of its files stand
where the earlier ones stood. So at any moment one report is whole: the earlier one before the
rename, and the new one after it. The folder itself is not replaced: it may hold a persistent
control plane, and may be the working directory.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_STAGED: Final = ".report-being-written-"
"""With the number of the process that writes it."""
_WHOLE: Final = ".report-being-put-in-place"
_REPLACED: Final = ".report-put-in-place-"
LEFT_OVER: Final = (_STAGED, _WHOLE, _REPLACED)
"""The beginnings of names of directories that a killed run leaves."""


def report_at(folder: Path) -> Path:
    """The directory that holds the folder's report."""
    whole = folder / _WHOLE
    return whole if whole.is_dir() else folder


def left_over(folder: Path) -> list[Path]:
    """Directories of runs that were killed while they wrote their report; sorted."""
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if path.name.startswith(LEFT_OVER))
    return sorted(path for path in found if path.is_dir() and not _is_being_written(path))


@contextmanager
def replacing(folder: Path, remove_earlier: Callable[[], None]) -> Iterator[Path]:
    """A directory for the new files; the folder's report from the end of the block on.

    `remove_earlier` removes the files of an earlier report from the folder. If the block raises,
    the earlier report stays.
    """
    if report_at(folder) != folder:
        _put_in_place(folder, remove_earlier)
    for path in left_over(folder):
        shutil.rmtree(path)
    staged = folder / f"{_STAGED}{os.getpid()}"
    staged.mkdir()
    try:
        yield staged
        staged.rename(folder / _WHOLE)
    except BaseException:
        shutil.rmtree(staged, ignore_errors=True)
        raise
    _put_in_place(folder, remove_earlier)


def _put_in_place(folder: Path, remove_earlier: Callable[[], None]) -> None:
    """May be repeated: the new files stay where readers look until all are in place."""
    whole = folder / _WHOLE
    remove_earlier()
    for path in sorted(whole.rglob("*")):
        place = folder / path.relative_to(whole)
        if path.is_dir():
            place.mkdir(exist_ok=True)
        else:
            place.unlink(missing_ok=True)
            _link(path, place)
    replaced = folder / f"{_REPLACED}{os.getpid()}"
    whole.rename(replaced)
    shutil.rmtree(replaced)


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place)
    except OSError:  # a file system without hard links
        shutil.copyfile(path, place)


def _is_being_written(staged: Path) -> bool:
    number = staged.name.removeprefix(_STAGED)
    if not staged.name.startswith(_STAGED) or not number.isdecimal():
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return True


def write_whole(path: Path, text: str) -> None:
    """Write a file beside the earlier one, and replace that; a device or a pipe is written to."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(path.resolve())
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
