"""Which Assay this is: the distribution's version, and the commit of a checkout."""

from __future__ import annotations

import subprocess
from importlib import metadata
from pathlib import Path


def version() -> str:
    """The version of the installed distribution; `0+unknown` if it is not installed."""
    try:
        return metadata.version("assay")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def git_commit() -> str:
    """The commit of the checkout that this file stands in; empty outside of one."""
    root = Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
