"""The files of a webhook's certificate, as a kubelet would mount its Secret."""

from __future__ import annotations

import base64
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from vocabulary.objects import Object

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
_MARK: Final = ".assay"
"""Stands in a folder of a constant path whose content is Assay's to remove."""


def files_of(secret: Object) -> dict[str, bytes]:
    """The contents of a Secret's files, by name."""
    return {name: base64.b64decode(text) for name, text in (secret.get("data") or {}).items()}


def foreign_files(folder: Path) -> str:
    """Why a folder of a constant path cannot be used; empty if it is not there, or Assay's."""
    if not folder.exists() or (folder / _MARK).exists() or not any(folder.iterdir()):
        return ""
    return (
        f"{folder} holds files that are not Assay's, and the operator reads its certificate there; "
        "move them away"
    )


@contextmanager
def emptied(folder: Path) -> Iterator[None]:
    """A folder of a constant path for one run: empty at first, and gone in the end."""
    if problem := foreign_files(folder):
        raise FileExistsError(problem)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def mount(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the certificate last, so that its key exists when it appears."""
    for name in sorted(files, key=lambda name: name == CERTIFICATE):
        fresh = folder / f".{name}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(files[name])
        fresh.rename(folder / name)
