"""JS-001, 026, 091, 094, 115: which Jobs a restart replaces, and what is there after it."""

from __future__ import annotations

from conformance.history import Track
from conformance.norm import Obligation, Obligations, met, never, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.jobset.decisions import ACTIVE_JOBS, RESTART_STRATEGIES
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import api, future_work, implementation, story
from conformance.suites.jobset.view import Child, JobSetRun
from conformance.suites.jobset.view.answers import (
    answers,
    was_deleted_by_others,
    was_orphaned_by_others,
)
from conformance.suites.jobset.view.generations import (
    created_again,
    deleted,
    is_blocking,
    is_owned,
    none_too_early,
    replaced_by,
    was_refused,
)
from conformance.suites.jobset.view.left_failed import is_left_failed
from conformance.suites.jobset.view.startup import is_held_back
from conformance.suites.jobset.view.status_steps import is_replaced, steps
from vocabulary.kinds import POD
from vocabulary.objects import controller_of, get_path


@claim(
    "JS-001",
    api(27),
    decision=(ACTIVE_JOBS, RESTART_STRATEGIES),
    armed_by="restart of a JobSet",
)
def restart_recreates_all_active_jobs(run: JobSetRun) -> Obligations:
    """A restart of a JobSet MUST delete all of its active Jobs, and create each of them again
    once it is gone."""
    for step in steps(run):
        if not step.is_global:
            continue
        for child in replaced_by(run, step):
            yield deleted(run, step, child)
            created = created_again(run, step, child)
            if created is not None:
                yield created
        yield from none_too_early(run, step)


@claim(
    "JS-026",
    story(4, 4),
    decision=ACTIVE_JOBS,
    armed_by="restart of a JobSet with other replicated jobs than the one that failed",
)
def restarts_are_global(run: JobSetRun) -> Obligations:
    """A restart of the JobSet MUST restart the Jobs of all replicated jobs, also where the rule
    that leads to it targets one of them."""
    for answer in answers(run):
        failed = {each.failure.child.replicated_job for each in answer.candidates}
        if not answer.step.is_global or len(failed) != 1:
            continue
        for child in replaced_by(run, answer.step):
            if child.replicated_job not in failed:
                yield deleted(run, answer.step, child)


@claim(
    "JS-091",
    implementation(6),
    level=Level.DERIVED,
    decision=ACTIVE_JOBS,
    armed_by="JobSet came to rest before its end",
)
def one_job_for_each_index(run: JobSetRun) -> Obligations:
    """When a JobSet that has not ended comes to rest, there MUST be exactly one Job for each
    index of each replicated job, created since the last restart that concerns it, and no pod
    MUST be left of those that the controller deleted."""
    end = run.history.end
    last = run.at(end.n)
    if not run.history.is_stable or last is None:
        return
    if last.has_ended or last.is_suspended or last.is_terminating:
        return
    standing = run.standing(end.n)
    for name in run.wanted:
        yield _there_once(run, name, [child for child in standing if child.name == name])
    yield from _orphaned(run)
    beyond = [child for child in standing if child.name not in run.wanted]
    if beyond:
        yield violated(
            end,
            f"{when(end)}: {run} has {listed(map(str, beyond))}, for which its spec has no index.",
            *(child.track.created for child in beyond),
        )


def _orphaned(run: JobSetRun) -> Obligations:
    """Pods that are left of Jobs that the controller deleted."""
    end = run.history.end
    for child in run.children:
        if child.track.removed is None or was_deleted_by_others(run, child):
            continue
        if was_orphaned_by_others(run, child):
            continue
        pods = run.history.owned.get(child.track.uid, ())
        left = [pod for pod in pods if pod.kind == "Pod" and pod.exists_at(end.n)]
        if left:
            yield violated(
                end,
                f"{when(end)}: {listed(map(str, left))} of {run} run on, though the controller "
                f"deleted {child} at {when(child.track.removed)}.",
                child.track.removed,
            )


def _there_once(run: JobSetRun, name: str, standing: list[Child]) -> Obligation:
    end = run.history.end
    if not standing:
        former = [child for child in run.children if child.name == name]
        if former and former[-1].succeeded is not None:
            return undecided(end, f"{former[-1]} had completed")
        if former and is_left_failed(run, former[-1]):
            return undecided(end, f"{former[-1]} was left failed, and deleted")
        if is_held_back(run, run.wanted[name][0], end.n):
            return undecided(end, f"job/{name} may wait for others")
        if was_refused(run, name, former[-1].track.created if former else run.track.created):
            return undecided(end, f"the creation of job/{name} was refused")
        gone = former[-1].track.removed if former else None
        if gone is not None and run.operator.timing.due_us(gone.t, 0) is None:
            return undecided(end, f"{former[-1]} went when no operator was there any more")
        return violated(
            end, f"{when(end)}: {run} is at rest without job/{name}.", run.track.created
        )
    child = standing[0]
    if child.deletion is not None:
        return undecided(end, f"{child} cannot go")
    if not is_owned(run, child, end.n):
        return undecided(end, f"{child} was made an orphan")
    if child.succeeded is None and is_replaced(run, child, end.n):
        return violated(
            end,
            f"{when(end)}: {child} of {run} is left from before a restart, created at "
            f"{when(child.track.created)}.",
            child.track.created,
        )
    return met(child.track.created, end)


@claim(
    "JS-094",
    future_work(9),
    level=Level.DERIVED,
    armed_by="pod of a Job that replaces another one",
)
def no_pods_beside_predecessors(run: JobSetRun) -> Obligations:
    """No pod of a Job that a restart creates MUST be created before the Job that it replaces is
    gone."""
    latest: dict[tuple[str, str], Child] = {}
    for child in run.children:
        if child.slot is None:
            yield undecided(child.track.created, f"nothing tells which Job {child} would replace")
            continue
        former = latest.get(child.slot)
        latest[child.slot] = child
        pods = [pod for pod in run.history.owned.get(child.track.uid, ()) if pod.kind == "Pod"]
        if former is None or not pods:
            continue
        first = pods[0].created
        if former.track.exists_at(first.n):
            yield violated(
                first,
                f"{pods[0]} of {child} was created at {when(first)}, while {former} was there, "
                "which it replaces.",
                former.track.created,
            )
        else:
            yield met(child.track.created, first)


@claim(
    "JS-115",
    future_work(9),
    level=Level.DERIVED,
    decision=RESTART_STRATEGIES,
    armed_by="pod of a Job that replaces another one, with the strategy BlockingRecreate",
)
def no_pods_beside_those_before(run: JobSetRun) -> Obligations:
    """With the restartStrategy BlockingRecreate, no pod of a Job MUST be created while one of the
    Job that it replaces runs, even if another client deleted that Job."""
    before: dict[tuple[str, str] | None, list[Track]] = {}
    for child in run.children:
        pods = [pod for pod in run.history.owned.get(child.track.uid, ()) if pod.kind == str(POD)]
        former = before.setdefault(child.slot, [])
        if former and pods and is_blocking(run.track.at(child.track.created.n)):
            first = pods[0].created
            left = [pod for pod in former if _runs(pod, first.n)]
            phrase = f"{pods[0]} of {child} is created"
            yield never(run, "left", at=first, left=left, phrase=phrase)
        former += pods


def _runs(pod: Track, n: int) -> bool:
    """True if a pod is bound and not terminal, and has not been made an orphan."""
    found = pod.at(n)
    has_ended = get_path(found, "status.phase") in ("Succeeded", "Failed")
    return bool(get_path(found, "spec.nodeName") and controller_of(found)) and not has_ended
