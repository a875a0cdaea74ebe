"""The command starts fast: what a sub-command needs is imported when it runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

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
    for room in ("fixtures", "chaos", "reference_controller", "conformance.claims"):
        assert room not in loaded
