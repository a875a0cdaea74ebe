"""JS-024, 025, 045: the annotation of Jobs whose restart does not count."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.norm import WRITERS, Obligation, Obligations, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.jobset.api import KEP, KEP_V0_12, RESTART, RESTART_UNCOUNTED
from conformance.suites.jobset.decisions import OWN_MARK
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import implementation, story
from conformance.suites.jobset.view import Child, JobSetRun
from conformance.suites.jobset.view.generations import replaced_by
from conformance.suites.jobset.view.status_steps import Step, generation_of, is_replaced, steps
from vocabulary.history import Write
from vocabulary.objects import Object, annotations_of, get_path


@claim(
    "JS-024",
    implementation(5),
    decision=OWN_MARK,
    editions=(KEP, KEP_V0_12),
    armed_by="Job that a restart which does not count deletes",
    needs=(WRITERS,),
)
def uncounted_restarts_are_marked(run: JobSetRun) -> Obligations:
    """To restart a JobSet without counting it, the controller MUST annotate the Jobs to restart
    with jobset.sigs.k8s.io/restart, and delete them on a later reconcile; it MUST NOT create
    Jobs with it."""
    for step in steps(run):
        if step.taken != RESTART_UNCOUNTED or step.is_open:
            continue
        for child in _restarted_by(run, step):
            deletion = child.deletion
            if deletion is None or not run.operator.is_by(deletion.actor):
                continue
            if generation_of(run, deletion.n) > generation_of(run, step.after.n):
                continue  # a later restart deletes it
            marked = any(
                RESTART in annotations_of(version.object or {})
                for version in child.track.versions
                if version.n < deletion.n
            )
            if marked:
                yield met(step.after, deletion)
            else:
                yield violated(
                    deletion,
                    f"{when(deletion)}: the controller deleted {child} of {run} for a restart that "
                    f"does not count, and it never had the annotation {RESTART}.",
                    step.after,
                )
    yield from _created_unmarked(run)


def _created_unmarked(run: JobSetRun) -> Obligations:
    """That no Job is created as one to restart, unless the user's template has the annotation."""
    for child in run.children:
        created = child.track.created
        if RESTART not in annotations_of(child.track.first) or not run.operator.is_by(
            created.actor
        ):
            continue
        if not any(RESTART in annotations_of(each) for each in _templates(run, created)):
            yield violated(
                created,
                f"{when(created)}: {child} of {run} was created with the annotation {RESTART}, "
                "which marks Jobs to restart.",
            )


def _templates(run: JobSetRun, at: Write) -> Iterator[Object]:
    """The templates of the JobSet's Jobs by then."""
    for each in run.snapshots:
        if each.n < at.n:
            for replicated_job in get_path(each.object, "spec.replicatedJobs") or ():
                yield replicated_job.get("template") or {}


_ATTEMPTS = (
    "the JobSet controller will delete any jobs with this annotation, allowing them to be "
    "recreated in as part of the normal reconciliation process, without ever incrementing "
    "jobset.sigs.k8s.io/restart-attempt annotation."
)


@claim(
    "JS-025",
    implementation(6),
    editions=(KEP,),
    armed_by="Job that a restart replaced which does not count",
)
def uncounted_restarts_leave_the_attempt(run: JobSetRun) -> Obligations:
    """A Job that a restart creates which does not count MUST have the restart-attempt of the one
    that it replaces."""
    return _attempts(run)


@claim(
    "JS-045",
    story(3, 3),
    editions=(KEP,),
    armed_by="Job that a restart for host maintenance replaced",
)
def maintenance_leaves_the_attempt(run: JobSetRun) -> Obligations:
    """With RestartJobSetAndIgnoreMaxRestarts for host maintenance, restarts MUST NOT increment
    the restart attempts."""
    rules = (run.snapshots[0].policy or {}).get("rules") or ()
    reasons = [rule.get("onJobFailureReasons") for rule in rules]
    return _attempts(run) if ["PodFailurePolicy"] in reasons else ()


def _attempts(run: JobSetRun) -> Obligations:
    for step in steps(run):
        if step.taken != RESTART_UNCOUNTED or step.is_open:
            continue
        for child in _restarted_by(run, step):
            following = run.successor(child)
            if following is None:
                continue
            created = following.track.created
            if generation_of(run, created.n) > generation_of(run, step.after.n):
                yield undecided(created, f"{following} came after another restart")
                continue
            yield _same_attempt(run, child.attempt, following.attempt, created, str(following))


def _restarted_by(run: JobSetRun, step: Step) -> Iterator[Child]:
    """Leaves out those that another restart had replaced, or whose deletion had begun before."""
    for child in replaced_by(run, step):
        deletion = child.deletion
        is_going = deletion is not None and deletion.n < step.first.n
        if not is_going and not is_replaced(run, child, step.first.n):
            yield child


def _same_attempt(run: JobSetRun, was: str, is_: str, created: Write, name: str) -> Obligation:
    if is_ == was:
        return met(created)
    return violated(
        created,
        f"{when(created)}: {name} of {run} has restart-attempt {is_ or 'none'}, the Job that it "
        f"replaces {was or 'none'}; the restart between them does not count.",
    )
