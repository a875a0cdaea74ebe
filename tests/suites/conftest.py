"""The command with the toy of `tests/toy` installed beside Assay's own suites.

It is installed as pip would leave it behind: its package and its metadata on the path.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

TOY = Path(__file__).parents[1] / "toy"
Assay = Callable[..., subprocess.CompletedProcess[str]]


def install(site: Path) -> None:
    """Write what pip leaves of the toy in a folder of packages, beside its code."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    info = site / f"assay_toy-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
            for group, entries in groups
        )
    )


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """Runs the command in a process that has the toy installed."""
    site = tmp_path / "site"
    install(site)
    path = os.pathsep.join([str(TOY), str(site), os.environ.get("PYTHONPATH", "")])

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path.rstrip(os.pathsep)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run
