"""AW-002, 085, 090…093: running workloads leave nodes that Autopilot evicts from, only those."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from conformance.history import Moment, Track, earliest
from conformance.norm import Obligation, Obligations, eventually, met, shared, undecided, violated
from conformance.norm.words import when
from conformance.suites.appwrapper.claims.affinity import bound_to, has_stanza, lands_elsewhere
from conformance.suites.appwrapper.claims.noticing import (
    given_up,
    node_tagged,
    overtaken,
    sicknesses,
)
from conformance.suites.appwrapper.judging import claim
from conformance.suites.appwrapper.parameters import FAILURE_GRACE, RETRY_LIMIT
from conformance.suites.appwrapper.sources import (
    configuration_details,
    detailed_description,
    overview,
)
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import POD_LEVEL, AttemptEnd, Why, attempt_ends
from conformance.suites.appwrapper.view.attempts import Attempt
from conformance.suites.appwrapper.view.autopilot import Taint
from conformance.suites.appwrapper.view.health import spells
from conformance.suites.appwrapper.view.parameters import Origin
from conformance.suites.appwrapper.view.snapshots import FAILED, RESETTING, RUNNING
from vocabulary.history import Write
from vocabulary.objects import Object, is_terminating


@claim(
    "AW-002",
    overview(2),
    armed_by="node of a Running pod was tagged NoExecute for what it uses",
)
def running_workloads_leave_unhealthy_nodes(aw: AppWrapperRun) -> Obligations:
    """With Autopilot, running workloads MUST be migrated away from unhealthy nodes."""
    yield from _leaves(aw)
    for attempt_end in _migrations(aw):
        yield from _next_attempt_is_elsewhere(aw, attempt_end)
    for attempt_end in attempt_ends(aw):
        before = aw.snapshot_at(attempt_end.at.n - 1)
        if (
            attempt_end.to != FAILED
            or not attempt_end.is_only_for(Why.NODE_TAGGED)
            or before is None
        ):
            continue
        limit = aw.parameter_within(RETRY_LIMIT, attempt_end.attempt.begin, attempt_end.at)[0]
        if before.resets < limit.value and limit.origin is not Origin.UNCLEAR:
            yield violated(
                attempt_end.at,
                f"{when(attempt_end.at)}: {aw} entered Failed because of a node tagged NoExecute, "
                f"although it had been reset {before.resets} times of {limit.value} and had to "
                "be migrated.",
                attempt_end.since[Why.NODE_TAGGED],
            )


@shared
def _leaves(aw: AppWrapperRun) -> Iterator[Obligation]:
    for attempt, since, healed in sicknesses(aw, node_tagged):
        yield eventually(
            aw,
            "Resetting or Failed for a running pod on a node tagged NoExecute",
            since=since,
            within_us=0,
            happened=given_up(attempt),
            unless=earliest(healed, overtaken(aw, attempt)),
        )


@shared
def _migrations(aw: AppWrapperRun) -> Iterator[AttemptEnd]:
    """Resets for which only Autopilot gave a reason."""
    return (
        attempt_end
        for attempt_end in attempt_ends(aw)
        if attempt_end.to == RESETTING and attempt_end.is_only_for(Why.NODE_TAGGED)
    )


def _next_attempt_is_elsewhere(aw: AppWrapperRun, attempt_end: AttemptEnd) -> Iterator[Obligation]:
    """The pods of the attempt after a migration are on nodes without the tag."""
    for attempt in aw.attempts:
        if attempt.number != attempt_end.attempt.number + 1:
            continue
        for pod in aw.pods:
            if attempt.begin.n < pod.created.n < attempt.until_n:
                bound = bound_to(pod)
                if bound is not None:
                    yield _is_elsewhere(aw, pod, bound)


def _is_elsewhere(aw: AppWrapperRun, pod: Track, bound: Write) -> Obligation:
    node = str(((bound.object or {}).get("spec") or {}).get("nodeName"))
    autopilot = aw.history.autopilot
    taints = _no_execute(aw, pod)
    # A tag that is newer than the pod is the next migration, not a failure of this one.
    if autopilot.labels_at(node, taints, bound.n) and autopilot.labels_at(
        node, taints, pod.created.n
    ):
        return violated(
            bound,
            f"{when(bound)}: after a migration {pod} of {aw} was put on {node}, which is tagged "
            "NoExecute for what it uses.",
            pod.created,
        )
    return met(pod.created, bound)


def _no_execute(aw: AppWrapperRun, pod: Track) -> tuple[Taint, ...]:
    return tuple(
        taint
        for taint in aw.history.autopilot.taints_for(pod.first.get("spec") or {})
        if taint.effect == "NoExecute"
    )


@claim(
    "AW-085",
    configuration_details(5),
    armed_by="pod used a resource that only a customized configuration monitors",
)
def monitored_resources_are_configurable(aw: AppWrapperRun) -> Obligations:
    """The monitored resources and the labels that identify unhealthy ones MUST follow the
    operator's configuration."""
    if aw.history.autopilot.is_customized:
        yield from has_stanza(aw)
        yield from lands_elsewhere(aw)
        yield from _leaves(aw)


@claim(
    "AW-090",
    detailed_description(9),
    armed_by="node of a Running pod was tagged otherwise than NoExecute",
)
def no_schedule_does_not_migrate(aw: AppWrapperRun) -> Obligations:
    """A tag that is not NoExecute MUST NOT make a running workload leave its node."""

    def concerns(pod: Track, obj: Object, n: int) -> bool:
        tags = _tags_of(aw, pod, obj, n)
        return _runs(obj) and bool(tags) and all(tag.effect != "NoExecute" for tag in tags)

    yield from _stays(aw, concerns, "a node tagged otherwise than NoExecute")


@claim(
    "AW-091",
    detailed_description(9),
    armed_by="pod ran on a node tagged NoExecute for what it does not use",
)
def unconcerned_pods_do_not_migrate(aw: AppWrapperRun) -> Obligations:
    """Pods that do not use the tagged resource MUST NOT make a workload leave a node."""
    every = tuple(
        taint
        for taints in aw.history.autopilot.taints.values()
        for taint in taints
        if taint.effect == "NoExecute"
    )

    def concerns(pod: Track, obj: Object, n: int) -> bool:
        node = str((obj.get("spec") or {}).get("nodeName", ""))
        on_tagged = bool(aw.history.autopilot.tags_at(node, every, n))
        return _runs(obj) and on_tagged and not _tags_of(aw, pod, obj, n)

    yield from _stays(aw, concerns, "a tagged node whose resource it does not use")


@claim(
    "AW-092",
    detailed_description(9),
    armed_by="pod that did not run was on a node tagged NoExecute",
)
def only_running_pods_migrate(aw: AppWrapperRun) -> Obligations:
    """Only Running pods on a tagged node MUST make a workload leave it."""

    def concerns(pod: Track, obj: Object, n: int) -> bool:
        tags = _tags_of(aw, pod, obj, n)
        return not _runs(obj) and any(tag.effect == "NoExecute" for tag in tags)

    yield from _stays(aw, concerns, "a node tagged NoExecute on which it does not run")


def _runs(pod: Object) -> bool:
    return (pod.get("status") or {}).get("phase") == "Running" and not is_terminating(pod)


def _tags_of(aw: AppWrapperRun, pod: Track, obj: Object, n: int) -> list[Taint]:
    """The tags on a pod's node that concern what the pod uses."""
    autopilot = aw.history.autopilot
    taints = autopilot.taints_for(pod.first.get("spec") or {})
    return autopilot.tags_at(str((obj.get("spec") or {}).get("nodeName", "")), taints, n)


def _stays(
    aw: AppWrapperRun, concerns: Callable[[Track, Object, int], bool], where: str
) -> Iterator[Obligation]:
    """For each attempt with such a pod: no reset that nothing else explains.

    Armed where the situation lasted for as long as the controller needs to notice it, or
    where an attempt was given up during it.
    """
    if not aw.history.autopilot.monitors or not aw.history.autopilot.was_used:
        return
    ends = {attempt_end.attempt.number: attempt_end for attempt_end in attempt_ends(aw)}
    for attempt in aw.attempts:
        if attempt.running is None:
            continue
        found = _situation(aw, attempt, concerns)
        if found is None:
            continue
        pod, since, until = found
        attempt_end = ends.get(attempt.number)
        is_unexplained = (
            attempt_end is not None and attempt_end.at.n <= until.n and _has_no_reason(attempt_end)
        )
        if (
            attempt_end is not None
            and is_unexplained
            and _may_be_for_a_replaced_pod(aw, attempt_end)
        ):
            yield undecided(
                attempt_end.at, "a failed pod, though its Job has replaced it, may be the reason"
            )
        elif attempt_end is not None and is_unexplained:
            yield violated(
                attempt_end.at,
                f"{when(attempt_end.at)}: {aw} entered {attempt_end.to} with {pod} on {where}, and "
                "without any reason to.",
                since,
            )
        elif until.t - since.t >= aw.history.operator.timing.latency_us:
            yield met(since, until)
        else:
            yield undecided(since, f"{pod} was on {where} only until {when(until)}")


def _has_no_reason(attempt_end: AttemptEnd) -> bool:
    """True if nothing else can be behind it, not even pods acted on without their failure grace
    period, once admission or warm-up was over."""
    return not attempt_end.ripe and POD_LEVEL.isdisjoint(attempt_end.present)


def _may_be_for_a_replaced_pod(aw: AppWrapperRun, attempt_end: AttemptEnd) -> bool:
    """True if a grace period had passed since a pod failed, whatever has been made of it."""
    attempt = attempt_end.attempt
    had_failed = spells(attempt.health, lambda health: health.failed_all > 0, attempt.begin)
    if not had_failed or had_failed[-1].end is not None:
        return False
    grace = aw.parameter_within(FAILURE_GRACE, attempt.begin, attempt_end.at)[0]
    earliest_us = aw.history.operator.timing.stamped_us(had_failed[-1].begin.t) + grace.value
    return attempt_end.at.t >= earliest_us


def _situation(
    aw: AppWrapperRun, attempt: Attempt, concerns: Callable[[Track, Object, int], bool]
) -> tuple[Track, Moment, Moment] | None:
    """The first pod of an attempt that was in a situation while Running: since and until when."""
    assert attempt.running is not None
    nodes = aw.history.autopilot.nodes
    over: Moment = earliest(attempt.left, aw.leaving) or aw.history.end
    for pod in aw.pods:
        if not attempt.begin.n < pod.created.n < attempt.until_n:
            continue
        changes: list[Moment] = [
            attempt.running,
            *(write for write in pod.versions if write.n > attempt.running.n),
            *(
                write
                for node in nodes
                for write in node.versions
                if max(attempt.running.n, pod.created.n) < write.n
            ),
        ]
        changes.sort(key=lambda moment: moment.n)
        since: Moment | None = None
        for change in changes:
            if change.n > over.n or (pod.removed is not None and pod.removed.n <= change.n):
                break
            if change.n < pod.created.n:
                continue
            holds = concerns(pod, pod.at(change.n), change.n)
            if holds and since is None:
                since = change
            elif not holds and since is not None:
                return pod, since, change
        if since is not None:
            gone = pod.removed
            return pod, since, over if gone is None or gone.n > over.n else gone
    return None


@claim(
    "AW-093",
    overview(2),
    armed_by="workload that Autopilot had reset was created again",
)
def migration_converges(aw: AppWrapperRun) -> Obligations:
    """After a migration, with a healthy node to go to, the workload MUST run again elsewhere,
    and MUST NOT be reset for the same tag again."""
    again = {attempt_end.attempt.number: attempt_end for attempt_end in attempt_ends(aw)}
    for migration in _migrations(aw):
        for attempt in aw.attempts:
            if attempt.number != migration.attempt.number + 1:
                continue
            yield from _next_attempt_is_elsewhere(aw, migration)
            second = again.get(attempt.number)
            if second is not None and second.is_only_for(Why.NODE_TAGGED):
                if _had_the_tag(aw, attempt):
                    yield violated(
                        second.at,
                        f"{when(second.at)}: {aw} was reset again for a tag that was there when "
                        f"its attempt began at {when(attempt.begin)}.",
                        attempt.begin,
                    )
            elif any(span.phase == RUNNING for span in attempt.spans) and _all_run(aw, attempt):
                yield met(attempt.begin)
            else:
                yield undecided(attempt.begin, "the next attempt was not seen to run")


def _all_run(aw: AppWrapperRun, attempt: Attempt) -> bool:
    return any(point.running_least >= aw.expected_pods for point in attempt.health[1:])


def _had_the_tag(aw: AppWrapperRun, attempt: Attempt) -> bool:
    """True if a node of the attempt's pods had the label already when they were created, and still
    when they were bound to it."""
    autopilot = aw.history.autopilot
    for pod in aw.pods:
        bound = bound_to(pod)
        if bound is not None and attempt.begin.n < pod.created.n < attempt.until_n:
            node = str(((bound.object or {}).get("spec") or {}).get("nodeName"))
            tags = _no_execute(aw, pod)
            if all(autopilot.labels_at(node, tags, n) for n in (pod.created.n, bound.n)):
                return True
    return False
