"""The command starts fast: what a sub-command needs is imported when it runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXTRAS = ("kubernetes", "tenacity", "prometheus_client", "cryptography", "pytest_kind", "chaoslib")
"""Packages that `pip install assay` alone does not install."""
HEAVY = ("rich", "jinja2", "yaml", "msgspec", "kubernetes", "jsonschema", "asyncio", "ssl")


def _loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("package", HEAVY)
def test_parsing_a_command_line_does_not_import(package: str) -> None:
    assert package not in _loaded_by("import conformance.cli")


def test_no_room_is_imported_before_a_command_runs() -> None:
    loaded = _loaded_by("import conformance.cli")
    for room in ("clusters", "chaos", "reference_controller", "conformance.claims"):
        assert room not in loaded


def test_a_simulated_run_needs_no_extra_and_waits_for_no_other_cluster(tmp_path: Path) -> None:
    """Make blocked packages fail to import, as if they were not installed."""
    run = ["assay", "run", "one-failure-is-retried", "--quiet", "--out", str(tmp_path / "out")]
    loaded = _loaded_by(
        f"import sys; sys.modules.update(dict.fromkeys({(*EXTRAS, 'pytest', 'hypothesis')}))\n"
        f"sys.argv = {run}\n"
        "import contextlib, io\n"
        "from conformance.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main()"
    )
    assert (tmp_path / "out" / "report.yaml").is_file()
    assert "clusters.control_plane" not in loaded
