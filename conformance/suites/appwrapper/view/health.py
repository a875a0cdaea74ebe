"""How healthy a workload really was, at every position, as the store knows it.

Never from what the controller reports: its reports are what is being judged. Each number
comes as the least and the most that a reader of the seed could count, where readings differ
(does a terminating pod still count as Running?). A claim that something must happen counts
the least, a claim that something must not happen counts the most, so that no checker takes
a side by accident.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Final, NamedTuple

from conformance.history.tracks import Moment, Track
from conformance.suites.appwrapper.view.autopilot import Autopilot, Taint
from conformance.suites.appwrapper.view.pod_sets import job_pods
from vocabulary.clock import Micros
from vocabulary.history import Write
from vocabulary.objects import (
    Object,
    condition_status,
    controller_of,
    is_terminating,
    labels_of,
    meta,
)

COMPLETION: Final = {"Job.batch": "Complete", "PyTorchJob.kubeflow.org": "Succeeded"}
"""Kinds whose status says whether they have failed (condition Failed), and the condition by which
each says that it is complete."""


class Health(NamedTuple):
    """The state after one position. `_least` and `_most` are the two ends of a reading."""

    n: int
    t: Micros
    present_least: int = 0
    """Pods that exist: neither Failed nor terminating, at the least, unless they had succeeded
    before their deletion. At the least, those that a component has beyond its expected number stand
    for none of another's, either."""
    present_most: int = 0
    running_least: int = 0
    """Pods that run or have succeeded: terminating ones, but for those that had succeeded before,
    and surplus ones left out, at the least."""
    running_most: int = 0
    failed_all: int = 0
    """Failed pods, also those that their Job has replaced."""
    failed_least: int = 0
    """Failed pods that no Job has replaced; terminating ones, and those without their
    label, left out, at the least. A pod of the Job that has succeeded counts as a replacement, and
    a complete Job needs none."""
    failed_most: int = 0
    """The same at the most: only pods that are still at work count as replacements."""
    evicted_least: int = 0
    """Running pods that use a resource tagged NoExecute on their node: terminating ones, and those
    of which only an init container that has ended requested it, are left out."""
    evicted_most: int = 0
    broken: int = 0
    """Components whose own status says that they failed."""
    missing: int = 0
    """Components deleted by another client than the controller."""
    needless: int = 0
    """Expected pods of complete components that are gone: these are not recreated (A14). They are
    part of `present_most` and `running_most`, since they may have completed, and of no `_least`.
    So are in `running_most` those that have failed, since their Job is content without them."""


class Spell(NamedTuple):
    """A stretch during which something held; `end` None: until the stretch looked at ended."""

    begin: Moment
    end: Moment | None


def spells(points: Sequence[Health], holds: Callable[[Health], bool], begin: Moment) -> list[Spell]:
    """The stretches in which a predicate held; the first point is the state at `begin`."""
    found: list[Spell] = []
    since: Moment | None = None
    for index, point in enumerate(points):
        if holds(point):
            if since is None:
                since = begin if index == 0 else point
        elif since is not None:
            found.append(Spell(since, point))
            since = None
    if since is not None:
        found.append(Spell(since, None))
    return found


class _Pod(NamedTuple):
    """One pod's contribution to the numbers."""

    counts: tuple[int, int, int, int, int]
    """present_least, present_most, running_least, running_most, failed_all."""
    job: str
    """The uid of the Job that owns it; empty if none does."""
    maker: str
    """The uid of its controller, as long as the pod has to end or stays; empty otherwise."""
    component: str
    """The uid of the component that it is, or was made for; empty if that is not known."""
    node: str
    """Where it runs; empty unless it is Running and uses a monitored resource."""
    fading: bool
    """True if it may be counted or not: it is being deleted, or has lost its label."""
    succeeded: bool


class HealthSweep:
    """Goes through everything that bears on one AppWrapper's health, once, in order.

    Each step changes the numbers by what changed, so the whole costs as much as there are
    changes, however many pods there are.
    """

    def __init__(
        self,
        autopilot: Autopilot,
        tracks: dict[str, Track],
        label: tuple[str, str],
        expected: Mapping[str, int],
    ) -> None:
        self._autopilot = autopilot
        self._tracks = tracks
        self._label = label
        """The label that its pods carry: one that lost it may be counted or not."""
        self._expected = expected
        """The number of pods expected of each component, by uid."""
        self._pods: dict[str, _Pod] = {}
        self._totals = [0, 0, 0, 0, 0]
        self._failed: dict[str, list[int]] = {}
        """Failed pods by their Job: those that stay, and those that fade."""
        self._failed_of: dict[str, int] = {}
        """Failed pods by their controller."""
        self._standing: dict[str, int] = {}
        """Pods by their Job that have not failed."""
        self._succeeded: dict[str, int] = {}
        self._taints: dict[str, tuple[Taint, ...]] = {}
        self._lasting_taints: dict[str, tuple[Taint, ...]] = {}
        """Those of them that concern a pod still when its init containers have ended."""
        self._on_node: dict[str, set[str]] = {}
        self._evicted: set[str] = set()
        self._surely_evicted: set[str] = set()
        self._broken: set[str] = set()
        self._missing: set[str] = set()
        self._complete: set[str] = set()
        self._sizes: dict[str, int] = {}
        """By the uid of a Job: how many pods it runs at once now."""
        self._made: dict[str, int] = {}
        """Pods by their controller."""
        self._present: dict[str, int] = {}
        """Pods that surely exist, by their component."""
        self._running: dict[str, int] = {}
        """Pods that surely run or have succeeded, by their component."""
        self._surplus = [0, 0]
        """Those of them that exceed what is expected of their component."""
        self._asked: set[str] = set()

    def run(
        self,
        pods: Iterable[Track],
        components: Iterable[Track],
        deletes: Iterable[tuple[Write, str]],
        attempts: Iterable[Moment],
    ) -> list[Health]:
        """The states, one for each position at which a number changed.

        `deletes` are the controller's own deletion requests with the uid of what they hit,
        `attempts` the beginnings of attempts: what was missing before does not count after.
        """
        steps: list[tuple[int, int, Micros, Callable[..., bool], tuple[object, ...]]] = []
        steps += [(write.n, 0, write.t, self._deletion_asked, (uid,)) for write, uid in deletes]
        steps += [(begin.n, 0, begin.t, self._attempt_begun, ()) for begin in attempts]
        was_used = self._autopilot.was_used
        for track in pods:
            spec = track.first.get("spec") or {}
            taints = self._autopilot.taints_for(spec) if was_used else ()
            lasting = self._autopilot.taints_while_running(spec) if taints else ()
            self._taints[track.uid] = tuple(t for t in taints if t.effect == "NoExecute")
            self._lasting_taints[track.uid] = tuple(t for t in lasting if t.effect == "NoExecute")
            change = self._pod_changed
            steps += [(write.n, 1, write.t, change, (track, write)) for write in _life(track)]
        for track in components:
            change = self._component_changed
            steps += [(write.n, 2, write.t, change, (track, write)) for write in _life(track)]
        if any(self._taints.values()):
            steps += [
                (write.n, 3, write.t, self._node_changed, (track.name, write.n))
                for track in self._autopilot.nodes
                for write in _life(track)
            ]
        steps.sort(key=itemgetter(0, 1))
        points: list[Health] = []
        for n, _, t, apply, arguments in steps:
            if not apply(*arguments) and points:
                continue
            point = self._health(n, t)
            if points and points[-1].n == n:
                points[-1] = point
            elif not points or points[-1][2:] != point[2:]:
                points.append(point)
        return points

    def _deletion_asked(self, uid: str) -> bool:
        """Each step says whether it may have changed a number."""
        self._asked.add(uid)
        return False

    def _attempt_begun(self) -> bool:
        had_missing = bool(self._missing)
        self._missing.clear()
        return had_missing

    def _pod_changed(self, track: Track, write: Write) -> bool:
        uid = track.uid
        is_gone = write.event == "DELETED" or write.object is None
        pod = None if is_gone else self._read(uid, write.object or {}, self._taints[uid])
        old = self._pods.get(uid)
        if pod == old and (pod is None or not pod.node):
            return False
        if old is not None:
            del self._pods[uid]
            self._add(old, -1)
            self._on_node.get(old.node, set()).discard(uid)
            self._evicted.discard(uid)
            self._surely_evicted.discard(uid)
        if pod is not None:
            self._pods[uid] = pod
            self._add(pod, 1)
            if pod.node:
                self._on_node.setdefault(pod.node, set()).add(uid)
                self._look_at(uid, pod.node, write.n)
        return True

    def _read(self, uid: str, obj: Object, taints: Sequence[Taint]) -> _Pod:
        phase = (obj.get("status") or {}).get("phase", "Pending")
        terminating = is_terminating(obj)
        failed, succeeded = phase == "Failed", phase == "Succeeded"
        runs = phase in ("Running", "Succeeded")
        key, name = self._label
        old = self._pods.get(uid)
        had_succeeded = succeeded and old is not None and old.succeeded and not old.fading
        stays = had_succeeded or not terminating
        counts_surely = stays and labels_of(obj).get(key) == name
        watched = self._autopilot.monitors and taints and phase == "Running"
        return _Pod(
            counts=(not failed and counts_surely, 1, runs and counts_surely, runs, failed),
            job=_job_of(obj),
            maker="" if succeeded and not counts_surely else _maker_of(obj),
            component=self._component_of(uid, obj),
            node=(obj.get("spec") or {}).get("nodeName", "") if watched else "",
            fading=not counts_surely,
            succeeded=succeeded,
        )

    def _component_of(self, uid: str, obj: Object) -> str:
        """The first in the chain of its controllers that is one."""
        seen: set[str] = set()
        while uid not in self._expected:
            seen.add(uid)
            uid = _maker_of(obj)
            track = self._tracks.get(uid)
            if track is None or uid in seen:
                return uid if uid in self._expected else ""
            obj = track.first
        return uid

    def _add_to_component(self, pod: _Pod, sign: int) -> None:
        expected = self._expected.get(pod.component)
        if expected is None:
            return
        for index, counts, counted in (
            (0, self._present, pod.counts[0]),
            (1, self._running, pod.counts[2]),
        ):
            before = counts.get(pod.component, 0)
            after = counts[pod.component] = before + sign * counted
            self._surplus[index] += max(0, after - expected) - max(0, before - expected)

    def _add(self, pod: _Pod, sign: int) -> None:
        totals = self._totals
        self._add_to_component(pod, sign)
        self._made[pod.maker] = self._made.get(pod.maker, 0) + sign
        for index, count in enumerate(pod.counts):
            totals[index] += sign * count
        if pod.counts[-1]:
            failed = self._failed.setdefault(pod.job, [0, 0])
            failed[pod.fading] += sign
            self._failed_of[pod.maker] = self._failed_of.get(pod.maker, 0) + sign
        elif pod.job:
            self._standing[pod.job] = self._standing.get(pod.job, 0) + sign
            if pod.succeeded:
                self._succeeded[pod.job] = self._succeeded.get(pod.job, 0) + sign

    def _node_changed(self, node: str, n: int) -> bool:
        uids = self._on_node.get(node, ())
        for uid in uids:
            self._look_at(uid, node, n)
        return bool(uids)

    def _look_at(self, uid: str, node: str, n: int) -> None:
        for found, taints in (
            (self._evicted, self._taints[uid]),
            (self._surely_evicted, self._lasting_taints[uid]),
        ):
            if self._autopilot.tags_at(node, taints, n):
                found.add(uid)
            else:
                found.discard(uid)

    def _component_changed(self, track: Track, write: Write) -> bool:
        obj = write.object or {}
        if write.event == "DELETED" or is_terminating(obj):
            if track.uid not in self._asked:
                self._missing.add(track.uid)
            self._broken.discard(track.uid)
            self._complete.discard(track.uid)
            return True
        if track.kind not in COMPLETION:
            return False
        size = job_pods(obj.get("spec") or {})
        is_scaled = self._sizes.setdefault(track.uid, size) != size
        self._sizes[track.uid] = size
        if condition_status(obj, "Failed") == "True":
            self._broken.add(track.uid)
            return True
        if condition_status(obj, COMPLETION[track.kind]) == "True":
            self._complete.add(track.uid)
            return True
        return is_scaled

    def _health(self, n: int, t: Micros) -> Health:
        failed_least = failed_most = 0
        for job, (staying, leaving) in self._failed.items():
            if job in self._complete:
                continue  # what its own retries left behind counts no more (A14)
            if not job or self._standing.get(job, 0) < min(self._sizes_of(job)):
                failed_least += staying
                failed_most += staying + leaving
            elif not self._is_at_full_work(job):
                failed_most += staying + leaving
        evicted_least = sum(not self._pods[uid].fading for uid in self._surely_evicted)
        present_least, present_most, running_least, running_most, failed_all = self._totals
        needless = self._never_made_again(with_failed=False)
        return Health(
            n,
            t,
            present_least - self._surplus[0],
            present_most + needless,
            running_least - self._surplus[1],
            running_most + self._never_made_again(with_failed=True),
            failed_all,
            failed_least,
            failed_most,
            evicted_least,
            len(self._evicted),
            len(self._broken),
            len(self._missing),
            needless,
        )

    def _never_made_again(self, *, with_failed: bool) -> int:
        """How many expected pods of complete components are gone, or have failed."""
        missing = 0
        for uid in self._complete:
            failed = self._failed_of.get(uid, 0) if with_failed else 0
            missing += max(0, self._expected.get(uid, 0) - self._made.get(uid, 0) + failed)
        return missing

    def _sizes_of(self, job: str) -> tuple[int, int]:
        """How many pods a Job ran at once at first, and runs now: a user may have scaled it, and
        nothing says which of both its failed pods are measured by."""
        track = self._tracks.get(job)
        first = track.first.get("spec") or {} if track is not None else {}
        return job_pods(first), self._sizes.get(job, job_pods(first))

    def _is_at_full_work(self, job: str) -> bool:
        """True if as many pods of a Job are at work as its remaining completions need."""
        track = self._tracks.get(job)
        spec = track.first.get("spec") or {} if track is not None else {}
        expected, succeeded = max(self._sizes_of(job)), self._succeeded.get(job, 0)
        remaining = int(spec.get("completions") or expected) - succeeded
        at_work = self._standing.get(job, 0) - succeeded
        return at_work >= min(expected, remaining)


def _life(track: Track) -> list[Write]:
    """Every write of an object, its end included."""
    if track.removed is None or track.removed is track.versions[-1]:
        return track.versions
    return [*track.versions, track.removed]


def _job_of(pod: Object) -> str:
    for owner in meta(pod).get("ownerReferences") or ():
        if owner.get("kind") == "Job":
            return str(owner.get("uid", ""))
    return ""


def _maker_of(pod: Object) -> str:
    return str((controller_of(pod) or {}).get("uid", ""))
