"""The command as a fixture."""

from __future__ import annotations

import pytest

from tests.cli.command import assay as run_assay
from tests.cli.conftest import Assay


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Assay:
    """`assay("in-cluster", "manifests")` → how it ended."""
    return lambda *arguments: run_assay(monkeypatch, capsys, *arguments)
