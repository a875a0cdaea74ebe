"""From a generator of obligations to the judge of a claim.

A checker that raises has not judged: the verdict is inconclusive, with the error's words,
and counts as armed, so that no other history can outvote it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import Final, TypeAlias

from conformance.bug import in_words
from conformance.claim import Claim
from conformance.history_view import AppWrapperRun, History, Track
from conformance.temporal.obligations import Fate, Obligation, undecided
from conformance.temporal.words import when
from conformance.verdict import Kept, Outcome, Verdict, Violation

Obligations: TypeAlias = Iterable[Obligation]
Need: TypeAlias = str

WRITERS: Final[Need] = "writers"
OPTIONS: Final[Need] = "options"
VERSIONS: Final[Need] = "every_version"
_MISSING: Final = {
    VERSIONS: "the history may lack versions of its objects",
    WRITERS: "the history does not say who made each write",
    OPTIONS: "the history does not hold the options of delete requests",
}
TWO_OPERATORS: Final = "A20"
"""The decision by which what two operators did at once decides nothing."""
MAX_KEPT: Final = 100
"""Of one claim on one history; more cannot be told apart in a picture."""
MAX_VIOLATIONS: Final = 20
"""Of one claim on one history; the first says what is wrong, the hundredth adds nothing."""


def judges(
    claim: Claim, *, armed_by: str, needs: tuple[Need, ...] = (), from_any_versions: bool = False
) -> Callable[[Callable[[AppWrapperRun], Obligations]], Callable[[AppWrapperRun], Obligations]]:
    """Make the decorated generator, called for each AppWrapper, the judge of the claim.

    `armed_by` completes "Never armed: no …", and `needs` says what the history must show.
    That is every version of its objects in any case, unless the claim is judged
    `from_any_versions`: what contradicts it shows in single versions, and what lies between
    them does not matter.
    """

    def register(
        checker: Callable[[AppWrapperRun], Obligations],
    ) -> Callable[[AppWrapperRun], Obligations]:
        def of_all(history: History) -> Obligations:
            return chain.from_iterable(map(checker, history.appwrappers))

        _set_judge(claim, of_all, checker, armed_by, _all(needs, from_any_versions))
        return checker

    return register


def judges_history(
    claim: Claim, *, armed_by: str, needs: tuple[Need, ...] = (), from_any_versions: bool = False
) -> Callable[[Callable[[History], Obligations]], Callable[[History], Obligations]]:
    """The same for a generator that looks at the history as a whole."""

    def register(checker: Callable[[History], Obligations]) -> Callable[[History], Obligations]:
        _set_judge(claim, checker, checker, armed_by, _all(needs, from_any_versions))
        return checker

    return register


def _all(needs: tuple[Need, ...], from_any_versions: bool) -> tuple[Need, ...]:
    return needs if from_any_versions else (*needs, VERSIONS)


def _set_judge(
    claim: Claim,
    checker: Callable[[History], Obligations],
    source: Callable[..., Obligations],
    armed_by: str,
    needs: tuple[Need, ...],
) -> None:
    if claim.judge is not None:
        raise ValueError(f"claim {claim.id} has two checkers; a claim has one")

    # What most verdicts of a history say: made once, since they cannot change.
    never_armed = _inconclusive(claim, f"Never armed: no {armed_by}.")
    not_shown = {
        need: _inconclusive(claim, f"Cannot be judged: {_MISSING[need]}.") for need in needs
    }

    def judge(history: History) -> Verdict:
        if not history.shows.issuperset(needs):
            return next(not_shown[need] for need in needs if need not in history.shows)
        try:
            return _verdict(claim, checker(history), history) or never_armed
        except Exception as error:  # noqa: BLE001  # whatever went wrong, nothing was judged
            return Verdict(
                claim=claim.id,
                outcome=Outcome.INCONCLUSIVE,
                armed=1,
                because=f"The checker failed: {type(error).__name__}: {error}",
                error=in_words(error),
            )

    # Whoever asks where a claim is judged is led to its checker.
    claim.judge = functools.update_wrapper(judge, source, assigned=(), updated=())


def _inconclusive(claim: Claim, because: str) -> Verdict:
    return Verdict(claim=claim.id, outcome=Outcome.INCONCLUSIVE, because=because)


def _kept(met: Iterable[Obligation]) -> tuple[Kept, ...]:
    """Where each arose and was met; what was so already was met where it arose."""
    return tuple(
        [
            Kept(found.at.n, found.at.n if found.by is None else max(found.at.n, found.by.n))
            for found in met
        ]
    )


def _without_overtaken(
    broken: list[Obligation], overtaken: Mapping[int, Track]
) -> tuple[list[Obligation], list[Obligation]]:
    """What is violated all the same, and what decides nothing by decision A20, since what shows
    it was created by one of two operators when the other had just ended the attempt."""
    left: list[Obligation] = []
    excused: list[Obligation] = []
    for found in broken:
        late = next((overtaken[n] for n in found.evidence if n in overtaken), None)
        if late is None:
            left.append(found)
        else:
            why = (
                f"two operators acted at once, and one created {late} at {when(late.created)}, "
                "when the other had just ended the attempt"
            )
            excused.append(undecided(found.at, why, decision=TWO_OPERATORS))
    return left, excused


def _verdict(claim: Claim, obligations: Obligations, history: History) -> Verdict | None:
    """One verdict from all obligations, of which `armed` counts those that were decided.

    None if there are no obligations.
    """
    met: list[Obligation] = []
    unsettled: list[Obligation] = []
    broken: list[Obligation] = []
    for obligation in obligations:
        fate = obligation.fate
        if fate is Fate.MET:
            met.append(obligation)
        elif fate is Fate.VIOLATED:
            broken.append(obligation)
        else:
            unsettled.append(obligation)
    if broken and claim.cites(TWO_OPERATORS) and history.overtaken:
        broken, excused = _without_overtaken(broken, history.overtaken)
        unsettled = excused + unsettled
    decisions = sorted({found.decision for found in unsettled if found.decision})
    if not all(map(claim.cites, decisions)):
        raise ValueError(f"{claim.id} does not cite all of {', '.join(decisions)}")
    by = f" by decision {', '.join(decisions)}" if decisions else ""
    armed = len(met) + len(broken)
    kept = _kept(met[:MAX_KEPT])
    if broken:
        return Verdict(
            claim=claim.id,
            outcome=Outcome.FAILED,
            armed=armed,
            because=broken[0].because,
            violations=tuple(
                Violation(at=found.at.n, because=found.because, evidence=found.evidence)
                for found in broken[:MAX_VIOLATIONS]
            ),
            kept=kept,
        )
    if met:
        times = "once" if len(met) == 1 else f"{len(met)} times"
        still = "" if history.shows_every_version else " in the versions that were recorded"
        still += f"; {len(unsettled)} undecided{by}" if unsettled else ""
        return Verdict(
            claim=claim.id,
            outcome=Outcome.PASSED,
            armed=armed,
            because=f"Armed {times}, first at {when(met[0].at)}, and held{still}.",
            kept=kept,
        )
    if not unsettled:
        return None
    return _inconclusive(claim, f"Undecided{by}: {unsettled[0].because}.")
