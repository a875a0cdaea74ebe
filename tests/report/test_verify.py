"""A stored report is verified against its histories: whatever was changed is found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from conformance.report.build import build_report, summary_of
from conformance.report.conformance_report import Allowances
from conformance.report.folder import write_folder
from conformance.report.verify import verify_report
from conformance.report.yaml_text import read_report, write_report
from conformance.verdict import Outcome, Verdict
from tests.report.sample_claims import CLAIMS
from tests.report.sample_history import SCENARIO
from tests.report.sample_run import failing_run, passing_run, sample_suite
from vocabulary.history import Entry, Header, write_history


def _judge(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
    """Says again what the sample runs' checkers said."""
    if len(entries) == len(failing_run().entries):
        return failing_run().verdicts
    return passing_run().verdicts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    suite = sample_suite()
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    write_folder(tmp_path / "out", suite, report, CLAIMS)
    return tmp_path / "out"


def _history(folder: Path) -> Path:
    return next((folder / "histories").glob("*slow-pods*"))


def _edit(folder: Path, old: str, new: str) -> None:
    path = folder / "report.yaml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_an_untouched_report_verifies(folder: Path) -> None:
    found = verify_report(folder, CLAIMS, _judge)
    assert found.findings == ()
    assert found.histories == 2
    assert found.verdicts == 4
    assert found.same_norm


def _allow(folder: Path) -> None:
    path = folder / "report.yaml"
    report = read_report(path)
    allowed = Allowances(latency="900h")
    environment = msgspec.structs.replace(report.environment, allowances=allowed)
    text = write_report(msgspec.structs.replace(report, environment=environment))
    path.write_text(text, encoding="utf-8")


def _cut(folder: Path) -> None:
    path = _history(folder)
    path.write_bytes(path.read_bytes()[:-40])


def _forge(folder: Path) -> None:
    run = failing_run()
    write_history(_history(folder), run.header, run.entries[:-1])


def _lose(folder: Path) -> None:
    _history(folder).unlink()


def _flip(folder: Path) -> None:
    _edit(
        folder,
        f"  - name: {SCENARIO}\n    seed: 1729\n    outcome: failed",
        f"  - name: {SCENARIO}\n    seed: 1729\n    outcome: passed",
    )


def _whitewash(folder: Path) -> None:
    _edit(folder, "  outcome: failed\n  reason", "  outcome: passed\n  reason")


def _escape(folder: Path) -> None:
    _edit(folder, f"history: histories/{_history(folder).name}", "history: ../../../etc/passwd")


def _embellish(folder: Path) -> None:
    _edit(folder, "      Failed: 1", "      Failed: 0")


def _upgrade(folder: Path) -> None:
    _edit(folder, "    result: failure", "    result: success")


def _praise(folder: Path) -> None:
    _edit(folder, "Core tests failed with 1 test failure.", "Core tests succeeded.")


def _leave_out(folder: Path) -> None:
    """Take the extended tier out, although it has a claim."""
    path = folder / "report.yaml"
    report = read_report(path)
    (profile,) = report.profiles
    profile = msgspec.structs.replace(
        profile, extended=None, summary=summary_of(profile.core, None)
    )
    path.write_text(
        write_report(msgspec.structs.replace(report, profiles=(profile,))), encoding="utf-8"
    )


def _move(folder: Path) -> None:
    _edit(folder, "  cluster: simulated", "  cluster: existing")


def _hide(folder: Path) -> None:
    """Take a violated claim out, so that all that is left adds up."""
    path = folder / "report.yaml"
    report = read_report(path)
    (profile,) = report.profiles
    statistics = msgspec.structs.replace(profile.core.statistics, failed=0)
    core = msgspec.structs.replace(
        profile.core, result="partial", statistics=statistics, failed_tests=()
    )
    profile = msgspec.structs.replace(
        profile, core=core, summary=summary_of(core, profile.extended)
    )
    claims = tuple(claim for claim in report.claims if claim.id != "AW-015")
    report = msgspec.structs.replace(report, profiles=(profile,), claims=claims)
    path.write_text(write_report(report), encoding="utf-8")


def _forget(folder: Path) -> None:
    run = passing_run()
    write_history(folder / "histories" / "another.jsonl.gz", run.header, run.entries)


@pytest.mark.parametrize(
    ("tamper", "complaint"),
    [
        (_embellish, "has other statistics than its claims"),
        (_upgrade, "has result success, its claims failure"),
        (_praise, "has a summary that its tiers do not have"),
        (_leave_out, "is missing, although there are claims of it"),
        (_move, "was recorded with cluster simulated, not existing"),
        (_allow, "was judged with latency none, not 900h"),
        (_hide, "is violated in histories/appwrapper-quota-release"),
        (_forget, "is stored, but no row of the report refers to it"),
        (_cut, "cut short"),
        (_forge, "has digest"),
        (_lose, "cannot be read"),
        (_flip, "is failed now, the report says passed"),
        (_whitewash, "one of its tests is failed"),
        (_escape, "lies outside of the report's folder"),
    ],
)
def test_what_was_tampered_with_is_found(
    folder: Path, tamper: Callable[[Path], None], complaint: str
) -> None:
    tamper(folder)
    findings = verify_report(folder, CLAIMS, _judge).findings
    assert any(complaint in finding.what for finding in findings), findings


def test_a_checker_that_says_something_else_today_is_told(folder: Path) -> None:
    def lenient(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
        return [Verdict(claim=claim, outcome=Outcome.PASSED, armed=1) for claim in CLAIMS]

    (finding,) = verify_report(folder, CLAIMS, lenient).findings
    assert finding.what == "is passed now, the report says failed"


def test_another_norm_is_told(folder: Path) -> None:
    fewer = {id_: claim for id_, claim in CLAIMS.items() if id_ != "AW-012"}
    assert not verify_report(folder, fewer, _judge).same_norm
