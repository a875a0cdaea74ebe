"""JS-020, 022, 023, 028, 048: what each action does to the counters, and the budget."""

from __future__ import annotations

from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.words import when
from conformance.suites.jobset.api import FAIL_JOB_SET, RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.claims.actions import as_allowed, where
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import api, motivation, story
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import NEED_BUDGET, Answer, Budget, answers


@claim(
    "JS-020",
    api(4),
    armed_by="failure that fails the JobSet",
)
def failed_at_once(run: JobSetRun) -> Obligations:
    """FailJobSet MUST fail the JobSet at once, whatever restarts are left, and MUST NOT change
    how many are counted."""
    for answer in answers(run):
        if any(each.action == FAIL_JOB_SET for each in answer.candidates):
            yield as_allowed(run, answer, Budget.COUNTED)
            if answer.taken == FAIL_JOB_SET:
                yield _counters_unchanged(run, answer)


def _counters_unchanged(run: JobSetRun, answer: Answer) -> Obligation:
    before, after = answer.before, answer.after
    counters = [(each.restarts, each.counted, each.used) for each in (before, after)]
    if counters[0] == counters[1]:
        return met(before, after)
    return violated(
        after,
        f"{when(after)}: {run} failed by FailJobSet, and its restarts went from {before.restarts} "
        f"to {after.restarts}, of which {before.counted} and {after.counted} count.",
        before,
    )


@claim(
    "JS-022",
    api(6),
    armed_by="failure that restarts the JobSet and counts",
)
def restarts_are_limited(run: JobSetRun) -> Obligations:
    """RestartJobSet MUST restart the JobSet while fewer than maxRestarts restarts have been
    counted, and MUST fail it otherwise."""
    return where(run, lambda _, each: each.action == RESTART_JOB_SET, Budget.COUNTED)


@claim(
    "JS-023",
    api(9),
    armed_by="failure that restarts the JobSet and does not count",
)
def ignored_restarts_do_not_count(run: JobSetRun) -> Obligations:
    """RestartJobSetAndIgnoreMaxRestarts MUST restart the JobSet, however often it has restarted,
    and MUST NOT count that towards maxRestarts."""
    return where(run, lambda _, each: each.action == RESTART_UNCOUNTED, Budget.COUNTED)


@claim(
    "JS-028",
    story(3, 1),
    armed_by="failure that counts after a restart that does not",
)
def ignored_restarts_leave_the_budget(run: JobSetRun) -> Obligations:
    """After restarts that do not count, a JobSet MUST still restart as often as maxRestarts says
    for failures that count, and fail at the next one."""
    return where(
        run,
        lambda answer, each: (
            each.action in NEED_BUDGET and answer.before.restarts > answer.before.counted
        ),
        Budget.COUNTED,
    )


@claim(
    "JS-048",
    motivation(3),
    armed_by="failure that is not to be retried",
)
def non_retriable_spends_no_restarts(run: JobSetRun) -> Obligations:
    """Once a failure has matched FailJobSet first, the JobSet MUST NOT restart any more."""
    for answer in answers(run):
        final = [each for each in answer.candidates if each.action == FAIL_JOB_SET]
        if not final or len(final) < len(answer.candidates):
            continue
        last = run.snapshots[-1]
        if last.restarts == answer.before.restarts and last.used == answer.before.used:
            yield met(final[0].failure, answer.after)
        else:
            yield violated(
                last,
                f"{when(last)}: {run} has restarted {last.restarts} times; it had "
                f"{answer.before.restarts} times when {final[0].failure} failed, which no restart "
                "can mend.",
                final[0].failure,
            )
