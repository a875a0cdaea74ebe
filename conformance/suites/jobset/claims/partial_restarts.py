"""JS-070, 071, 073, 074: restarts of a single Job, and of a replicated job."""

from __future__ import annotations

from conformance.norm import Obligations
from conformance.norm.claim import Claim, Level
from conformance.suites.jobset.api import (
    KEP,
    RESTART_JOB,
    RESTART_JOB_SET,
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
from conformance.suites.jobset.judging import judges
from conformance.suites.jobset.sources import future_work
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import Budget, answers
from conformance.suites.jobset.view.back_off import backs_off
from conformance.suites.jobset.view.generations import deleted, replaced_by
from conformance.suites.jobset.view.scopes import attempt_stays, comes_back, left_alone
from conformance.suites.jobset.view.status_steps import steps
from vocabulary.objects import get_path

PARTIAL = (RESTART_REPLICATED_JOB, RESTART_JOB)

JS_070 = Claim(
    id="JS-070",
    name="replicated-job-restarts-alone",
    level=Level.EXTENDED,
    suite="jobset",
    text="RestartReplicatedJob MUST delete the Jobs of the replicated job whose Job failed and "
    "have them created again, MUST NOT delete Jobs of others, and MUST NOT change the restart "
    "attempt.",
    source=future_work(
        "To restart the child jobs of a specific replicated job, the controller will delete the "
        "child jobs of the target replicated job, without incrementing the restart attempt "
        "annotation."
    ),
    decision=(ACTIVE_JOBS, TARGET_OF_PARTIAL),
)


@judges(JS_070, armed_by="failure that restarts a replicated job")
def replicated_job_restarts_alone(run: JobSetRun) -> Obligations:
    return _restarts_alone(run, RESTART_REPLICATED_JOB)


JS_071 = Claim(
    id="JS-071",
    name="job-restarts-alone",
    level=Level.EXTENDED,
    suite="jobset",
    text="RestartJob MUST delete the Job that failed and have it created again, MUST NOT delete "
    "other Jobs, and MUST NOT change a label or annotation that counts restart attempts.",
    source=future_work(
        "To restart a single child job without restarting the entire JobSet, the controller will "
        "delete that particular child job, without incrementing the restart attempt annotation, "
        "and allow the normal reconciliation process to recreate it."
    ),
    decision=ATTEMPT_LABELS,
    editions=(KEP,),
)


@judges(JS_071, armed_by="failure that restarts a single Job")
def job_restarts_alone(run: JobSetRun) -> Obligations:
    return _restarts_alone(run, RESTART_JOB)


def _restarts_alone(run: JobSetRun, action: str) -> Obligations:
    yield from triggered(run, lambda each: each.action == action)
    for step in steps(run):
        if step.taken == action:
            for child in replaced_by(run, step):
                yield deleted(run, step, child)
            yield from left_alone(run, step)
            yield from attempt_stays(run, step)


JS_073 = Claim(
    id="JS-073",
    name="partial-restarts-are-limited",
    level=Level.PROVISIONAL,
    suite="jobset",
    text="Restarts of Jobs and of replicated jobs MUST use up the same maxRestarts as those of the "
    "JobSet that count; a Job MUST come back after a back-off of 1 s, doubled with each failure up "
    "to 60 s.",
    source=future_work(
        "since we do not want to restart indefinitely, there needs to be some limit"
    ),
    decision=(LIMITED_PARTIAL_RESTARTS, COUNTERS),
    editions=(KEP,),
)


@judges(JS_073, armed_by="failure that restarts a part of a JobSet, or that counts after one did")
def partial_restarts_are_limited(run: JobSetRun) -> Obligations:
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


JS_074 = Claim(
    id="JS-074",
    name="others-restart-the-jobset",
    level=Level.EXTENDED,
    suite="jobset",
    text="In a JobSet with a rule that restarts a replicated job, the failure of another one MUST "
    "restart the whole JobSet, as RestartJobSet does, and its Jobs with it.",
    source=future_work(
        "However, if the driver crashes, I want to restart the entire JobSet, then resume training "
        "from the latest checkpoint."
    ),
    decision=(REPAIRED_FUTURE, ACTIVE_JOBS),
)


@judges(JS_074, armed_by="failure of another replicated job than the one that restarts alone")
def others_restart_the_jobset(run: JobSetRun) -> Obligations:
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
