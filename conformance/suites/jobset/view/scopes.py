"""The scope of a partial restart: the Jobs that it concerns, and those that it leaves alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from conformance.history import Moment
from conformance.norm import Obligation, eventually, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.jobset.api import DOMAIN, RESTART_ATTEMPT, WITH_JOB_RESTARTS
from conformance.suites.jobset.view.answers import was_deleted_by_others
from conformance.suites.jobset.view.back_off import longest_backoff_us
from conformance.suites.jobset.view.generations import was_refused
from conformance.suites.jobset.view.job_set import Child, JobSetRun
from conformance.suites.jobset.view.startup import is_gated
from conformance.suites.jobset.view.status_steps import Step, is_replaced, may_be_born_stale, steps
from vocabulary.clock import MINUTE
from vocabulary.objects import annotations_of, labels_of

LATE_US: Final = MINUTE // 2
"""How much later than after its back-off a Job may come back: a longer back-off is another one."""
ATTEMPT_SUFFIX: Final = "restart-attempt"


def scopes_of(child: Child) -> tuple[tuple[str, str], tuple[str, str]]:
    """The keys of the partial restarts that concern a Job."""
    return (child.replicated_job, ""), (child.replicated_job, child.name)


def is_relabelled(child: Child, n: int) -> bool:
    """True if a Job that is stored after a position has other labels than it was created with."""
    return labels_of(child.track.at(n)) != labels_of(child.track.first)


def left_alone(run: JobSetRun, step: Step) -> Iterator[Obligation]:
    """That the controller deletes no Job which a step does not concern, until the next one."""
    until = _next(run, step)
    for child in run.standing(step.first.n):
        deletion = child.deletion
        # The position after its own: one write may record several steps.
        if step.concerns(child) or is_replaced(run, child, step.first.n + 1):
            continue
        if deletion is None or (until is not None and deletion.n > until.n):
            yield met(step.first)
        elif deletion.n < step.first.n or was_deleted_by_others(run, child):
            yield undecided(step.first, f"{child} was deleted by another client, or before")
        elif labels_of(deletion.object or {}) != labels_of(child.track.first):
            yield undecided(step.first, f"{child} was relabelled")
        elif may_be_born_stale(run, child):
            yield undecided(step.first, f"{child} was created late, and may have been stale")
        else:
            yield violated(
                deletion,
                f"{when(deletion)}: the controller deleted {child} of {run}, which the "
                f"{step.taken} at {when(step.first)} does not concern.",
                step.first,
            )


def attempt_stays(run: JobSetRun, step: Step) -> Iterator[Obligation]:
    """That no label or annotation that numbers attempts is another one after a partial restart."""
    for child in run.standing(step.first.n):
        following = run.successor(child)
        if not step.concerns(child) or following is None:
            continue
        created = following.track.created
        if any(
            each.is_global and child.track.created.n < each.after.n and each.first.n < created.n
            for each in steps(run)
        ):
            continue  # the JobSet has restarted as well
        before, after = (_attempts(each, run.edition) for each in (child, following))
        changed = next((key for key in sorted(after) if before.get(key) != after[key]), None)
        if changed is None:
            yield met(step.first, created)
        else:
            yield violated(
                created,
                f"{when(created)}: {changed} of {following} is {after[changed]!r}; of the Job that "
                f"it replaces by {step.taken} it was {before.get(changed, 'absent')!r}.",
                child.track.created,
                step.first,
            )


def comes_back(run: JobSetRun, step: Step) -> Iterator[Obligation]:
    """That each Job which a partial restart concerns comes back, soon after its back-off."""
    for child in run.standing(step.first.n):
        removed = child.track.removed
        if not step.concerns(child) or removed is None or is_gated(run, child.replicated_job):
            continue
        following = run.successor(child)
        created = None if following is None else following.track.created
        if was_refused(run, child.name, step.after, created):
            yield undecided(step.first, f"a creation of {run} was refused")
            continue
        since: Moment = removed if removed.n > step.after.n else step.after
        yield eventually(
            run,
            f"the creation of the successor of {child}",
            since=since,
            within_us=longest_backoff_us(run, step, child) + LATE_US,
            happened=created,
            unless=_overtaken(run, step, child),
            steps=2,
            origin="the back-off of restarted Jobs and 30s",
        )


def _attempts(child: Child, edition: str) -> dict[str, str]:
    first = child.track.first
    found = {**annotations_of(first), **labels_of(first)}
    if edition in WITH_JOB_RESTARTS:
        return {key: value for key, value in found.items() if key == RESTART_ATTEMPT}
    return {
        key: value
        for key, value in found.items()
        if key.startswith(f"{DOMAIN}/") and key.endswith(ATTEMPT_SUFFIX)
    }


def _next(run: JobSetRun, step: Step) -> Moment | None:
    """The first moment after a step from which other Jobs may be deleted for another reason."""
    steps_after = [each.first for each in steps(run) if each.first.n > step.after.n]
    return _earliest([*steps_after, *_ends(run, step)])


def _overtaken(run: JobSetRun, step: Step, child: Child) -> Moment | None:
    """The first moment after a step from which a Job need not come back as it demands."""
    found: list[Moment] = [
        each.first
        for each in steps(run)
        if each.first.n > step.after.n and (each.is_global or each.concerns(child))
    ]
    hindrance = run.hindrance(step.after)
    if hindrance is not None:
        found.append(hindrance)
    return _earliest([*found, *_ends(run, step)])


def _ends(run: JobSetRun, step: Step) -> Iterator[Moment]:
    """The ends of a JobSet after a step."""
    if run.end is not None and run.end.n > step.after.n:
        yield run.end
    yield from [each for each in run.snapshots if each.n > step.after.n and each.is_terminating][:1]
    if run.track.removed is not None:
        yield run.track.removed


def _earliest(moments: Iterable[Moment]) -> Moment | None:
    return min(moments, key=lambda moment: moment.n, default=None)
