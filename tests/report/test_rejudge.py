"""Re-evaluating a stored report keeps the recording and replaces the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import build_report
from conformance.report.conformance_report import JudgedAgain, ReportError
from conformance.report.folder import write_folder
from conformance.report.rejudge import Rejudged, rejudged
from conformance.report.run_result import RunResult, SuiteResult
from conformance.report.verify import verify_report
from conformance.report.yaml_text import read_report, read_report_at, write_report
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import failing_run, passing_run, sample_suite
from vocabulary.history import Entry, Header, HistoryError, write_history

BY = JudgedAgain(version="0.2.0", git_commit="f00d", date="2026-02-02T00:00:00Z")


def as_before(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
    """Says again what the sample runs' checkers said."""
    run = failing_run() if len(entries) == len(failing_run().entries) else passing_run()
    return run.verdicts


def mended(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
    """A checker of AW-015 that finds no violation where there was one."""
    return [
        Verdict(claim="AW-015", outcome=Outcome.PASSED, armed=verdict.armed)
        if verdict.claim == "AW-015"
        else verdict
        for verdict in as_before(header, entries)
    ]


def stored(folder: Path, *runs: RunResult, **changes: object) -> Path:
    """The folder of a suite that is no campaign; `changes` are of the suite's result."""
    no_campaign = {"crash_points": (0, 0), "plans": 0, "random_plans": 0}
    suite: SuiteResult = msgspec.structs.replace(sample_suite(*runs), **no_campaign | changes)
    report = build_report(suite, CLAIMS, version="0.1.0", git_commit="c0ffee", date="2026-01-01")
    write_folder(folder, suite, report, CLAIMS)
    return folder


def again(folder: Path, judge: object = as_before) -> Rejudged:
    return rejudged(folder, lambda _runs: CLAIMS, judge, BY)  # type: ignore[arg-type]


def test_judged_as_before_the_report_differs_only_in_who_judged(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run", rerun=2, notes=("a note",))
    before = read_report_at(folder)
    found = again(folder)
    suite = msgspec.structs.replace(before.suite, judged_again=BY)
    assert found.report == msgspec.structs.replace(before, suite=suite)
    assert found.report.suite.commits == "c0ffee, judged again on 2026-02-02 with f00d"
    assert found.notes == ()


def test_a_mended_checker_changes_its_verdicts_and_all_that_follows_from_them(
    tmp_path: Path,
) -> None:
    folder = stored(tmp_path / "run")
    found = again(folder, mended)
    (profile,) = found.report.profiles
    assert (found.before.result, profile.core.failed_tests) == ("failure", ())
    assert "failure" not in profile.summary
    write_folder(tmp_path / "new", found.suite, found.report, CLAIMS)
    assert verify_report(tmp_path / "new", CLAIMS, mended).findings == ()
    assert verify_report(tmp_path / "new", CLAIMS, as_before).findings != ()


def test_histories_are_the_same_bytes_and_the_old_report_stays(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run")
    report = (folder / "report.yaml").read_bytes()
    found = again(folder, mended)
    write_folder(tmp_path / "new", found.suite, found.report, CLAIMS)
    for path in (folder / "histories").iterdir():
        assert (tmp_path / "new" / "histories" / path.name).read_bytes() == path.read_bytes()
    assert (folder / "report.yaml").read_bytes() == report


def test_who_judged_is_read_again_as_it_was_written(tmp_path: Path) -> None:
    found = again(stored(tmp_path / "run")).report
    (tmp_path / "report.yaml").write_text(write_report(found), encoding="utf-8")
    assert read_report(tmp_path / "report.yaml") == found


def test_wall_times_reasons_and_broken_off_runs_stay_as_they_were_told(tmp_path: Path) -> None:
    armed_at_last = Verdict(claim="AW-049", outcome=Outcome.PASSED, armed=1)
    longer = msgspec.structs.replace(
        passing_run(),
        entries=passing_run().entries[:-1],
        verdicts=(*passing_run().verdicts, armed_at_last),
        variant="durations × 2",
        wall_seconds=3.0,
    )

    def judge(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
        return longer.verdicts if entries == list(longer.entries) else as_before(header, entries)

    broken = msgspec.structs.replace(failing_run(), error="not reached: Running")
    folder = stored(
        tmp_path / "run", broken, passing_run(), longer, out_of_reach={"AW-012": "Not here."}
    )
    before, found = read_report_at(folder), again(folder, judge)
    assert found.report.errors == before.errors != ()
    assert found.report.claims == before.claims
    (aw_012,) = (claim for claim in found.report.claims if claim.id == "AW-012")
    assert aw_012.reason == "Not here."


def test_of_a_selection_the_rest_stays_skipped(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run", passing_run(), claims=("AW-015",))
    before, found = read_report_at(folder), again(folder)
    assert before.profiles[0].core.skipped_tests
    assert found.report.profiles == before.profiles


def test_a_run_without_a_history_is_told(tmp_path: Path) -> None:
    (note,) = again(stored(tmp_path / "run", plans=3)).notes
    assert note.startswith("1 run of 3 without a stored history")


@pytest.mark.parametrize("change", [{"crash_points": (4, 4)}, {"random_plans": 2}])
def test_a_campaign_is_refused_with_the_command_that_runs_it_again(
    tmp_path: Path, change: dict[str, object]
) -> None:
    folder = stored(tmp_path / "run", **change)
    with pytest.raises(ReportError, match=r"campaign.*run it again: assay run appwrapper"):
        again(folder)


def test_a_history_that_is_another_one_is_refused(tmp_path: Path) -> None:
    folder = stored(tmp_path / "run")
    run = passing_run()
    path = next((folder / "histories").glob("*ttl*"))
    write_history(path, run.header, run.entries[:-1])
    with pytest.raises(HistoryError, match="is not the history that the report is about"):
        again(folder)
    path.unlink()
    with pytest.raises(HistoryError, match="cannot be read"):
        again(folder)


def test_a_shrunk_run_is_kept_as_long_as_it_is_a_violation(tmp_path: Path) -> None:
    small = msgspec.structs.replace(failing_run(), shrunk="2 nodes → 1")
    folder = stored(tmp_path / "run", shrunk={"AW-015": small})
    kept = again(folder)
    assert kept.suite.shrunk["AW-015"].plan["faults"] == small.plan["faults"]
    assert kept.report.claims == kept.before.claims
    assert again(folder, mended).suite.shrunk == {}
    (folder / "aw-015.yaml").unlink()
    without = again(folder)
    assert without.suite.shrunk == {}
    assert "the shrunk run of AW-015 is left out" in without.notes[0]
