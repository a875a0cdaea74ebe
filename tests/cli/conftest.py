"""The command, and reports that it wrote, as fixtures."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from conformance.cli import main
from tests.cli.command import Ended
from tests.cli.command import assay as run_assay

MUTANT = "mutant:quota-released-on-failed"
"""The implementation of `Reports.bad`."""

Assay = Callable[..., Ended]


@pytest.fixture
def assay(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Assay:
    """`assay("run", "AW-015")` → how it ended."""
    return lambda *arguments: run_assay(monkeypatch, capsys, *arguments)


class Reports(NamedTuple):
    """Folders of two reports on one scenario."""

    good: Path
    """The reference's report."""
    bad: Path
    """The report of a mutant that releases quota too early."""


@pytest.fixture(scope="session")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Reports:
    """One scenario with a sound controller, and with one that breaks a promise."""
    folder = tmp_path_factory.mktemp("reports")
    found = Reports(folder / "good", folder / "bad")
    wrong = ("--implementation", MUTANT)
    for out, which in ((found.good, ()), (found.bad, wrong)):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(SystemExit):
            patch.setattr(
                "sys.argv",
                ["assay", "run", "slow-pods-hold-their-quota", *which, "-q", "--out", str(out)],
            )
            main()
    return found
