"""Ends: after any disturbance, the end is that of the undisturbed run.

Each claim is about one sort of disturbance, and is judged on runs in which nothing else went wrong.
Ends are compared in normal form, without the fields that two seeds give different values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, Final

from conformance.history import Track
from conformance.history.normal_form import Difference, most_alive
from conformance.history.object_diff import differences, joined
from conformance.norm import Obligation, Obligations, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.operator.judging import claim
from conformance.suites.operator.view import OperatorHistory, is_named_by

LEFT_ALONE: Final = "left alone: "
"""Begins the reason of a run in which a field kept the value that a user gave it."""
MOST_NAMED: Final = 3
"""Differences in an explanation; the diff below it shows all."""


def _same_end(run: OperatorHistory, *sorts: str, beside: tuple[str, ...] = ()) -> Obligations:
    """The obligation of a run that only these sorts of faults disturbed, the first ones at all."""
    known = run.undisturbed
    if known is None or run.history.header.scenario != known.scenario:
        return
    if not run.sorts.intersection(sorts) or not run.sorts <= {*sorts, *beside}:
        return
    yield from end_is_as_undisturbed(run)


def end_is_as_undisturbed(run: OperatorHistory) -> Iterator[Obligation]:
    """Met or violated by the end of a run; undecided where it cannot be compared."""
    at = run.struck[-1] if run.struck else run.history.end
    if why := run.why_not_comparable:
        yield undecided(at, why)
    elif not run.history.is_stable:
        yield undecided(at, "the run did not come to rest")
    elif not run.unlike:
        yield met(at, run.history.end)
    else:
        parted = sorted(run.unlike, key=lambda each: run.parted_at(each).n)
        first = run.parted_at(parted[0])
        named = "; ".join(map(str, parted[:MOST_NAMED]))
        more = len(parted) - MOST_NAMED
        further = f"; and {more} more" if more > 0 else ""
        parts = "" if first.n == run.history.end.n else f"The run departs at {when(first)}. "
        yield violated(first, f"{parts}In the end {named}{further}.", at)


@claim(3, armed_by="kill of the operator at one of its writes")
def same_end_after_a_crash(run: OperatorHistory) -> Obligations:
    """An operator that is killed before or after the reply to any of its writes, and restarted
    soon or after all reactions of the cluster, MUST reach the end of the undisturbed run."""
    if not run.is_upgrade:
        yield from _same_end(run, "kill")


@claim(4, armed_by="restart of the operator with a stale list, or another leader")
def same_end_after_stale_knowledge(run: OperatorHistory) -> Obligations:
    """An operator that starts with an older list of a kind, and then sees the present, or of which
    another replica takes over, MUST reach the end of the undisturbed run."""
    yield from _same_end(run, "stale_reads", beside=("kill",))
    yield from _same_end(run, "pause")


@claim(5, armed_by="late watch events")
def same_end_after_unobserved_states(run: OperatorHistory) -> Obligations:
    """An operator that hears of the changes of a kind late, several as one, MUST reach the end of
    the undisturbed run."""
    yield from _same_end(run, "delay_watch", "break_watch")


@claim(6, armed_by="refused write of the operator")
def same_end_after_refusals(run: OperatorHistory) -> Obligations:
    """An operator of which a write is refused (409, 429, 500, 503), times out or is not answered,
    once or for a while, MUST reach the end of the undisturbed run."""
    yield from _same_end(run, "api_error", "time_out", "lose_reply")


@claim(8, armed_by="edit of a field that the operator wrote")
def same_end_after_drift(run: OperatorHistory) -> Obligations:
    """An operator of which a user changes a written field MUST put it back, or leave it alone.

    Where the operator writes the field more than once and leaves it alone here, nothing is decided.
    A change of a subject that stays is a wish, and what is still on its way has not drifted.
    """
    if run.sorts != {"edit_object"} or not run.was_at_rest:
        return
    hit = [
        (track, fault)
        for fault in run.struck
        for track in (*run.owners, *run.tree)
        if is_named_by(fault.fault["edit_object"], track)
    ]
    if any(_is_changed(run, track) for track, _ in hit if track in run.owners):
        return
    edited = {
        (run.form.name_of(track), path)
        for track, fault in hit
        for path in _edited(fault.fault["edit_object"]["patch"])
    }
    kept = next((each for each in run.unlike if (each.object, each.path) in edited), None)
    is_all = all(each.path in {path for _, path in edited} for each in run.unlike)
    if kept is not None and is_all and run.history.is_stable and not _is_rewritten(run, kept):
        yield met(run.struck[-1], run.history.end)
    elif kept is not None and run.history.is_stable:
        yield undecided(run.struck[-1], f"{LEFT_ALONE}{kept.object} {kept.path}")
    else:
        yield from _same_end(run, "edit_object")


def _is_changed(run: OperatorHistory, subject: Track) -> bool:
    """True if what a user asks for is no longer what it was before the faults."""
    asked = (
        {key: value for key, value in obj.items() if key not in ("metadata", "status")}
        for obj in (run.before_faults(subject), subject.last)
    )
    return next(asked) != next(asked)


def _is_rewritten(run: OperatorHistory, kept: Difference) -> bool:
    """True if the operator changed the field after the creation of its object."""
    return any(
        run.form.name_of(track) == kept.object
        and any(each.path == kept.path for each in differences(before, write.object))
        for track, before, write in run.versions()
    )


def _edited(patch: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The paths of the values in a merge patch."""
    for key, value in patch.items():
        if isinstance(value, Mapping) and value:
            yield from _edited(value, joined(above, key))
        else:
            yield joined(above, key)


@claim(17, armed_by="fault in a run that is compared")
def exactly_one(run: OperatorHistory) -> Obligations:
    """The operator MUST NOT have more objects of a kind alive at a time than in the undisturbed
    run."""
    known = run.undisturbed
    if known is None or not run.struck or run.history.header.scenario != known.scenario:
        return
    if run.is_upgrade or _asks_for_another_spec(run):  # there may be more
        return
    if why := run.why_not_comparable:
        yield undecided(run.struck[0], why)
        return
    for kind, most in most_alive(run.made).items():
        usual = known.most.get(kind, 0)
        if most <= usual:
            yield met(run.struck[0], run.history.end)
            continue
        of_kind = [track for track in run.made if track.kind == kind]
        extra = of_kind[usual].created if len(of_kind) > usual else of_kind[-1].created
        names = ", ".join(track.name for track in of_kind)
        yield violated(
            extra,
            f"{when(extra)} {most} of {kind} were alive, undisturbed {usual}: {names}.",
            *(track.created for track in of_kind),
        )


def _asks_for_another_spec(run: OperatorHistory) -> bool:
    """True if a user changed the spec of a subject, such as its number of replicas."""
    for track in run.owners:
        specs = [(version.actor, (version.object or {}).get("spec")) for version in track.versions]
        if any(now != before and who == "user" for (_, before), (who, now) in pairwise(specs)):
            return True
    return False


@claim(19, armed_by="undisturbed run that came to rest")
def same_end_for_every_seed(run: OperatorHistory) -> Obligations:
    """The end MUST be the same for every order of events that the API allows."""
    known = run.undisturbed
    if known is None or run.struck or run.history.header.scenario != known.scenario:
        return
    if not known.is_stable:
        yield undecided(run.history.end, "the run did not come to rest")
    elif known.unequal and run.crowded:
        yield undecided(run.history.end, f"{run.crowded}: {known.unequal[0]}")
    elif known.unequal:
        unlike = "; ".join(known.unequal[:MOST_NAMED])
        yield violated(run.history.end, f"With another seed, which is another order: {unlike}.")
    else:
        yield met(run.history.end)


@claim(20, armed_by="replacement of the operator's version at one of its writes")
def same_end_after_an_upgrade(run: OperatorHistory) -> Obligations:
    """A version that replaces another one at any of its writes, newer or older, MUST reach the end
    that it has undisturbed."""
    if run.is_upgrade:
        yield from _same_end(run, "kill")


@claim(24, armed_by="slow API server", level=Level.EXTENDED)
def slow_is_not_wrong(run: OperatorHistory) -> Obligations:
    """An operator of which every request takes a second longer MUST reach the end of the
    undisturbed run."""
    yield from _same_end(run, "slow_api")


@claim(28, armed_by="change of an annotation that means nothing")
def same_end_after_a_touch(run: OperatorHistory) -> Obligations:
    """An operator whose subject, or an object of its tree, gets an annotation that means nothing,
    at any moment, MUST reach the end of the undisturbed run."""
    yield from _same_end(run, "touch")
