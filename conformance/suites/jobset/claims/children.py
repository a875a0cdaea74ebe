"""JS-103, 104: what is written to a child Job: its marks, and the template that it is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate, chain, pairwise
from typing import Any, Final

from conformance.norm import Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import (
    DOMAIN,
    INDEX_LABEL,
    NAME_LABEL,
    REPLICATED_JOB_LABEL,
    RESTART_ATTEMPT,
    WITH_JOB_RESTARTS,
)
from conformance.suites.jobset.decisions import CHILD_MARKS, MADE_OF_TEMPLATE
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import field, implementation
from conformance.suites.jobset.view import Child, JobSetRun, Snapshot
from vocabulary.history import Write
from vocabulary.objects import Object, annotations_of, get_path, labels_of

JOB_KEY: Final = f"{DOMAIN}/job-key"


@claim(
    "JS-103",
    implementation(6),
    level=Level.DERIVED,
    decision=CHILD_MARKS,
    armed_by="Job of a JobSet",
)
def jobs_are_marked(run: JobSetRun) -> Obligations:
    """Each Job and its pod template MUST have labels and annotations that name the JobSet, the
    replicated job and its group, their sizes, its indexes in them, the restart attempt and the
    coordinator, and a key that no other Job has."""
    sizes = {
        each["name"]: int(each.get("replicas", 1))
        for each in get_path(run.track.first, "spec.replicatedJobs") or ()
    }
    before = dict(zip(sizes, (0, *accumulate(sizes.values())), strict=False))
    for child in run.children:
        if child.name not in run.wanted:
            continue  # JS-091 is about those
        wanted = {
            NAME_LABEL: run.track.name,
            f"{DOMAIN}/jobset-uid": run.track.uid,
            REPLICATED_JOB_LABEL: child.replicated_job,
            f"{DOMAIN}/replicatedjob-replicas": str(sizes[child.replicated_job]),
            f"{DOMAIN}/global-replicas": str(sum(sizes.values())),
            INDEX_LABEL: str(child.index),
            f"{DOMAIN}/job-global-index": str(before[child.replicated_job] + child.index),
            **_group(run, child),
            **_coordinator(run),
        }
        created = child.track.created
        flaw = next(
            chain(_flaws(child, wanted, _attempts(run, child)), _shared_key(run, child)), None
        )
        if flaw is None:
            yield met(created)
        else:
            yield violated(created, f"{when(created)}: {child} of {run} was created with {flaw}.")


def _group(run: JobSetRun, child: Child) -> dict[str, str]:
    """The marks of a Job's group, where the API has groups: it gives one to each that has none."""
    listed = get_path(run.track.first, "spec.replicatedJobs") or ()
    groups = {each["name"]: each.get("groupName") for each in listed}
    group = groups[child.replicated_job]
    if group is None:
        return {}
    of_group = [each for each in listed if each.get("groupName") == group]
    sizes = {each["name"]: int(each.get("replicas", 1)) for each in of_group}
    before = dict(zip(sizes, (0, *accumulate(sizes.values())), strict=False))
    return {
        f"{DOMAIN}/group-name": group,
        f"{DOMAIN}/group-replicas": str(sum(sizes.values())),
        f"{DOMAIN}/job-group-index": str(before[child.replicated_job] + child.index),
    }


def _shared_key(run: JobSetRun, child: Child) -> Iterator[str]:
    """The key of a Job, if another one of the JobSet has it."""
    key = labels_of(child.track.first).get(JOB_KEY)
    for other in run.children:
        is_another = (other.replicated_job, other.index) != (child.replicated_job, child.index)
        if is_another and labels_of(other.track.first).get(JOB_KEY) == key:
            yield f"the label {JOB_KEY} {key!r}, which {other} has, too"


def _coordinator(run: JobSetRun) -> dict[str, str]:
    found = get_path(run.track.first, "spec.coordinator")
    if not found:
        return {}
    subdomain = get_path(run.track.first, "spec.network.subdomain") or run.track.name
    job = f"{run.track.name}-{found['replicatedJob']}-{int(found.get('jobIndex', 0))}"
    return {f"{DOMAIN}/coordinator": f"{job}-{int(found.get('podIndex', 0))}.{subdomain}"}


def _attempts(run: JobSetRun, child: Child) -> set[str]:
    """The numbers of restarts that the controller may have known of when it created a Job."""
    found: set[str] = set()
    for each in _known_states(run, child.track.created):
        found.add(str(each.counted))
        if run.edition in WITH_JOB_RESTARTS:
            found.add(str(each.restarts))
    return found


def _known_states(run: JobSetRun, at: Write) -> Iterator[Snapshot]:
    """The states of a JobSet on one of which the controller acted at a moment."""
    seen_us = run.operator.seen_us(at.actor, at.t)
    for position, each in enumerate(run.snapshots):
        following = run.snapshots[position + 1 : position + 2]
        if each.n < at.n and (not following or following[0].t >= seen_us):
            yield each


def _flaws(child: Child, wanted: Mapping[str, str], attempts: set[str]) -> Iterator[str]:
    job = child.track.first
    template = get_path(job, "spec.template") or {}
    for of, obj in (("", job), (" of its pod template", template)):
        for what, found in (("label", labels_of(obj)), ("annotation", annotations_of(obj))):
            for key, value in wanted.items():
                if found.get(key) != value:
                    is_ = repr(found[key]) if key in found else "missing"
                    yield f"the {what} {key}{of} {is_}; it should be {value!r}"
            if found.get(RESTART_ATTEMPT) not in attempts:
                is_ = found.get(RESTART_ATTEMPT, "missing")
                known = " or ".join(sorted(attempts))
                yield f"the {what} {RESTART_ATTEMPT}{of} {is_}; it should be {known}"
            if not found.get(JOB_KEY):
                yield f"the {what} {JOB_KEY}{of} missing"


_SET_OTHERWISE: Final = ("spec.suspend", "spec.template.spec.subdomain")
"""The fields that follow from the JobSet."""
_OF_EACH_JOB: Final = frozenset({"suspend", "selector", "manualSelector", "template"})
"""The fields of a Job's spec that differ whenever it is created again, or are compared with the
template alone."""


@claim(
    "JS-104",
    field("ReplicatedJob.template", 1),
    level=Level.DERIVED,
    decision=MADE_OF_TEMPLATE,
    armed_by="Job of a JobSet",
)
def jobs_are_made_of_their_template(run: JobSetRun) -> Obligations:
    """Each Job MUST be created as the template of its replicated job says, also when it is
    created again, and nothing of the template MUST be left out or changed. A Job MUST be resumed
    with the labels, annotations and scheduling directives that its pod template has by then."""
    for child in run.children:
        created = child.track.created
        standing = run.at(created.n)
        if standing is None or child.name not in run.wanted:
            continue
        template = _template(standing.object, child)
        flaw = next(
            chain(_missing(template, child.track.first, ""), _other_than_before(run, child)), None
        )
        if flaw is None:
            yield met(created)
        elif template != _template(run.track.first, child):
            continue  # it was changed meanwhile
        else:
            yield violated(
                created,
                f"{when(created)}: {child} of {run} was created with {flaw}.",
                standing,
            )
    for child in run.children:
        if child.name in run.wanted:
            yield from _resumed(run, child)


def _resumed(run: JobSetRun, child: Child) -> Obligations:
    """Each resumption of a Job gives it what its pod template asks for by then."""
    for before, after in pairwise(child.track.versions):
        was_suspended = get_path(before.object or {}, "spec.suspend", False)
        if not was_suspended or get_path(after.object or {}, "spec.suspend", False):
            continue
        seen = _seen_suspended(run, child, before)
        states = [
            each for each in _known_states(run, after) if not each.is_suspended and each.n >= seen
        ]
        if not states or not run.operator.is_by(after.actor):
            continue  # JS-099 is about Jobs that run in a suspended JobSet
        found = _pod_template(after.object or {})
        flaws = [
            next(
                chain(
                    _without(_pod_template(_template(each.object, child)), found),
                    _left_over(run, child, each, found),
                ),
                None,
            )
            for each in states
        ]
        if None in flaws:
            yield met(after)
        else:
            text = f"{when(after)}: {child} of {run} was resumed with {flaws[-1]}."
            yield violated(after, text, states[-1])


def _seen_suspended(run: JobSetRun, child: Child, before: Write) -> int:
    """The position of the JobSet's state that the controller had seen when it suspended a Job,
    which is suspended in a version; it knows of none before it any more."""
    suspending = None
    for version in child.track.versions:
        if version.n > before.n:
            break
        is_suspended = get_path(version.object or {}, "spec.suspend", False)
        suspending = (suspending or version) if is_suspended else None
    if suspending is None or not run.operator.is_by(suspending.actor):
        return 0
    states = (each.n for each in _known_states(run, suspending) if each.is_suspended)
    return next(states, 0)


def _left_over(run: JobSetRun, child: Child, state: Snapshot, found: Object) -> Iterator[str]:
    """Entries of the node selector that the template had before, and has no longer."""
    selector = get_path(found, "spec.nodeSelector") or {}
    wanted = _selector(state.object, child)
    for before in run.snapshots:
        if before.n < state.n:
            stale = selector.keys() & _selector(before.object, child).keys() - wanted.keys()
            yield from (f"nodeSelector {key}, which its template has no longer" for key in stale)


def _selector(job_set: Object, child: Child) -> Object:
    return get_path(_pod_template(_template(job_set, child)), "spec.nodeSelector") or {}


def _pod_template(job: Object) -> Object:
    found: Object = get_path(job, "spec.template") or {}
    return found


def _without(wanted: Object, found: Object) -> Iterator[str]:
    """The fields that a queue may set in a pod template and that a resumed Job lacks."""
    for path in ("metadata.labels", "metadata.annotations", "spec.nodeSelector"):
        standing = get_path(found, path) or {}
        for key, value in (get_path(wanted, path) or {}).items():
            if standing.get(key) != value:
                yield f"{path}[{key}] {standing.get(key)!r}; its pod template has {value!r}"
    for path in ("spec.tolerations", "spec.schedulingGates"):
        standing = [_without_empty(item) for item in get_path(found, path) or ()]
        for item in get_path(wanted, path) or ():
            if _without_empty(item) not in standing:
                yield f"no item {item!r} in {path}; its pod template has one"


def _without_empty(item: Object) -> Object:
    """The fields of an item that say something: programs in Go leave out the others."""
    return {key: value for key, value in item.items() if value not in (None, "")}


def _other_than_before(run: JobSetRun, child: Child) -> Iterator[str]:
    """The fields of a Job that was created again in which it differs from the first one.

    Admission of others may add fields that the template lacks, and adds them to each Job.
    """
    before, now = (
        get_path(each.track.first, "spec") or {} for each in (run.children_of(child.name)[0], child)
    )
    for key in sorted((before.keys() | now.keys()) - _OF_EACH_JOB):
        if before.get(key) != now.get(key):
            yield f"spec.{key} {now.get(key)!r}; the first Job of that name had {before.get(key)!r}"


def _template(job_set: Object, child: Child) -> Object:
    """The template of a Job; {} if its replicated job is unknown."""
    found = get_path(job_set, "spec.replicatedJobs") or ()
    return next(
        (each.get("template") or {} for each in found if each["name"] == child.replicated_job), {}
    )


def _missing(wanted: Any, found: Any, path: str) -> Iterator[str]:
    """The fields of a template that an object does not have; it may have more than that."""
    if path in _SET_OTHERWISE or path.endswith(".resources"):
        return  # an API server may write quantities otherwise
    if isinstance(wanted, Mapping):
        for key, value in wanted.items():
            inner = found.get(key) if isinstance(found, Mapping) else None
            yield from _missing(value, inner, f"{path}.{key}" if path else key)
    elif isinstance(wanted, list):
        items = found if isinstance(found, list) else []
        for position, value in enumerate(wanted):
            inner = items[position] if position < len(items) else None
            yield from _missing(value, inner, f"{path}[{position}]")
    elif wanted not in (found, None) and (wanted or found is not None):
        yield f"{path} {found!r}; its template has {wanted!r}"
