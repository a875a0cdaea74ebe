"""A stored report is verified against its histories: all changes are found."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.build import build_report
from conformance.report.conformance_report import (
    Allowances,
    ConformanceReport,
    Profile,
    Statistics,
    Tier,
)
from conformance.report.folder import write_folder
from conformance.report.run_result import GIVEN_UP
from conformance.report.tiers import Features, profiles_of, summary_of
from conformance.report.verify import verify_report
from conformance.report.yaml_text import read_report, write_report
from tests.report.sample_claims import CLAIMS
from tests.report.sample_history import SCENARIO
from tests.report.sample_run import failing_run, passing_run, sample_suite
from vocabulary.history import Entry, Header, Mark, write_history


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


def _change(folder: Path, change: Callable[[ConformanceReport], ConformanceReport]) -> None:
    path = folder / "report.yaml"
    path.write_text(write_report(change(read_report(path))), encoding="utf-8")


def _with_allowances(report: ConformanceReport, allowed: Allowances | None) -> ConformanceReport:
    environment = msgspec.structs.replace(report.environment, allowances=allowed)
    return msgspec.structs.replace(report, environment=environment)


def _allow(folder: Path) -> None:
    _change(folder, lambda report: _with_allowances(report, Allowances(latency="900h")))


def _say_nothing(folder: Path) -> None:
    """Leave out what the implementation was allowed, as reports did of old."""
    _change(folder, lambda report: _with_allowances(report, None))


def _cut(folder: Path) -> None:
    path = _history(folder)
    path.write_bytes(path.read_bytes()[:-40])


def _forge(folder: Path) -> None:
    run = failing_run()
    write_history(_history(folder), run.header, run.entries[:-1])


def _garble(folder: Path) -> None:
    _history(folder).write_bytes(b"nonsense\n")


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

    def change(report: ConformanceReport) -> ConformanceReport:
        (profile,) = report.profiles
        summary = summary_of(profile.core, None)
        profile = msgspec.structs.replace(profile, extended=None, summary=summary)
        return msgspec.structs.replace(report, profiles=(profile,))

    _change(folder, change)


def _invent(folder: Path) -> None:
    """Add a profile that succeeds, since there is no claim of it."""
    none = Statistics(passed=0, skipped=0, failed=0, inconclusive=0)
    core = Tier(result="success", statistics=none)
    invented = Profile(name="jobset", summary="Core tests succeeded.", core=core)

    def change(report: ConformanceReport) -> ConformanceReport:
        return msgspec.structs.replace(report, profiles=(*report.profiles, invented))

    _change(folder, change)


def _reword(folder: Path) -> None:
    _edit(folder, "Quota MUST NOT be released before", "Quota MAY be released before")


def _impersonate(folder: Path) -> None:
    """Attribute a mutant's histories to the reference."""
    _edit(folder, " --implementation mutant:quota-released-when-failed", "")


def _move(folder: Path) -> None:
    _edit(folder, "  cluster: simulated", "  cluster: existing")


def _without(report: ConformanceReport, id_: str) -> ConformanceReport:
    """The report without a claim, all that is left adding up."""
    claims = tuple(claim for claim in report.claims if claim.id != id_)
    profiles = profiles_of(claims, (), Features())
    return msgspec.structs.replace(report, claims=claims, profiles=profiles)


def _hide(folder: Path) -> None:
    """Take a violated claim out."""
    _change(folder, lambda report: _without(report, "AW-015"))


def _drop(folder: Path) -> None:
    """Take a claim out that was kept."""
    _change(folder, lambda report: _without(report, "AW-063"))


def _forget(folder: Path) -> None:
    run = passing_run()
    write_history(folder / "histories" / "another.jsonl.gz", run.header, run.entries)


@pytest.mark.parametrize(
    ("tamper", "where", "complaint"),
    [
        (_embellish, "profiles[appwrapper].core.statistics.Failed", "is 0, its claims give 1"),
        (_upgrade, "profiles[appwrapper].core.result", "is success, its claims give failure"),
        (_praise, "profiles[appwrapper].summary", "is Core tests succeeded."),
        (_leave_out, "profiles[appwrapper].extended", "is missing, its claims give"),
        (_invent, "profiles[jobset]", "no claim in this report is of it"),
        (_move, "environment.cluster", "is existing, its histories say simulated"),
        (_allow, "environment.allowances.latency", "is 900h, its histories say 2s"),
        (_say_nothing, "environment.allowances", 'is missing, its histories say {"latency":"2s"'),
        (_hide, "claims[AW-015].tests", "whose history gives failed"),
        (_drop, "claims[AW-063].tests", "whose history gives passed"),
        (_drop, "notCovered[AW-063]", "is missing, its claim gives No checker judged it"),
        (_forget, "histories/another.jsonl.gz", "no row of the report refers to it"),
        (_forge, "histories/", "is not the history that the report is about: its digest is "),
        (_lose, "histories/", "cannot be read"),
        (_flip, ".outcome", "is passed, its history gives failed"),
        (_whitewash, "claims[AW-015].outcome", "is passed, its tests are failed"),
        (_escape, "../../../etc/passwd", "is outside of the directory"),
        (_reword, "claims[AW-015].text", "the claim has Quota MUST NOT"),
        (_impersonate, "reproduce.command", "runs reference, its histories say mutant:quota"),
    ],
)
def test_what_was_tampered_with_is_found(
    folder: Path, tamper: Callable[[Path], None], where: str, complaint: str
) -> None:
    tamper(folder)
    findings = verify_report(folder, CLAIMS, _judge).findings
    assert any(where in found.where and complaint in found.what for found in findings), findings


@pytest.mark.parametrize("spoil", [_cut, _forge, _lose, _garble])
def test_a_history_that_is_not_the_one_that_was_judged_is_told_once_and_not_counted(
    folder: Path, spoil: Callable[[Path], None]
) -> None:
    name = _history(folder).name
    rows = sum(
        name in test.history
        for claim in read_report(folder / "report.yaml").claims
        for test in claim.tests
    )
    assert rows > 1
    spoil(folder)
    found = verify_report(folder, CLAIMS, _judge)
    assert [finding.where for finding in found.findings] == [f"histories/{name}"]
    assert (found.histories, found.histories_judged) == (2, 1)
    assert found.verdicts - found.verdicts_judged == rows


def test_a_history_that_was_cut_off_is_said_to_be_and_where(folder: Path) -> None:
    path = _history(folder)
    path.write_bytes(path.read_bytes()[:-400])
    (finding,) = verify_report(folder, CLAIMS, _judge).findings
    assert re.fullmatch(
        r"is cut off: its last line is missing; it ends after [\d.]+ s, "
        r"and should after [\d.]+ s; it was not judged",
        finding.what,
    )


def test_a_checker_that_says_something_else_today_is_told(folder: Path) -> None:
    def lenient(header: Header, entries: Sequence[Entry]) -> Sequence[Verdict]:
        return [Verdict(claim=claim, outcome=Outcome.PASSED, armed=1) for claim in CLAIMS]

    findings = verify_report(folder, CLAIMS, lenient).findings
    whats = {finding.what for finding in findings if finding.where.endswith(".outcome")}
    assert whats == {"is failed, its history gives passed"}


def test_another_norm_is_told(folder: Path) -> None:
    fewer = {id_: claim for id_, claim in CLAIMS.items() if id_ != "AW-012"}
    assert not verify_report(folder, fewer, _judge).same_norm


def test_a_run_that_broke_off_before_any_claim_was_armed_leaves_its_history(
    tmp_path: Path,
) -> None:
    whole = passing_run()
    given_up = f"{GIVEN_UP}120 writes of appwrapper without progress"
    last = whole.entries[-1]
    end = Mark(n=last.n + 1, t=last.t, mark="not-stable", text=given_up)
    verdicts = (Verdict(claim="AW-063", outcome=Outcome.INCONCLUSIVE, because="None was seen."),)
    run = msgspec.structs.replace(
        whole, entries=(*whole.entries, end), verdicts=verdicts, error=given_up
    )
    suite = sample_suite(run)
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")

    def complaints(told: ConformanceReport) -> list[str]:
        write_folder(tmp_path, suite, told, CLAIMS)
        found = verify_report(tmp_path, CLAIMS, lambda *_: verdicts, lambda *_: None)
        assert found.histories == 1
        return [finding.where for finding in found.findings]

    assert complaints(report) == []
    (error,) = report.errors
    other = msgspec.structs.replace(error, error="not reached: Running")
    assert complaints(msgspec.structs.replace(report, errors=(other,))) == [
        f"errors[{run.scenario}]"
    ]


def test_a_reason_may_be_that_of_a_run_without_a_history(tmp_path: Path) -> None:
    verdicts = (Verdict(claim="AW-063", outcome=Outcome.INCONCLUSIVE, because="None was seen."),)
    suite = sample_suite(msgspec.structs.replace(passing_run(), verdicts=verdicts))
    report = build_report(suite, CLAIMS, version="0", git_commit="", date="")
    write_folder(tmp_path, suite, report, CLAIMS)
    found = verify_report(tmp_path, CLAIMS, lambda *_: verdicts, lambda *_: None)
    assert (found.histories, found.findings) == (0, ())
