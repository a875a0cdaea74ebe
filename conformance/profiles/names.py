"""The profiles that come with the suite: their names, without reading any."""

from __future__ import annotations

from pathlib import Path


def shipped() -> dict[str, Path]:
    """The files of the profiles that come with the suite, by name."""
    folder = Path(__file__).with_name("shipped")
    return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
