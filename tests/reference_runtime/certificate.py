"""A certificate for tests that need some TLS server."""

from __future__ import annotations

from pathlib import Path

from vocabulary.certificates import Authority


def write_certificate(folder: Path) -> tuple[Path, Path]:
    """Writes a new tls.crt and tls.key into the folder, over older ones; returns both paths."""
    pair = Authority.create("tests").issue_server("localhost", ("localhost",))
    certificate, key = folder / "tls.crt", folder / "tls.key"
    certificate.write_bytes(pair.certificate)
    key.write_bytes(pair.key)
    return certificate, key
