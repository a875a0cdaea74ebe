"""The version of Assay: the distribution's version, and the commit of a checkout."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path
from typing import Final

_ROOMS: Final = ("vocabulary", "reference_controller", "clusters", "chaos", "conformance")
"""The packages that a run executes; other changes do not matter."""


def version() -> str:
    """The version of the installed distribution; `0+unknown` if it is not installed."""
    try:
        return metadata.version("assay")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def git_commit() -> str:
    """The commit of the checkout that this file stands in; empty outside of one.

    With `-dirty` at its end, as git writes it, where the code that ran is not that commit's.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    commit = _git(root, "rev-parse", "HEAD")
    changed = commit and _git(root, "status", "--porcelain", "--untracked-files=no", "--", *_ROOMS)
    return f"{commit}-dirty" if changed else commit


def _git(root: Path, *arguments: str) -> str:
    """The output of git; empty if there is no git, or if it fails."""
    command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
