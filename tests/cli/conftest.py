"""The command as a fixture."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.cli.command import Ended
from tests.cli.command import assay as run_assay

Assay = Callable[..., Ended]


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Assay:
    """`assay("run", "AW-015")` → how it ended."""
    return lambda *arguments: run_assay(monkeypatch, capsys, *arguments)
