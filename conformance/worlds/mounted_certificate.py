"""The files of a webhook's certificate, as a kubelet would mount its Secret."""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vocabulary.objects import Object

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"


def files_of(secret: Object) -> dict[str, bytes]:
    """The contents of a Secret's files, by name."""
    return {name: base64.b64decode(text) for name, text in (secret.get("data") or {}).items()}


def mount(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the certificate last, so that its key exists when it appears."""
    for name in sorted(files, key=lambda name: name == CERTIFICATE):
        fresh = folder / f".{name}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(files[name])
        fresh.rename(folder / name)
