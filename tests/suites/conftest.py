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


def install(site: Path, *, without: str = "") -> None:
    """Write what pip leaves of the toy in a folder of packages, beside its code; `without` names a
    group of its entry points that is left out."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text())["project"]
    info = site / f"assay_toy-{project['version']}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    (info / "entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
            for group, entries in project["entry-points"].items()
            if group != without
        )
    )


def beside_toy(site: Path) -> str:
    """The PYTHONPATH of a process that has the toy installed."""
    return os.pathsep.join([str(TOY), str(site), os.environ.get("PYTHONPATH", "")]).rstrip(
        os.pathsep
    )


def command(tmp_path: Path, site: Path) -> Assay:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "conformance.cli", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": beside_toy(site)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.fixture
def assay(tmp_path: Path) -> Assay:
    """Runs the command in a process that has the toy installed."""
    site = tmp_path / "site"
    install(site)
    return command(tmp_path, site)


@pytest.fixture
def without_reference(tmp_path: Path) -> Assay:
    """The same with a toy that brings no reference controller."""
    site = tmp_path / "bare"
    install(site, without="assay.programs")
    return command(tmp_path, site)
