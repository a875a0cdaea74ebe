"""JS-090, 092, 097: each failure counts once, counters only grow, and an end comes."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history.tracks import Instant
from conformance.norm import Obligation, Obligations, met, not_before, undecided, violated
from conformance.norm.claim import Claim, Level
from conformance.norm.words import when
from conformance.suites.jobset.api import FAIL_JOB_SET, KEP, RESTART_JOB
from conformance.suites.jobset.decisions import FIRST_FAILURE, LIMITED_PARTIAL_RESTARTS
from conformance.suites.jobset.judging import judges
from conformance.suites.jobset.sources import api, future_work
from conformance.suites.jobset.view import Failure, JobSetRun
from conformance.suites.jobset.view.answers import answers
from conformance.suites.jobset.view.generations import successor
from conformance.suites.jobset.view.status_steps import Step, steps
from vocabulary.clock import MINUTE, SECOND, Micros, parse_rfc3339
from vocabulary.objects import get_path

JS_090 = Claim(
    id="JS-090",
    name="each-failure-counts-once",
    level=Level.DERIVED,
    suite="jobset",
    text="Each restart of a JobSet, and each failure of it by the policy, MUST answer a Job that "
    "failed and that no earlier restart has replaced.",
    source=api(
        "For a given Job failure, the rules will be evaluated in order, and only the first "
        "matching rule will be executed."
    ),
    decision=FIRST_FAILURE,
)


@judges(JS_090, armed_by="restart or failure of a JobSet")
def each_failure_counts_once(run: JobSetRun) -> Obligations:
    for answer in answers(run):
        if answer.candidates:
            yield met(answer.candidates[0].failure, answer.after)
        elif answer.taken == FAIL_JOB_SET and run.failures:
            yield undecided(answer.after, "Jobs had failed that are left so")
        elif answer.step.is_open:
            yield undecided(answer.after, f"the other counter of {run} may have followed")
        else:
            yield violated(
                answer.after,
                f"{when(answer.after)}: {answer.taken} of {run} answers no failure: no Job stood "
                "failed that an earlier restart had not replaced.",
                answer.before,
            )


JS_092 = Claim(
    id="JS-092",
    name="counters-only-grow",
    level=Level.DERIVED,
    suite="jobset",
    text="The numbers of restarts, of the JobSet and of its parts, MUST never decrease; those of "
    "the JobSet that count MUST be at most all of them, and at most maxRestarts.",
    source=api("MaxRestarts defines the limit on the number of JobSet restarts."),
)


@judges(JS_092, armed_by="restart of a JobSet")
def counters_only_grow(run: JobSetRun) -> Obligations:
    for before, after in run.changes:
        actor = after.write.actor
        if actor and not run.operator.is_by(actor):
            continue
        for key, was, is_ in (
            ("restarts", before.restarts, after.restarts),
            ("restartsCountTowardsMax", before.counted, after.counted),
        ):
            if is_ < was:
                yield violated(
                    after, f"{when(after)}: {key} of {run} went from {was} to {is_}.", before
                )
        for (replicated_job, job), was in before.partial.items():
            if (is_ := after.partial.get((replicated_job, job), 0)) < was:
                yield violated(
                    after,
                    f"{when(after)}: the restarts of {job or replicated_job} alone in {run} went "
                    f"from {was} to {is_}.",
                    before,
                )
    for step in steps(run):
        if not step.is_open:
            yield _within_limits(run, step)


def _within_limits(run: JobSetRun, step: Step) -> Obligation:
    after, limit = step.after, max(0, step.after.max_restarts)
    if after.counted > after.restarts or (
        after.counted > limit and after.counted > step.before.counted
    ):
        return violated(
            after,
            f"{when(after)}: {run} has {after.counted} counted restarts of {after.restarts}, and "
            f"maxRestarts is {after.max_restarts}.",
            step.before,
        )
    return met(step.before, after)


JS_097 = Claim(
    id="JS-097",
    name="restarts-come-to-an-end",
    level=Level.DERIVED,
    suite="jobset",
    text="Restarts of the JobSet that count and partial ones MUST together be at most maxRestarts, "
    "and a Job that restarts alone MUST NOT start again before its back-off is over.",
    source=future_work(
        "since we do not want to restart indefinitely, there needs to be some limit."
    ),
    decision=LIMITED_PARTIAL_RESTARTS,
    # Released controllers restart single Jobs without a back-off.
    editions=(KEP,),
)


@judges(JS_097, armed_by="restart that counts, whole or partial")
def restarts_come_to_an_end(run: JobSetRun) -> Obligations:
    for step in steps(run):
        if step.after.used > step.before.used:
            yield _within_budget(run, step)
    yield from _backed_off(run)


def _within_budget(run: JobSetRun, step: Step) -> Obligation:
    limit = max(0, step.after.max_restarts)
    if step.after.used <= limit:
        return met(step.before, step.after)
    return violated(
        step.after,
        f"{when(step.after)}: {run} has spent {step.after.used} restarts, whole and partial ones; "
        f"maxRestarts is {step.after.max_restarts}.",
        step.before,
    )


_FIRST_US = SECOND
_LONGEST_US = MINUTE
_HEALTHY_US = 10 * MINUTE


def _backed_off(run: JobSetRun) -> Iterator[Obligation]:
    """The back-off of each Job that restarts alone, counted from its failure in whole seconds."""
    streaks: dict[str, int] = {}
    began_us = run.history.header.began_us
    for answer in answers(run):
        if answer.taken != RESTART_JOB or answer.step.partial is None:
            continue
        name = answer.step.partial[1]
        failures = [each.failure for each in answer.candidates if each.failure.child.name == name]
        if not failures:
            continue
        failure = failures[0]
        lasted = _ran_us(failure)
        streaks[name] = 1 if lasted >= _HEALTHY_US else streaks.get(name, 0) + 1
        following = successor(run, failure.child)
        yield not_before(
            run,
            f"the creation of job/{name}",
            since=Instant(failure.n, failure.stamp_us - began_us),
            at_least_us=min(_FIRST_US << (streaks[name] - 1), _LONGEST_US),
            happened=None if following is None else following.track.created,
            own=False,
            origin="the back-off",
            evidence=(failure,),
        )


def _ran_us(failure: Failure) -> Micros:
    """How long a Job had run when it failed, at least a second more than it may have."""
    started = get_path(failure.write.object or {}, "status.startTime")
    return 0 if started is None else failure.stamp_us - parse_rfc3339(started) + SECOND
