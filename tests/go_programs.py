"""Go programs for the tests, built for lock-step virtual time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from clusters.control_plane.builder import go_toolchain
from clusters.go_time.lockstep_patches import PATCHES
from clusters.go_time.overlay import Patches, write_overlay


def require_go() -> None:
    """Skip the test, with what to do, unless the installed Go can be given virtual time."""
    if shutil.which("go") is None:
        pytest.skip("needs Go 1.26 in PATH, on Linux on amd64")


def built(module: Path, folder: Path, patches: Patches = PATCHES) -> Path:
    """Build the module into a directory, which exists; return the program.

    A test that needs it is skipped where there is no Go for it.
    """
    require_go()
    overlay = write_overlay(folder / "overlay", patches, go_toolchain())
    program = folder / module.name
    subprocess.run(
        [go_toolchain(), "build", "-overlay", overlay, "-o", program, "."], cwd=module, check=True
    )
    return program
