"""ST-014 to 018, 025, 026: what must not be left of an interrupted attempt."""

from __future__ import annotations

import json
from typing import Any

from conformance.history import Moment, Track
from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.words import listed, states_of, when
from conformance.suites.streams.api import CONTENT_ID, PROCESSING_ELEMENT
from conformance.suites.streams.decisions import ATTEMPTS
from conformance.suites.streams.judging import claim
from conformance.suites.streams.kind import ElementState, JobState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun
from vocabulary.history import Write
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.objects import Object, annotations_of

_RECOVERED = "Job became Submitted after an interruption"


def _begun(run: JobRun) -> Moment | None:
    """From where on the attempt is that a Job became Submitted by; None: it was the first."""
    if run.interruption is not None:
        return run.interruption
    return run.track.created if run.interrupted is not None else None


def _stale(run: JobRun, kinds: tuple[str, ...] = ()) -> list[Track]:
    begun, submitted = _begun(run), run.submitted
    assert begun is not None
    assert submitted is not None
    return [
        track
        for track in run.made
        if track.created.n < begun.n
        and track.exists_at(submitted.n)
        and (not kinds or track.kind in kinds)
    ]


@claim("ST-016", text(15), decision=ATTEMPTS, armed_by=_RECOVERED)
def stale_pods_are_gone(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, no pod MUST be left that an interrupted attempt has made."""
    yield from _nothing_is_left(run, (str(POD),))


@claim("ST-015", text(14), decision=ATTEMPTS, armed_by=_RECOVERED)
def stale_elements_are_gone(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, no ProcessingElement MUST be left that says what was true of an
    interrupted attempt."""
    begun = _begun(run)
    if run.submitted is None or begun is None:
        return
    before = _stale(run, (str(PROCESSING_ELEMENT),))
    yield _told(run, [each for each in before if each.at(run.submitted.n) == each.at(begun.n)])


def _nothing_is_left(run: JobRun, kinds: tuple[str, ...]) -> Obligations:
    if run.submitted is not None and _begun(run) is not None:
        yield _told(run, _stale(run, kinds))


@claim("ST-014", text(14), decision=ATTEMPTS, armed_by="pod changed while the operator was down")
def whatever_became_of_pods(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, there MUST be a pod of its last attempt for each
    ProcessingElement, whatever has become of earlier ones while the operator was down."""
    begun = _begun(run)
    if run.submitted is None or begun is None:
        return
    old = run.interrupted or run
    down = old.interruption
    if down is None:
        return
    changed = [
        pod
        for pod in run.namesakes
        if pod.kind == str(POD)
        and pod.created.n < down.n
        and pod.changed_between(down.n, run.submitted.n)
    ]
    if not changed:
        return
    pods = run.alive(POD, run.submitted.n)
    fresh = [pod for pod in pods if pod.created.n > begun.n]
    size = JobState(run.submitted.object or {}).size
    if len(fresh) >= size:
        yield met(run.submitted)
    else:
        yield violated(
            run.submitted,
            f"{when(run.submitted)}: {run} is Submitted, and {len(fresh)} of its {size} pods "
            "are of this attempt.",
        )


@claim("ST-017", text(11), decision=ATTEMPTS, armed_by=_RECOVERED)
def attempts_do_not_mix(run: JobRun) -> Obligations:
    """A Job MUST NOT become Submitted with parts of two attempts: creating only what is missing is
    no recovery."""
    yield from _nothing_is_left(run, ())


@claim("ST-018", text(12), armed_by="Job of several ProcessingElements became Submitted")
def fusions_do_not_mix(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, its ProcessingElements MUST be of one compilation: as many as
    it says, and each with the content of its own ConfigMap."""
    if run.submitted is None:
        return
    n, size = run.submitted.n, JobState(run.submitted.object or {}).size
    elements = run.alive(PROCESSING_ELEMENT, n)
    texts = run.alive(CONFIG_MAP, n)
    contents = {annotations_of(_as_written(run, track, n)).get(CONTENT_ID) for track in texts}
    odd = [each for each in elements if ElementState(each.at(n)).content not in contents]
    compilations = {*map(_compilation, texts)} - {None}
    has_twins = len({ElementState(each.at(n)).content for each in elements}) < len(elements)
    wrong = (
        (len(elements) != size, f"it has {len(elements)} ProcessingElements and says {size}"),
        (odd, f"no ConfigMap has the content of {listed(odd)}"),
        (has_twins, "two ProcessingElements have the same content"),
        (len(compilations) > 1, f"its parts are of {len(compilations)} compilations"),
    )
    found = [text for is_so, text in wrong if is_so]
    if not found:
        yield met(run.submitted)
    else:
        yield violated(
            run.submitted, f"{when(run.submitted)}: {run} is Submitted; {'; '.join(found)}."
        )


def _as_written(run: JobRun, track: Track, n: int) -> Object:
    """A part as the operator has written it last: others may change it afterwards."""
    own = [each for each in track.versions if each.n <= n and run.operator.is_by(each.actor)]
    return (own[-1].object if own else None) or track.first


def _compilation(config_map: Track) -> tuple[Any, ...] | None:
    """The compilation that a ProcessingElement's content is of: its size, and the bundle."""
    aadl = (config_map.first.get("data") or {}).get("aadl.xml")
    found = {} if aadl is None else json.loads(aadl)
    return (found["of"], found["bundle"]) if found else None


@claim("ST-025", text(19), armed_by="pod was created for a Job that was not Submitted")
def pods_are_not_made_of_old_elements(run: JobRun) -> Obligations:
    """A pod MUST NOT be created for a ProcessingElement that was launched before the operator's
    last start, unless its Job was Submitted by then."""
    for element in run.of(PROCESSING_ELEMENT):
        for pod in run.pods_of(element):
            start = _last_start(run, pod.created)
            if run.submitted is not None and run.submitted.n < start:
                continue
            since = element.version_at(start)
            was_launched = since is not None and ElementState(since.object or {}).launches
            if not was_launched or element.changed_between(start, pod.created.n):
                yield met(pod.created)
            else:
                yield violated(
                    pod.created,
                    f"{when(pod.created)}: {pod} is created for {element}, which is as it was "
                    "before the operator's start.",
                )


def _last_start(run: JobRun, write: Write) -> int:
    """When the process that wrote has started, or became the leader."""
    starts = [
        each.n
        for each in run.operator.processes
        if each.process == write.actor and each.change in ("started", "leading")
    ]
    return max((n for n in starts if n < write.n), default=-1)


@claim("ST-026", text(19), armed_by="Job became Submitted")
def attempts_begin_with_first_launches(run: JobRun) -> Obligations:
    """When a Job becomes Submitted, each of its ProcessingElements MUST be at its first launch, and
    after a recovery not connected, unless a pod of this attempt was lost."""
    if run.submitted is None:
        return
    begun, n = _begun(run), run.submitted.n
    odd: list[str] = []
    for element in run.alive(PROCESSING_ELEMENT, n):
        # What others have changed in a first attempt is no state of an earlier one.
        state = ElementState(element.at(n) if begun else _as_written(run, element, n))
        since = begun or run.track.created
        lost = [pod for pod in run.pods_of(element) if pod.created.n > since.n and _is_lost(pod, n)]
        is_connected = begun and state.connectivity not in (None, "None")
        if state.launches > 1 + len(lost) or is_connected:
            odd.append(f"{element} at launch {state.launches}, connectivity {state.connectivity}")
    if odd:
        yield violated(
            run.submitted, f"{when(run.submitted)}: {run} is Submitted with {listed(odd)}."
        )
    else:
        yield met(run.submitted)


def _is_lost(pod: Track, n: int) -> bool:
    return pod.removed is not None and pod.removed.n < n


def _told(run: JobRun, stale: list[Track]) -> Obligation:
    assert run.submitted is not None
    if not stale:
        return met(run.submitted)
    return violated(
        run.submitted,
        f"{when(run.submitted)}: {run} is Submitted, and of an interrupted attempt there is "
        f"{states_of(stale, run.submitted.n)}.",
    )
