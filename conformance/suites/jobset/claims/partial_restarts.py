"""JS-070, 071, 073, 074, 111: restarts of a single Job, and of a replicated job."""

from __future__ import annotations

from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import (
    KEP,
    KEP_V0_12,
    RELEASED,
    RESTART_JOB,
    RESTART_JOB_SET,
    RESTART_JOB_UNCOUNTED,
    RESTART_REPLICATED_JOB,
)
from conformance.suites.jobset.claims.actions import as_allowed, triggered, where
from conformance.suites.jobset.decisions import (
    ACTIVE_JOBS,
    ATTEMPT_LABELS,
    COUNTERS,
    LIMITED_PARTIAL_RESTARTS,
    REPAIRED_FUTURE,
    TARGET_OF_PARTIAL,
)
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import field, future_story, future_work
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Answer, Budget, answers
from conformance.suites.jobset.view.back_off import backs_off
from conformance.suites.jobset.view.generations import deleted, replaced_by
from conformance.suites.jobset.view.scopes import (
    attempt_stays,
    comes_back,
    is_relabelled,
    left_alone,
    scopes_of,
)
from conformance.suites.jobset.view.status_steps import steps
from vocabulary.objects import get_path

PARTIAL = (RESTART_REPLICATED_JOB, RESTART_JOB)


@claim(
    "JS-070",
    future_work(6),
    level=Level.EXTENDED,
    decision=(ACTIVE_JOBS, TARGET_OF_PARTIAL),
    armed_by="failure that restarts a replicated job",
)
def replicated_job_restarts_alone(run: JobSetRun) -> Obligations:
    """RestartReplicatedJob MUST delete the Jobs of the replicated job whose Job failed and have
    them created again, MUST NOT delete Jobs of others, and MUST NOT change the restart attempt."""
    return _restarts_alone(run, RESTART_REPLICATED_JOB)


@claim(
    "JS-071",
    future_work(9),
    level=Level.EXTENDED,
    decision=ATTEMPT_LABELS,
    armed_by="failure that restarts a single Job",
)
def job_restarts_alone(run: JobSetRun) -> Obligations:
    """RestartJob MUST delete the Job that failed and have it created again, MUST NOT delete
    other Jobs, and MUST NOT change a label or annotation that counts restart attempts."""
    return _restarts_alone(run, RESTART_JOB, RESTART_JOB_UNCOUNTED)


def _restarts_alone(run: JobSetRun, *actions: str) -> Obligations:
    yield from triggered(run, lambda each: each.action in actions)
    for answer in answers(run):
        step = answer.step
        if step.taken in actions:
            yield from _of_the_failed_job(run, answer)
            for child in replaced_by(run, step):
                yield deleted(run, step, child)
            yield from left_alone(run, step)
            yield from attempt_stays(run, step)


def _of_the_failed_job(run: JobSetRun, answer: Answer) -> Obligations:
    """That the status counts a partial restart for the Job that failed, or its replicated job."""
    step = answer.step
    children = [each.failure.child for each in answer.pending]
    if not children or step.partial is None:
        return
    if any(step.partial in scopes_of(child) for child in children):
        yield met(answer.pending[0].failure, step.first)
    elif any(is_relabelled(child, step.first.n) for child in children):
        yield undecided(step.first, "a failed Job was relabelled")
    else:
        yield violated(
            step.first,
            f"{when(step.first)}: the status of {run} counts a {step.taken} of "
            f"{step.partial[1] or step.partial[0]}, of which no Job has failed.",
            answer.pending[0].failure,
        )


@claim(
    "JS-073",
    future_work(2),
    level=Level.PROVISIONAL,
    decision=(LIMITED_PARTIAL_RESTARTS, COUNTERS),
    editions=(KEP,),
    armed_by="failure that restarts a part of a JobSet, or that counts after one did",
)
def partial_restarts_are_limited(run: JobSetRun) -> Obligations:
    """Restarts of Jobs and of replicated jobs MUST use up the same maxRestarts as those of the
    JobSet that count; a Job MUST come back after a back-off of 1 s, doubled with each failure up
    to 60 s."""
    yield from where(
        run,
        lambda answer, each: (
            each.action in PARTIAL
            or (each.action == RESTART_JOB_SET and answer.used > answer.counted)
        ),
        Budget.SHARED,
    )
    for step in steps(run):
        if step.taken in PARTIAL:
            backed_off = backs_off(run, step)
            if backed_off is not None:
                yield backed_off
            yield from comes_back(run, step)


@claim(
    "JS-111",
    field("FailurePolicyAction.RestartJob", 1),
    level=Level.EXTENDED,
    decision=COUNTERS,
    editions=(RELEASED, KEP_V0_12),
    armed_by="failure that restarts a single Job, or that counts after one did",
)
def job_restarts_share_the_budget(run: JobSetRun) -> Obligations:
    """RestartJob MUST restart the Job while fewer than maxRestarts restarts that count, of the
    JobSet and of its Jobs together, have been taken, and MUST fail the JobSet otherwise, as
    RestartJobSet MUST; RestartJobAndIgnoreMaxRestarts MUST restart the Job and not count that."""
    return where(
        run,
        lambda answer, each: (
            each.action in (RESTART_JOB, RESTART_JOB_UNCOUNTED)
            or (each.action == RESTART_JOB_SET and answer.used > answer.counted)
        ),
        Budget.SHARED,
    )


@claim(
    "JS-074",
    future_story(1, 3),
    level=Level.EXTENDED,
    decision=(REPAIRED_FUTURE, ACTIVE_JOBS),
    armed_by="failure of another replicated job than the one that restarts alone",
)
def others_restart_the_jobset(run: JobSetRun) -> Obligations:
    """In a JobSet with a rule that restarts a replicated job, the failure of another one MUST
    restart the whole JobSet, as RestartJobSet does, and its Jobs with it."""
    for answer in answers(run):
        rules = get_path(answer.before.object, "spec.failurePolicy.rules") or ()
        if all(rule["action"] != RESTART_REPLICATED_JOB for rule in rules):
            continue
        if not any(each.rule is None for each in answer.candidates):
            continue
        yield as_allowed(run, answer)
        if answer.step.is_global:
            for child in replaced_by(run, answer.step):
                yield deleted(run, answer.step, child)
