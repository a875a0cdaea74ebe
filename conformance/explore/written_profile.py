"""The profile that `assay explore` writes for an operator which has none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

_HEAD: Final = """\
# Written by assay explore from {source}; it is yours from now on.
# docs/profiles.md describes each line; assay profile check {file} finds mistakes.
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A profile of an operator, and how it came about."""

    name: str
    profile: dict[str, Any]
    said: tuple[str, ...]
    beside: Mapping[str, str] = field(default_factory=dict)
    """The texts of the files that it names beside itself, by their names."""

    def text(self, source: str, file: str) -> str:
        """The profile's file; `source` says where it is from."""
        head = _HEAD.format(source=source, file=file)
        return head + yaml.safe_dump(self.profile, sort_keys=False, width=100)


def profile_of(
    name: str,
    origin: dict[str, str],
    program: dict[str, Any],
    manifests: dict[str, Any],
    process: dict[str, Any],
) -> dict[str, Any]:
    """A profile of suite `operator`; `origin` says whose the implementation is."""
    return {
        "apiVersion": "assay.dev/v1",
        "kind": "ImplementationProfile",
        "name": name,
        "suite": "operator",
        "implementation": {**origin, "version": "local"},
        "program": program,
        "manifests": manifests,
        "process": process,
        "configuration": {},
        "detection": {"latency": "2s", "clockResolution": "1s"},
    }


def relative_to(path: Path, base: Path) -> str:
    """The file or directory as a file in `base` names it."""
    return os.path.relpath(path.resolve(), base.resolve())
