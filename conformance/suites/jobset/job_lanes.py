"""Lanes of child Jobs: one for each name, and one for all the uneventful of a replicated job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.history.lanes import Lane, State, Tone, snapshots
from conformance.suites.jobset.kind import JobState
from conformance.suites.jobset.view import Child, JobSetRun

MAX_JOBS: Final = 12
"""Jobs of a JobSet that have lanes of their own."""
MAX_SUMMARIES: Final = 6
"""Replicated jobs of which the other Jobs have a lane; the last lane takes what is left."""
_FEW_PODS: Final = 20
"""Of more pods than these, a lane shows the number in steps of a tenth."""

_OTHERS: Final = "others"
"""The replicated job of Jobs that name none."""


def job_lanes(run: JobSetRun) -> Iterator[Lane]:
    """The lanes of a JobSet's Jobs, by replicated job in the order of its spec."""
    by_name: dict[str, list[Child]] = {}
    for child in run.children:
        by_name.setdefault(child.name, []).append(child)
    groups: dict[str, list[list[Child]]] = {
        each: [] for each in dict.fromkeys(name for name, _ in run.wanted.values())
    }
    for children in by_name.values():
        groups.setdefault(_replicated_job(children[0]), []).append(children)
    if len(by_name) <= MAX_JOBS:
        shown = set(by_name)
    else:
        shown = {children[0].name for children in _eventful(groups)[:MAX_JOBS]}
    folded: dict[str, list[list[Child]]] = {}
    for name, jobs in groups.items():
        for children in sorted(jobs, key=lambda children: _index(children[0])):
            if children[0].name in shown:
                yield _job_lane(children)
            else:
                title = name if name in folded or len(folded) < MAX_SUMMARIES - 1 else ""
                folded.setdefault(title, []).append(children)
    for name, jobs in folded.items():
        yield _summary(name, jobs)


def _replicated_job(child: Child) -> str:
    return child.slot[0] if child.slot is not None else _OTHERS


def _index(child: Child) -> tuple[int, str]:
    index = child.slot[1] if child.slot is not None else ""
    return (int(index) if index.isdigit() else 0, child.name)


def _eventful(groups: Mapping[str, Sequence[Sequence[Child]]]) -> list[Sequence[Child]]:
    """The Jobs that failed, then those that came more or less often than most of their replicated
    job or are its only one."""
    failed, unusual = [], []
    for jobs in groups.values():
        usual = Counter(map(len, jobs)).most_common(1)
        for children in jobs:
            if any(child.failed is not None for child in children):
                failed.append(children)
            elif len(jobs) == 1 or len(children) != usual[0][0]:
                unusual.append(children)
    return [*failed, *unusual]


def _job_lane(children: Sequence[Child]) -> Lane:
    """The lane of all Jobs that had one name, one after the other."""
    states = [
        State(at_us, *((None, "") if job is None else _job(JobState(job))))
        for child in children
        for at_us, job in snapshots(child.track)
    ]
    first = children[0]
    # Within a JobSet its name says nothing: the end of a Job's name tells it from the others.
    name = "-".join(first.slot) if first.slot is not None else first.name
    return Lane(f"job {name}", [states], objects=[child.track for child in children])


def _job(job: JobState) -> tuple[Tone, str]:
    if job.is_terminating:
        return "ending", "terminating"
    if job.is_failed:
        return "bad", f"Failed {job.why_failed}"
    if job.is_complete:
        return "done", "Complete"
    if job.is_to_fail:
        return "warn", "failing"
    if job.is_suspended:
        return "off", "suspended"
    return _pods(job)


def _pods(job: JobState) -> tuple[Tone, str]:
    """The pods that are ready, of those that are to run side by side."""
    if not job.active:
        return "pending", "pods ended" if job.has_ended_pods else "no pods"
    wanted = job.parallelism
    if job.completions is not None:
        wanted = min(wanted, job.completions - job.succeeded)
    if job.ready >= wanted:
        return "good", f"{job.ready} of {wanted} ready"
    step = wanted // 10 if wanted > _FEW_PODS else 1
    about = job.ready // step * step
    return "pending", f"{about}{'+' if about < job.ready else ''} of {wanted} ready"


def _summary(name: str, jobs: Sequence[Sequence[Child]]) -> Lane:
    """One lane for Jobs of a replicated job, or of all that are left: what holds for all of them
    or for some."""
    tracks = [child.track for children in jobs for child in children]
    tones: dict[str, Tone | None] = {}
    changes = sorted(
        (write.n, write.t, track.uid, None if write is track.removed else write.object)
        for track in tracks
        for write in (*track.versions, *([track.removed] if track.removed else ()))
    )
    counts: Counter[Tone] = Counter()
    states = []
    for _, at_us, uid, job in changes:
        old = tones.get(uid)
        tones[uid] = new = None if job is None else _job(JobState(job))[0]
        if old == new:
            continue
        counts.subtract([old] if old else [])
        counts.update([new] if new else [])
        states.append(State(at_us, *_of_all(counts, len(jobs))))
    title = f"{len(jobs)} Jobs of {name}" if name else f"{len(jobs)} other Jobs"
    return Lane(title, [states], objects=tracks)


_WORDS: Final[Mapping[Tone, str]] = {
    "bad": "Failed",
    "warn": "failing",
    "ending": "terminating",
    "pending": "starting",
    "off": "suspended",
    "good": "ready",
    "done": "Complete",
}
"""The states of Jobs, those that say most first."""


def _of_all(counts: Mapping[Tone, int], number: int) -> tuple[Tone | None, str]:
    """The state that says most, and how many Jobs have it."""
    for tone, word in _WORDS.items():
        count = counts.get(tone, 0)
        if count:
            return tone, f"all {word}" if count == number else f"some {word}"
    return None, ""
