"""MLB-055, 056, 061, 081, 082: the Workload beside an AppWrapper, and what users read there."""

from __future__ import annotations

import re
from typing import Final

from conformance.norm import Obligations, in_the_end, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.kueue.api import APP_WRAPPER, QUEUE_LABEL
from conformance.suites.kueue.claims import app_wrappers, queues
from conformance.suites.kueue.judging import claim, claim_of_history
from conformance.suites.kueue.sources import guide
from conformance.suites.kueue.view import KueueHistory, WorkloadRun
from conformance.suites.mlbatch.claims.scheduling import asked_of_app_wrapper
from vocabulary.objects import condition, get_path, labels_of, name_of

_LIFE_CYCLE: Final = "AppWrapper Lifecycle"
_PRIORITIES: Final = "Priorities and Preemption"
_COLUMNS: Final = ("Queue", "Reserved in", "Admitted", "Age")
_CLASS: Final = "PriorityClass.scheduling.k8s.io"


def _is_of_app_wrapper(run: WorkloadRun) -> bool:
    return run.job is not None and run.job.track.kind == str(APP_WRAPPER)


_KEPT: Final = 40
"""So much of a name is kept whole; how long the names of Workloads may be, nothing says."""


@claim("MLB-055", guide(_LIFE_CYCLE, 18), armed_by="AppWrapper got its Workload")
def app_wrappers_have_companions(run: WorkloadRun) -> Obligations:
    """The Workload of an AppWrapper MUST be named `appwrapper-`, the AppWrapper's name, and five
    digits of a hash, and MUST wait in its queue."""
    if run.job is None or not _is_of_app_wrapper(run):
        return
    name, created = run.job.track.name, run.track.created
    rest = "[a-z0-9.-]*" if len(name) > _KEPT else ""
    wanted = re.compile(rf"appwrapper-{re.escape(name[:_KEPT])}{rest}-[0-9a-f]{{5}}")
    queue = labels_of(run.job.track.at(created.n)).get(QUEUE_LABEL, "")
    if not wanted.fullmatch(run.track.name):
        yield violated(created, f"The Workload of {run.job} is named {run.track.name}.")
    elif queue and run.snapshots[0].queue != queue:
        yield violated(created, f"{run} waits in {run.snapshots[0].queue}, {run.job} in {queue}.")
    else:
        yield met(created)


@claim_of_history(
    "MLB-077",
    guide(_LIFE_CYCLE, 19),
    level=Level.EXTENDED,
    armed_by="CustomResourceDefinition of Workload was stored",
    from_any_versions=True,
)
def workloads_have_columns(view: KueueHistory) -> Obligations:
    """A table of Workloads MUST show the queue, where quota is reserved, whether it is admitted,
    and the age, in this order."""
    for track in view.history.by_kind.get("CustomResourceDefinition.apiextensions.k8s.io", ()):
        if track.name != "workloads.kueue.x-k8s.io":
            continue
        for version in get_path(track.last, "spec.versions") or ():
            names = [str(each["name"]) for each in version.get("additionalPrinterColumns") or ()]
            if [name for name in names if name in _COLUMNS] == list(_COLUMNS):
                yield met(track.created)
            else:
                yield violated(
                    track.versions[-1],
                    f"Version {version['name']} of {track} has the columns "
                    f"{listed(names) or 'none'}; expected {listed(_COLUMNS)} in this order.",
                )


@claim("MLB-056", guide(_LIFE_CYCLE, 20), armed_by="AppWrapper with a Workload is gone")
def companions_go_with_their_app_wrapper(run: WorkloadRun) -> Obligations:
    """The Workload of an AppWrapper MUST be deleted once the AppWrapper is."""
    return app_wrappers.workloads_go_with_app_wrappers(run)


@claim(
    "MLB-061",
    guide(_PRIORITIES, 10),
    armed_by="pod template of an AppWrapper names a class",
    only_simulated="histories of real clusters have no PriorityClasses",
)
def pods_name_the_priority(run: WorkloadRun) -> Obligations:
    """The Workload of an AppWrapper MUST have the priority of the PriorityClass that the wrapped
    pod templates name, or else of the default one."""
    created = run.track.created
    asked = (each.pod.get("priorityClassName", "") for each in run.parts(created.n))
    name = next(filter(None, asked), "")
    classes = [
        each.at(created.n)
        for each in run.history.by_kind.get(_CLASS, ())
        if each.exists_at(created.n)
    ]
    found = next(
        (
            each
            for each in classes
            if (name_of(each) == name if name else each.get("globalDefault"))
        ),
        None,
    )
    if found is None or not _is_of_app_wrapper(run):
        return
    name, wanted = name_of(found), found.get("value", 0)
    if run.snapshots[0].priority == wanted:
        yield met(created)
    else:
        yield violated(
            created,
            f"{when(created)}: {run} has the priority {run.snapshots[0].priority}; {name}, the "
            f"class of its pods, has {wanted}.",
        )


@claim(
    "MLB-081",
    guide("Quotas", 6),
    level=Level.DERIVED,
    armed_by="AppWrapper that waits for a resource at the end",
)
def what_is_lacking_is_named(run: WorkloadRun) -> Obligations:
    """An AppWrapper that waits at the end for a resource MUST name that in its Workload's condition
    QuotaReserved, and MUST NOT name one that fits."""
    last, end = run.snapshots[-1], run.history.end
    queue, standing = run.queues.queue_of(run, end.n), run.queues.at(end.n)
    if not _is_of_app_wrapper(run) or queue not in standing.queues or run.track.removed:
        return
    if last.has_reservation or last.is_finished or not last.is_active:
        return
    asked = {name for name, value in run.asks(end.n).items() if value}
    lacking = asked.difference(*(group.resources for group in standing.queues[queue].groups))
    placements = tuple(standing.placements(queue, run.parts(end.n)))
    if len(placements) == 1:  # with several flavors, another one may lack something else
        (placed,) = placements
        lacking = {what[1] for what in placed if placed[what] > standing.left(queue, what)}
    if not lacking:
        return
    named = {name for name in asked if name in last.why_waiting}
    yield in_the_end(
        run,
        f"a message that names {listed(sorted(lacking))}, and nothing else that it asks for",
        since=last,
        happened=last if named and named <= lacking else None,
    )


@claim("MLB-082", guide(_LIFE_CYCLE, 21), armed_by="AppWrapper that waits, or was evicted")
def waiting_users_read_why(run: WorkloadRun) -> Obligations:
    """The Workload of an AppWrapper that waits MUST say why, each eviction MUST be an Event, and a
    preemption MUST say whether it was for one of its queue or of another."""
    yield from asked_of_app_wrapper(run, queues.users_read_why)
    yield from asked_of_app_wrapper(run, _preemptions_say_for_whom)


def _preemptions_say_for_whom(run: WorkloadRun) -> Obligations:
    for evicted in run.preemptions:
        preemptor = run.queues.find(evicted.preemptor)
        reason = str((condition(evicted.object, "Preempted") or {}).get("reason", ""))
        if preemptor is None or not reason:
            continue
        is_own = run.queues.queue_of(preemptor, evicted.n) == evicted.cluster_queue
        if reason.startswith("InCohort") != is_own:
            yield met(evicted)
        else:
            yield violated(
                evicted, f"{when(evicted)}: {run} says {reason}; it is preempted for {preemptor}."
            )
