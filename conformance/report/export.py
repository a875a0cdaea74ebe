"""Exported files that were made from a report, distinguished from edited ones.

Users complete a partly filled checklist; from then on it is theirs. So the first line has the
digest of everything that follows, as written.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from conformance.report.conformance_report import ReportError
from conformance.report.replacing import write_whole

_MARK: Final = b"# Made by Assay from a report; sha256 of what follows: "


def write_export(path: Path, text: str) -> None:
    """Write YAML under a comment by which `is_untouched_export` knows it again.

    ReportError where a file stands that is no untouched export: it is kept.
    """
    if path.is_file() and not is_untouched_export(path):
        raise ReportError(
            f"{path}: is not as Assay wrote it: it was changed since, or is somebody's own; move "
            "it away, or name another file with --out"
        )
    body = text.encode()
    write_whole(path, (_first_line(body) + body).decode())


def is_untouched_export(path: Path) -> bool:
    """True if Assay wrote the file, and it has not been edited since."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        first = file.readline(len(_MARK) + 66)
        return first.startswith(_MARK) and first == _first_line(file.read())


def _first_line(body: bytes) -> bytes:
    return _MARK + hashlib.sha256(body).hexdigest().encode() + b"\n"
