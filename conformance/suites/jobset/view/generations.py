"""The child Jobs that a restart replaces, and their successors."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.history import Moment
from conformance.norm import Obligation, in_the_end, never, shared, undecided
from conformance.norm.own_refusals import is_own_affair
from conformance.suites.jobset.view.job_set import Child, JobSetRun
from conformance.suites.jobset.view.startup import is_held_back
from conformance.suites.jobset.view.status_steps import Step, steps
from vocabulary.objects import Object, get_path, owner_references


@shared
def replaced_by(run: JobSetRun, step: Step) -> Iterator[Child]:
    """The Jobs that a step has restarted, as far as they stood then and never completed."""
    for child in run.standing(step.first.n):
        if step.concerns(child) and child.succeeded is None and is_owned(run, child, step.first.n):
            yield child


def is_owned(run: JobSetRun, child: Child, n: int) -> bool:
    """False for a Job that was made an orphan by the position: it is none of the JobSet's until it
    is given back."""
    return any(each.get("uid") == run.track.uid for each in owner_references(child.track.at(n)))


def deleted(run: JobSetRun, step: Step, child: Child) -> Obligation:
    """The obligation to delete a Job that a step restarts."""
    return in_the_end(
        run,
        f"the deletion of {child}",
        since=step.after,
        happened=child.deletion,
        unless=_overtaken(run, step),
    )


def created_again(run: JobSetRun, step: Step, child: Child) -> Obligation | None:
    """The obligation to create the successor of a Job once it is gone; None if others come first.

    It may wait until all Jobs that restart are gone, and as long as it has to wait for others.
    """
    awaited = [each for each in run.standing(step.first.n) if step.concerns(each)]
    gone = [each.track.removed for each in awaited if each.track.removed is not None]
    following = run.successor(child)
    created = None if following is None else following.track.created
    end = run.history.end
    is_free = created is not None or not is_held_back(run, child.replicated_job, end.n)
    if not is_free or len(gone) < len(awaited):
        return None
    causes: list[Moment] = [step.after, *gone]
    since = max(causes, key=lambda moment: moment.n)
    if was_refused(run, child.name, since, created):
        return undecided(since, f"the creation of {child} was refused")
    return in_the_end(
        run,
        f"the creation of the successor of {child}",
        since=since,
        happened=created,
        unless=_overtaken(run, step),
    )


def none_too_early(run: JobSetRun, step: Step) -> Iterator[Obligation]:
    """With the strategy BlockingRecreate: no successor comes before all Jobs that restart are
    gone."""
    if not is_blocking(step.after.object or {}):
        return
    concerned = replaced_by(run, step)
    for child in concerned:
        following = run.successor(child)
        if following is None:
            continue
        created = following.track.created
        left = [each.track for each in concerned if each.track.exists_at(created.n)]
        yield never(run, "left", at=created, left=left, phrase=f"{following} is created")


def is_blocking(job_set: Object) -> bool:
    """True if nothing of a restart is created before all is gone that it replaces."""
    return bool(get_path(job_set, "spec.failurePolicy.restartStrategy") == "BlockingRecreate")


def was_refused(run: JobSetRun, name: str, since: Moment, until: Moment | None = None) -> bool:
    """True if a creation of that Job, or of anything that it needs, may have been refused in that
    span, and not by the doing of the operator alone."""
    if "options" not in run.history.shows:
        return True  # refused requests are not recorded
    last = until or run.history.end
    for write in run.operator.refused_creates:
        if since.n < write.n < last.n and not is_own_affair(run, write, last):
            return True
    own = {child.track.uid for child in run.children}
    return any(
        track.exists_at(since.n) and track.uid not in own
        for track in run.history.named("Job.batch", run.track.namespace, name)
    )


def _overtaken(run: JobSetRun, step: Step) -> Moment | None:
    """The first moment after a step from which it need not be carried out any more."""
    found: list[Moment] = [
        later.first
        for later in steps(run)
        if later.first.n > step.after.n and (later.is_global or later.after.has_ended)
    ]
    if run.end is not None and run.end.n > step.after.n:
        found.append(run.end)
    hindered = run.hindrance(step.after)
    if hindered is not None:
        found.append(hindered)
    return min(found, key=lambda moment: moment.n, default=None)
