"""Comparison of a replay with the recorded history that a plan refers to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from chaos.plan import Plan
from chaos.recorded import Recorded
from conformance.norm.verdict import Verdict
from conformance.report.conformance_report import Suite
from conformance.report.run_result import RunResult
from conformance.report.text import decisive_step, event_line
from vocabulary.history import history_digest

SIMULATED: Final = "simulated"


def digest_of(run: RunResult) -> str:
    """The SHA-256 of the run's history, in hex."""
    return run.history_sha256 or history_digest(run.header, run.entries)


def assay_told(version: str, git_commit: str) -> str:
    """The Assay version, for readers: `0.9.0`, `0.9.0 at 1a2b3c4d5e6f-dirty`."""
    commit, dirty, _ = git_commit.partition("-dirty")
    return f"{version} at {commit[:12]}{dirty}" if commit else version


def recorded(run: RunResult, suite: Suite, verdicts: Sequence[Verdict]) -> Recorded | None:
    """The reference to a run's history, of which these verdicts are shown, for its plan; None in
    real time, where no history repeats."""
    if run.header.cluster != SIMULATED:
        return None
    return recorded_by(run, assay_told(suite.version, suite.git_commit), verdicts)


def recorded_by(run: RunResult, assay: str, verdicts: Sequence[Verdict]) -> Recorded:
    return Recorded(digest_of(run), assay, _decisive(run, verdicts))


def _decisive(run: RunResult, verdicts: Sequence[Verdict]) -> str:
    for verdict in verdicts:
        step = decisive_step(run, verdict)
        if step is not None:
            return f"{verdict.claim} at {' '.join(event_line(step).split())}"
    return ""


def is_another(run: RunResult, plan: Plan, recorded_of: str) -> bool:
    """True if the plan tells of a history of this implementation that is not the run's."""
    return (
        run.header.cluster == SIMULATED
        and plan.recorded is not None
        and run.header.implementation == recorded_of
        and digest_of(run) != plan.recorded.sha256
    )


def compared(run: RunResult, plan: Plan, recorded_of: str, this_assay: str) -> str:
    """One line: is the run's history the one that the plan tells of, and if not, why that may be.

    `recorded_of` is the implementation that the plan is of, `this_assay` as `assay_told` has it.
    """
    digest = digest_of(run)
    told = plan.recorded
    if run.header.cluster != SIMULATED:
        return (
            f"history: sha256 {digest}; where time is real no run gives the same one twice, "
            "so compare the verdicts"
        )
    if told is None:
        return f"history: sha256 {digest}; the plan does not tell which one was recorded"
    if run.header.implementation != recorded_of:
        return f"history: sha256 {digest}; that of {recorded_of} was recorded: sha256 {told.sha256}"
    if digest == told.sha256:
        return f"the same history as recorded (sha256 {digest})"
    why = (
        f"Assay {told.assay} recorded it, this is {this_assay}"
        if told.assay != this_assay
        else "the plan, or the code of Assay, was changed since"
    )
    return f"not the history that was recorded: sha256 {digest}, not {told.sha256}; {why}"
