"""The job that a Workload stands for, and its pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from conformance.history import History, Moment, Track, earliest
from conformance.history.tracks import Instant
from conformance.suites.kueue.api import (
    APP_WRAPPER,
    FRAMEWORKS,
    GROUP_NAME,
    GROUP_SERVING,
    JOB_SET,
    PRIORITY_LABEL,
    QUEUE_LABEL,
)
from vocabulary.history import Write
from vocabulary.kinds import JOB, POD, RAY_CLUSTER, RAY_JOB, STATEFUL_SET
from vocabulary.objects import (
    Object,
    annotations_of,
    condition_status,
    controller_of,
    get_path,
    is_terminating,
    labels_of,
)

_TERMINAL = ("Succeeded", "Failed")


class JobRun:
    """One job's way through a history. A group of pods has several roots, one for each pod."""

    def __init__(self, history: History, roots: Sequence[Track]) -> None:
        self._history = history
        self.roots = roots
        self.track = track = roots[0]
        self.framework = FRAMEWORKS.get(track.kind, "")

    def __str__(self) -> str:
        return str(self.track)

    @cached_property
    def pods(self) -> tuple[Track, ...]:
        """Its pods; a pod is its own one."""
        found = {root.uid: root for root in self.roots}
        for root in self.roots:
            found.update({each.uid: each for each in self._history.descendants(root.uid)})
        return tuple(track for track in found.values() if track.kind == str(POD))

    def pods_at_once(self, n: int) -> frozenset[int]:
        """How many pods it runs side by side at most, by its versions up to position n; empty for
        kinds of which its spec alone does not say so."""
        found = (
            _pods_at_once(each.kind, each.object or {})
            for each in self.track.versions
            if each.n <= n
        )
        return frozenset(count for count in found if count is not None)

    @cached_property
    def bindings(self) -> tuple[Moment, ...]:
        """The moments at which its pods were bound."""
        states = ([v for v in pod.versions if _is_bound(v.object or {})] for pod in self.pods)
        return tuple(bound[0] for bound in states if bound)

    def pods_left(self, n: int) -> list[Track]:
        """Those that are bound and not terminal after position n."""
        return [pod for pod in self.pods if pod.exists_at(n) and _runs(pod.at(n))]

    def pods_to_stop(self, n: int) -> list[Track]:
        """Those left after position n that are not the garbage collector's (K9)."""
        if self.track.kind != str(RAY_JOB):
            return self.pods_left(n)
        return [pod for pod in self.pods_left(n) if self.has_its_owner(pod, n)]

    def has_its_owner(self, pod: Track, n: int) -> bool:
        """True unless its owner is gone, and it waits for the garbage collector."""
        owner = controller_of(pod.at(n)) or {}
        if not owner:
            return True
        track = self._history.tracks.get(str(owner.get("uid", "")))
        return track is not None and track.exists_at(n)

    def last_pod_ended(self, since: Moment, latency_us: int) -> Moment | None:
        """The first moment from one on at which each of its pods, bound or not, is terminal or
        gone; those that its controller, which cannot have seen that moment yet, creates within its
        latency count too."""
        over = self.first(since, self._are_all_over)
        while over is not None and (late := self._created_after(over, latency_us)):
            over = self.first(late, self._are_all_over)
        return over

    def _created_after(self, since: Moment, latency_us: int) -> Moment | None:
        created = [pod.created for pod in self.pods]
        late = [each for each in created if since.n < each.n and each.t <= since.t + latency_us]
        return max(late, key=lambda each: each.n, default=None)

    def has_at_most(self, count: int, since: Moment) -> Moment | None:
        """The first moment from one on at which so many of its pods are left at most."""
        return self.first(since, lambda n: len(self.pods_left(n)) <= count)

    def first(self, since: Moment, holds: Callable[[int], bool]) -> Moment | None:
        """The first moment from one on at which something holds of its pods."""
        if holds(since.n):
            return since
        changes = sorted({entry.n: entry for pod in self.pods for entry in _entries(pod)}.items())
        later = (Instant(n, entry.t) for n, entry in changes if n > since.n)
        return next((at for at in later if holds(at.n)), None)

    def _are_all_over(self, n: int) -> bool:
        standing = [pod.at(n) for pod in self.pods if pod.exists_at(n)]
        if self.track.kind in (str(APP_WRAPPER), str(RAY_CLUSTER)):
            return not standing  # it holds quota until all is gone
        return all(get_path(pod, "status.phase") in _TERMINAL for pod in standing)

    def says_inactive(self, since: Moment) -> Moment | None:
        """The first moment after one at which it says by its status that nothing of it runs; None
        also for kinds of which no status says so."""
        for version in self.track.versions:
            if version.n > since.n and says_inactive(version.kind, version.object or {}):
                return version
        return None

    @property
    def succeeded(self) -> Moment | None:
        """The first moment at which it says that it has succeeded; None for a group, which says
        nothing."""
        if GROUP_NAME in labels_of(self.track.first):
            return None
        return next((each for each in self.track.versions if _has_succeeded(each.object)), None)

    @property
    def ended(self) -> Moment | None:
        """The first moment at which it says that it has succeeded or failed; None for a group."""
        if GROUP_NAME in labels_of(self.track.first):
            return None
        ends = (each for each in self.track.versions if _has_failed(each.object))
        return earliest(self.succeeded, next(ends, None))

    def stopped(self, since: Moment) -> Moment | None:
        """The first moment from one on at which it is suspended, or gone."""
        if is_suspended(self.track.at(since.n)):
            return since
        for version in self.track.versions:
            if version.n > since.n and is_suspended(version.object or {}):
                return version
        return self.track.removed

    @property
    def priority_classes(self) -> frozenset[str]:
        """The names of those that it, or a template of its pods, asks for."""
        asked = {labels_of(self.track.first).get(PRIORITY_LABEL, "")}
        return frozenset((asked | set(_named_in(self.track.first, "priorityClassName"))) - {""})

    @property
    def shows_its_pods(self) -> Moment | None:
        """The first moment at which it says which pods it would have: an AppWrapper once its own
        controller has found them."""
        if self.track.kind != str(APP_WRAPPER):
            return self.track.created
        known = (each for each in self.track.versions if _has_pod_sets(each.object or {}))
        return next(known, None)

    def left_queue(self, since: Moment) -> Moment | None:
        """The first moment from one on at which it waits in no queue: it names none, is a part of
        another that does, is over, or going."""
        later = (Instant(each.n, each.t) for each in self.track.versions if each.n > since.n)
        for moment in (since, *later):
            job = self.track.at(moment.n)
            is_over = _has_succeeded(job) or _has_failed(job) or is_terminating(job)
            if is_over or QUEUE_LABEL not in labels_of(job) or self.queued_owner(moment.n):
                return moment
        return self.track.removed

    def was_deleted(self, since: Moment) -> Moment | None:
        """The first moment after another at which it is being deleted."""
        later = (each for each in self.track.versions if each.n > since.n)
        going = next((each for each in later if is_terminating(each.object or {})), None)
        return going or self.track.removed

    @property
    def is_serving(self) -> bool:
        """True for pods of which each is replaced when it ends: those of a StatefulSet, or of a
        group that says so."""
        says = annotations_of(self.track.first).get(GROUP_SERVING) == "true"
        return says or self.track.kind == str(STATEFUL_SET)

    def stands(self, n: int) -> bool:
        """True if it, or one pod of its group, is stored after position n and not being deleted."""
        roots = self.roots if self.track.kind == str(POD) else (self.track,)
        return any(root.exists_at(n) and not is_terminating(root.at(n)) for root in roots)

    def was_changed(self, since: int, until: int, by: Callable[[str], bool]) -> bool:
        """True if another client than these wrote to it after one position and before another."""
        return any(
            since < version.n < until and not by(version.actor) for version in self.track.versions
        )

    def queued_owner(self, n: int) -> Track | None:
        """The object that it is a part of after position n, if that waits in a queue itself."""
        part = self.track
        while True:
            owner = controller_of(part.at(n) or part.last) or {}
            found = self._history.tracks.get(str(owner.get("uid", "")))
            # A StatefulSet waits as the group of its pods, which may own the one Workload.
            if found is None or found.kind not in FRAMEWORKS or found.kind == str(STATEFUL_SET):
                return None
            if QUEUE_LABEL in labels_of(found.at(n)):
                return found
            part = found


def is_suspended(job: Object) -> bool:
    return bool(get_path(job, "spec.suspend") or get_path(job, "spec.runPolicy.suspend"))


def starts(job: Track) -> Iterator[Write]:
    """The writes that set a job running, its creation included."""
    is_waiting = True
    for version in job.versions:
        was_waiting, is_waiting = is_waiting, is_suspended(version.object or {})
        if was_waiting and not is_waiting:
            yield version


def stops(job: Track) -> Iterator[Write]:
    """The writes that suspend a job which was running."""
    is_waiting = True
    for version in job.versions:
        was_waiting, is_waiting = is_waiting, is_suspended(version.object or {})
        if is_waiting and not was_waiting:
            yield version


def placement(job: Object) -> dict[str, Mapping[str, Object]]:
    """The node selectors and tolerations that a job says, by the paths of what says them."""
    found: dict[str, Mapping[str, Object]] = {}
    _collect_placement(job.get("spec") or {}, "spec", found)
    return found


def _collect_placement(value: object, path: str, found: dict[str, Mapping[str, Object]]) -> None:
    if isinstance(value, dict):
        says = {key: value[key] for key in ("nodeSelector", "tolerations") if value.get(key)}
        if says:
            found[path] = says
        for key, part in value.items():
            _collect_placement(part, f"{path}.{key}", found)
    elif isinstance(value, list):
        for position, part in enumerate(value):
            _collect_placement(part, f"{path}[{position}]", found)


def says_inactive(kind: str, job: Object) -> bool:
    """True if the status of a job says that nothing of it runs, and its suspension is seen."""
    if FRAMEWORKS.get(kind) == "workload.codeflare.dev/appwrapper":
        return bool(job["spec"].get("suspend")) and condition_status(job, "QuotaReserved") != "True"
    if kind == str(POD):
        return is_terminating(job)
    if kind == str(RAY_JOB):
        return get_path(job, "status.jobDeploymentStatus", "") in ("", "Suspended")
    if kind == str(RAY_CLUSTER):
        is_over = condition_status(job, "RayClusterSuspended") == "True"
        return bool(job["spec"].get("suspend")) and is_over
    if kind not in FRAMEWORKS or condition_status(job, "Suspended") != "True":
        return False
    counts = [get_path(job, "status.active", 0)]
    statuses: Mapping[str, Object] = get_path(job, "status.replicaStatuses") or {}
    counts += [each.get("active", 0) for each in statuses.values()]
    counts += [each.get("active", 0) for each in get_path(job, "status.replicatedJobsStatus") or ()]
    return is_suspended(job) and not any(counts)


def _has_pod_sets(app_wrapper: Object) -> bool:
    return any(
        each.get("podSets") for each in get_path(app_wrapper, "status.componentStatus") or ()
    )


def _named_in(value: object, field: str) -> Iterator[str]:
    """The values of all fields of a name, however deep."""
    if isinstance(value, dict):
        yield from [str(value[field])] if field in value else ()
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _named_in(part, field)


def _pods_at_once(kind: str, job: Object) -> int | None:
    if kind == str(JOB):
        completions = job["spec"].get("completions")
        parallelism = int(job["spec"].get("parallelism", 1))
        return parallelism if completions is None else min(parallelism, int(completions))
    if kind == str(JOB_SET):
        jobs = [
            (int(each.get("replicas", 1)), each["template"])
            for each in job["spec"].get("replicatedJobs") or ()
        ]
        return sum(count * (_pods_at_once(str(JOB), each) or 0) for count, each in jobs)
    return None


def _has_succeeded(job: Object | None) -> bool:
    if get_path(job or {}, "status.phase") == "Succeeded":
        return True
    return any(condition_status(job or {}, type_) == "True" for type_ in ("Complete", "Completed"))


def _has_failed(job: Object | None) -> bool:
    said = [get_path(job or {}, f"status.{each}") for each in ("phase", "jobDeploymentStatus")]
    return "Failed" in said or condition_status(job or {}, "Failed") == "True"


def _is_bound(pod: Object) -> bool:
    return bool(get_path(pod, "spec.nodeName"))


def _runs(pod: Object) -> bool:
    return _is_bound(pod) and get_path(pod, "status.phase") not in _TERMINAL


def _entries(pod: Track) -> Iterator[Moment]:
    yield from pod.versions
    if pod.removed is not None:
        yield pod.removed
