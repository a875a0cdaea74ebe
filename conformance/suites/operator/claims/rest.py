"""Writes end, and a resync at rest changes nothing."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Final

from conformance.history import object_diff
from conformance.history.normal_form import OWN_PREFIX
from conformance.norm import Obligations, met, undecided, violated
from conformance.norm.words import listed, span, when
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory, is_of_process
from vocabulary.clock import HOUR, SECOND
from vocabulary.history import RETRIES, Fault, Mark, Write
from vocabulary.objects import Object

LIMIT: Final = "the limit of Assay"
SHOWN: Final = 6
RESYNCED_US: Final = 30 * SECOND
"""Within this time a resync is over."""


@claim(1, armed_by="end of a run")
def eventually_stable(run: OperatorHistory) -> Obligations:
    """Once users and faults are quiet, the operator's writes MUST end."""
    if run.history.retries_at_rest:
        yield undecided(run.history.end, RETRIES)
        return
    if run.history.is_stable:
        yield met(run.history.end)
        return
    ended = next((mark for mark in run.history.marks if mark.mark == "not-stable"), None)
    if ended is None or LIMIT in ended.text:
        yield undecided(run.history.end, ended.text if ended else "the run did not end")
        return
    if (fault := _in_force(run, ended)) is not None:
        yield undecided(fault, f"the run was ended while a fault was in force: {fault.text}")
        return
    late = [write for write in run.writes if ended.t - write.t < HOUR]
    if not ended.text:  # it was not stopped, and may go on trying what is refused
        late = [write for write in late if write.event]
    if not late:
        yield undecided(ended, "the run did not come to rest, and no write changed anything")
        return
    ((kind, name), _), *_ = Counter((write.kind, write.name) for write in late).most_common(1)
    last = [write for write in late if (write.kind, write.name) == (kind, name)][-SHOWN:]
    yield violated(
        last[-1],
        f"The operator wrote {len(late)} times within the last {span(ended.t - late[0].t)}, and "
        f"did not end: {kind} {name} {_cycle(last)}.",
        *last,
    )


def _in_force(run: OperatorHistory, ended: Mark) -> Fault | None:
    """The first fault that still hindered in the end: neither reverted nor over."""
    reverted = [fault for fault in run.history.faults if fault.action == "reverted"]
    for fault in run.struck:
        costs_us = fault.effect.costs_us
        lasts = costs_us is None or fault.t + costs_us > ended.t
        is_over = any(each.fault == fault.fault and each.n > fault.n for each in reverted)
        if fault.effect.hinders and lasts and not is_over:
            return fault
    return None


def _cycle(writes: list[Write]) -> str:
    """`went status.phase A → B → A` of the fields that change to and fro; else how it is
    written."""
    steps: list[str] = []
    for before, after in pairwise(writes):
        for each in object_diff.differences(before.object, after.object):
            if not each.path.startswith("metadata"):
                steps.append(
                    f"{each.path} {each.old} → {each.new}".replace(object_diff.ABSENT, "–")
                )
                break
    if not steps:
        verbs = sorted({f"{write.verb} ({write.code})" for write in writes})
        return f"by {listed(verbs)} again and again"
    return f"went {', '.join(steps)}"


@claim(2, armed_by="resync at rest")
def rest_is_rest(run: OperatorHistory) -> Obligations:
    """At rest, a resync (a restart, or an annotation that means nothing) MUST NOT cause a write
    that changes anything."""
    if len(run.rests) < 2 or not run.sorts or not run.sorts <= {"restart", "touch"}:
        return
    since = run.rests[0]
    for track, before, write in run.versions():
        if write.n > since.n and not is_of_process(track.kind) and _is_change(before, write.object):
            cause = next(fault for fault in reversed(run.struck) if fault.n < write.n)
            if write.t - cause.t > RESYNCED_US:
                continue  # the clock has caused it
            what = object_diff.differences(_plain(before), _plain(write.object or {}))
            changed = listed(each.path for each in what[:SHOWN])
            yield violated(
                write, f"{when(write)} {track} was changed at rest: {changed}.", since, cause
            )
            return
    made = next((track for track in run.made if track.created.n > since.n), None)
    if made is not None:
        yield violated(made.created, f"{when(made.created)} {made} was created at rest.", since)
        return
    for fault in run.struck:
        if fault.n > since.n:
            yield met(fault)


def _is_change(before: Object, after: Object | None) -> bool:
    return _plain(before) != _plain(after or {})


def _plain(obj: Object) -> Object:
    """The object without its version, and without annotations, labels and finalizers of Assay."""
    metadata = {
        key: value
        for key, value in obj.get("metadata", {}).items()
        if key not in ("resourceVersion", "managedFields", "generation")
    }
    for name in ("annotations", "labels"):
        kept = {k: v for k, v in (metadata.pop(name, None) or {}).items() if OWN_PREFIX not in k}
        metadata |= {name: kept} if kept else {}
    finalizers = [each for each in metadata.pop("finalizers", ()) if OWN_PREFIX not in each]
    metadata |= {"finalizers": finalizers} if finalizers else {}
    return {**obj, "metadata": metadata}
