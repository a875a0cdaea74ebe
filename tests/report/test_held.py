"""A violated claim that was not selected and is no longer in the report: did it hold?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import pytest

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.comparison import Comparison, compare_reports
from conformance.report.folder import write_folder
from conformance.report.held import held_unasked
from conformance.report.run_result import RunResult
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite
from tests.report.test_comparison import report_of, run_with
from vocabulary.history import Entry, Header, HistoryError

FAILED_BEFORE = run_with(AW_015=Outcome.PASSED, AW_063=Outcome.FAILED)
HOLDS_NOW = run_with(AW_015=Outcome.PASSED, AW_063=Outcome.PASSED)


SELECTION: Final = ("AW-015",)


def compared(
    folder: Path, before: Sequence[RunResult], after: Sequence[RunResult], *, lost: bool = False
) -> Comparison:
    """Two runs of a selection, of which AW-063 is no part; of the second there are histories."""
    baseline, current = (report_of(*runs, claims=SELECTION) for runs in (before, after))
    suite = msgspec.structs.replace(sample_suite(*after), claims=SELECTION)
    write_folder(folder, suite, current, CLAIMS)
    if lost:
        for history in (folder / "histories").iterdir():
            history.unlink()
    verdicts = {run.scenario: run.verdicts for run in after}

    def judge(header: Header, _entries: Sequence[Entry]) -> Sequence[Verdict]:
        return verdicts[header.scenario]

    held = held_unasked(baseline, current, folder, judge)
    return compare_reports(baseline, current, held=held)


def elsewhere(run: RunResult) -> RunResult:
    header = msgspec.structs.replace(run.header, scenario="appwrapper/b")
    return msgspec.structs.replace(run, scenario="appwrapper/b", header=header)


def test_what_its_history_shows_to_hold_is_no_longer_failing(tmp_path: Path) -> None:
    found = compared(tmp_path, [FAILED_BEFORE], [HOLDS_NOW])
    assert [change.claim for change in found.no_longer_failing] == ["AW-063"]
    assert (found.no_longer_tested, found.worse) == ((), "")


@pytest.mark.parametrize(
    "outcome", [Outcome.INCONCLUSIVE, Outcome.SKIPPED, Outcome.UNSUPPORTED, None]
)
def test_what_lost_its_verdict_does_not_pass_the_gate_though_the_report_does_not_have_it(
    tmp_path: Path, outcome: Outcome | None
) -> None:
    unasked = {} if outcome is None else {"AW_063": outcome}
    found = compared(tmp_path, [FAILED_BEFORE], [run_with(AW_015=Outcome.PASSED, **unasked)])
    assert [change.claim for change in found.no_longer_tested] == ["AW-063"]
    assert (found.no_longer_failing, found.worse) == ((), "inconclusive")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([FAILED_BEFORE], [elsewhere(HOLDS_NOW)], id="did not run"),
        pytest.param(
            [FAILED_BEFORE, elsewhere(FAILED_BEFORE)], [HOLDS_NOW], id="one of two did not run"
        ),
        pytest.param(
            [FAILED_BEFORE],
            [HOLDS_NOW, msgspec.structs.replace(HOLDS_NOW, variant="crash at 1")],
            id="campaign",
        ),
        pytest.param(
            [FAILED_BEFORE, msgspec.structs.replace(FAILED_BEFORE, variant="crash at 1")],
            [HOLDS_NOW],
            id="campaign before",
        ),
        pytest.param(
            [msgspec.structs.replace(FAILED_BEFORE, error="no node")],
            [msgspec.structs.replace(HOLDS_NOW, error="no node")],
            id="broke off in both",
        ),
    ],
)
def test_scenarios_that_did_not_run_to_their_end_show_nothing(
    tmp_path: Path, before: Sequence[RunResult], after: Sequence[RunResult]
) -> None:
    found = compared(tmp_path, before, after)
    assert [change.claim for change in found.no_longer_tested] == ["AW-063"]
    assert (found.no_longer_failing, found.worse) == ((), "inconclusive")


def test_without_its_history_nobody_knows(tmp_path: Path) -> None:
    assert compared(tmp_path, [FAILED_BEFORE], [HOLDS_NOW], lost=True).worse == "inconclusive"


def test_a_history_that_is_not_that_of_the_report_shows_nothing_but_an_error(
    tmp_path: Path,
) -> None:
    compared(tmp_path / "other", [FAILED_BEFORE], [elsewhere(HOLDS_NOW)])
    (other,) = (tmp_path / "other" / "histories").iterdir()
    baseline, current = (report_of(run, claims=SELECTION) for run in (FAILED_BEFORE, HOLDS_NOW))
    (row,) = current.claims[0].tests
    path = tmp_path / row.history
    path.parent.mkdir()
    path.write_bytes(other.read_bytes())
    with pytest.raises(HistoryError, match="is not the history that the report is about"):
        held_unasked(baseline, current, tmp_path, lambda _header, _entries: ())
