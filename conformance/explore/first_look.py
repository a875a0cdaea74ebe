"""The undisturbed run in about ten lines: what the operator made, when it was done, and how often.

A reader sees here, before any fault, whether the simulated cluster does what the operator needs.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from clusters.simulated.controllers.kubelets.wishes import REASON as UNKNOWN
from conformance.history import History, Track
from conformance.history.normal_form import OF_PROCESSES, is_compared
from conformance.norm.words import listed, span
from conformance.report.counted import counted, first_few
from conformance.report.run_result import REFUSED, RunResult
from vocabulary.clock import Micros
from vocabulary.history import AT_REST, MAY_NOT, OPERATOR, RETRIES, Counterpart, Write, role_of
from vocabulary.kinds import EVENT, POD
from vocabulary.objects import Object, condition, get_path, is_unschedulable

MOST_LINES: Final = 6
REQUESTS: Final = re.compile(r"(\d+) requests in (\S+) at rest")
"""The mark of a step that let an operator alone."""


def first_look(created: RunResult, left_alone: RunResult | None) -> Iterator[str]:
    """Describe the undisturbed run; `left_alone` is the one that goes on at rest for a while."""
    history = History(created.header, created.entries)
    writes = [w for w in history.operators[OPERATOR].writes if w.kind not in OF_PROCESSES]
    rest_us = rest_of(created)
    counts = Counter(write.verb for write in writes)
    refused = sum(write.code >= 400 for write in writes)
    verbs = listed(f"{n} {verb}" for verb, n in counts.most_common())
    yield f"{created.header.implementation}, undisturbed, seed {created.seed}:"
    made = [track for each in history.by_kind.values() for track in each if _is_made(track)]
    yield from _made(sorted(made, key=lambda track: track.created.n))
    yield (
        f"  {counted(len(writes), 'write')} ({verbs or 'none'}"
        f"{f'; {refused} refused' if refused else ''}), "
        + (f"at rest after {span(_last(writes))}" if rest_us is not None else "NOT AT REST")
        + _at_rest(left_alone)
    )
    yield from _troubles(history)
    yield from _unclear(history)
    if created.error.startswith(REFUSED):
        yield f"  {created.error}; correct the workload, in which a namespace precedes its objects"
        history.close()
        return
    if rest_us is None:
        yield from _why_no_rest(created, writes)
    elif history.retries_at_rest:
        yield from _again(writes)
        yield f"  {RETRIES}: so long as that lasts, it counts as at rest"
    counterpart = created.header.counterpart
    if isinstance(counterpart, Counterpart):
        yield from _seeds(counterpart)
    history.close()


def _last(writes: Sequence[Write]) -> Micros:
    """The time of the operator's last write that changed anything."""
    return max((write.t for write in writes if write.event), default=0)


def rest_of(run: RunResult) -> Micros | None:
    """The time at which a run first came to rest; None if it never did."""
    return next((e.t for e in run.entries if getattr(e, "text", "") == AT_REST), None)


def _is_made(track: Track) -> bool:
    return role_of(track.created.actor) == OPERATOR and is_compared(track)


def _made(made: Sequence[Track]) -> Iterator[str]:
    """A line per kind, in the order in which the first of each was created."""
    by_kind: dict[str, list[Track]] = {}
    for track in made:
        by_kind.setdefault(track.kind, []).append(track)
    for number, (kind, tracks) in enumerate(by_kind.items(), start=1):
        if number > MOST_LINES:
            yield f"  … and {len(by_kind) - MOST_LINES} more kinds"
            return
        names = listed(track.name for track in tracks[:3])
        more = f" and {len(tracks) - 3} more" if len(tracks) > 3 else ""
        yield f"  {number}. {kind}: {names}{more}, from {span(tracks[0].created.t)} on"
    if not by_kind:
        yield "  it created nothing"


def _troubles(history: History) -> Iterator[str]:
    """Rights that the operator lacks, its own ends, and pods without a node."""
    texts = Counter(mark.text for mark in history.marks)
    lacking = [text.removeprefix(MAY_NOT) for text in texts if text.startswith(MAY_NOT)]
    if lacking:
        yield f"  ! it may not {first_few(lacking, 3)}; see manifests.rbac of its profile"
    ends = sum(each.change == "ended" for each in history.processes)
    if ends:
        yield f"  ! it ended by itself, {counted(ends, 'time')}"
    waiting = [
        track
        for track in history.by_kind.get(str(POD), ())
        if track.removed is None and is_unschedulable(track.last)
    ]
    if waiting:
        why = (condition(waiting[0].last, "PodScheduled") or {}).get("message", "")
        yield f"  ! {counted(len(waiting), 'pod')} without a node: {waiting[0].name}: {why}"


def _unclear(history: History) -> Iterator[str]:
    """Containers with an unknown end, each with the line of a profile that declares it. Containers
    of pods that always restart are left out."""
    pods = {track.name: track.first for track in history.by_kind.get(str(POD), ())}
    found: dict[str, tuple[str, str]] = {}
    for event in (track.first for track in history.by_kind.get(str(EVENT), ())):
        pod = pods.get(str(get_path(event, "involvedObject.name")))
        if pod is None or get_path(pod, "spec.restartPolicy", "Always") == "Always":
            continue
        if event.get("reason") == UNKNOWN:
            what, _, _ = str(event["message"]).partition(":")
            initial: list[Object] = get_path(pod, "spec.initContainers", [])
            containers = [*initial, *get_path(pod, "spec.containers")]
            named = (each for each in containers if repr(each.get("name")) in what)
            container = next(named, containers[0])
            words = [*(container.get("command") or ()), *(container.get("args") or ())]
            found[what] = container.get("image", "*"), " ".join(words)
    for what, (image, command) in list(found.items())[:MOST_LINES]:
        entry = {"image": image, "behaviour": "run 30s"}
        if any(other == image and words != command for other, words in found.values()):
            # The image does not tell them apart.
            program, blank, _ = command.partition(" ")
            entry = {"command": f"{program} *" if blank else program, "behaviour": "run 30s"}
        answer = json.dumps([entry])
        yield f"  ? {what}, so pods of it run for good; in the profile: behaviours: {answer}"


def _at_rest(left_alone: RunResult | None) -> str:
    if left_alone is None:
        return ""
    found = (REQUESTS.fullmatch(getattr(entry, "text", "")) for entry in left_alone.entries)
    asked = next((each for each in found if each), None)
    return f"; then {asked[1]} requests in {asked[2]}" if asked else ""


def _again(writes: Sequence[Write]) -> Iterator[str]:
    """The writes that repeat at the end."""
    again = Counter((write.verb, write.kind, write.name, write.code) for write in writes[-50:])
    for (verb, kind, name, code), times in again.most_common(2):
        if times > 1:
            yield f"  again and again: {verb} {kind} {name} ({code}), {times} of the last 50 writes"


def _why_no_rest(created: RunResult, writes: Sequence[Write]) -> Iterator[str]:
    yield from _again(writes)
    if created.error:
        yield f"  {created.error}"
    yield (
        "  Does it meet something that the simulated cluster does not do? Look at the requests "
        "that repeat; claims that compare ends are inconclusive."
    )


def _seeds(known: Counterpart) -> Iterator[str]:
    for field, looks in known.volatile.items():
        yield f"  volatile: {field} ({looks}): differs with the seed, is not compared"
    for unlike in known.unequal[:3]:
        yield f"  DIFFERS WITH THE SEED: {unlike}"
    if not known.volatile and not known.unequal:
        yield "  with another seed it ends the same"
