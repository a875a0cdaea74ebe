"""A killed harness leaves histories to evaluate, and nothing that clean does not remove."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.control_plane

ROOT = Path(__file__).resolve().parents[2]


def test_whatever_a_killed_harness_leaves_can_be_judged_and_removed() -> None:
    """One kill here; many more, and later ones, by hand."""
    command = [sys.executable, str(ROOT / "ci" / "kill-harness")]
    ended = subprocess.run(
        [*command, "--times", "1", "--seed", "5", "--within", "20"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 kill: " in ended.stdout
