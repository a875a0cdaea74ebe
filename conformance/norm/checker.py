"""From a generator of obligations to the judge of a claim.

A checker that raises has not judged: the verdict is inconclusive, with the error's words,
and counts as armed, so that no other history can outvote it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from conformance.bug import in_words
from conformance.history import History
from conformance.norm.claim import Claim
from conformance.norm.obligations import Fate, Obligation
from conformance.norm.verdict import Kept, Outcome, Verdict, Violation
from conformance.norm.words import when

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
S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
MAX_KEPT: Final = 100
"""The limit for one claim on one history; more cannot be distinguished in a picture."""
MAX_VIOLATIONS: Final = 20
"""Of one claim on one history; the first says what is wrong, the hundredth adds nothing."""


class View(Protocol[S_co]):
    """A history as a suite sees it."""

    @property
    def subjects(self) -> Sequence[S_co]:
        """The subjects of its claims."""

    def excused(self, claim: Claim, broken: Obligation) -> Obligation | None:
        """The undecided obligation for a violation that a decision of the suite excuses; None: it
        is not excused."""


V = TypeVar("V", bound=View[Any])


class Judging(Generic[V, S]):
    """Makes generators the checkers of a suite's claims."""

    def __init__(self, view: Callable[[History], V], subject: type[S]) -> None:
        """`view` makes the suite's view of a history; `subject` is what its claims are about."""
        del subject  # for the type checker
        self._view = view

    def judges(
        self,
        claim: Claim,
        *,
        armed_by: str,
        needs: tuple[Need, ...] = (),
        from_any_versions: bool = False,
    ) -> Callable[[Callable[[S], Obligations]], Callable[[S], Obligations]]:
        """Make the decorated generator, called for each subject, the judge of the claim.

        `armed_by` completes "Never armed: no …", and `needs` says what the history must show.
        That is every version of its objects in any case, unless the claim is judged
        `from_any_versions`: what contradicts it shows in single versions, and what lies between
        them does not matter.
        """

        def register(checker: Callable[[S], Obligations]) -> Callable[[S], Obligations]:
            def of_all(view: V) -> Obligations:
                return chain.from_iterable(map(checker, view.subjects))

            self._set_judge(claim, of_all, checker, armed_by, _all(needs, from_any_versions))
            return checker

        return register

    def judges_history(
        self,
        claim: Claim,
        *,
        armed_by: str,
        needs: tuple[Need, ...] = (),
        from_any_versions: bool = False,
    ) -> Callable[[Callable[[V], Obligations]], Callable[[V], Obligations]]:
        """The same for a generator that looks at the view as a whole."""

        def register(checker: Callable[[V], Obligations]) -> Callable[[V], Obligations]:
            self._set_judge(claim, checker, checker, armed_by, _all(needs, from_any_versions))
            return checker

        return register

    def _set_judge(
        self,
        claim: Claim,
        checker: Callable[[V], Obligations],
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
                view = history.seen_by(self._view)
                return _verdict(claim, checker(view), history, view) or never_armed
            except Exception as error:  # noqa: BLE001  # whatever went wrong, nothing was judged
                return Verdict(
                    claim=claim.id,
                    outcome=Outcome.INCONCLUSIVE,
                    armed=1,
                    because=f"The checker failed: {type(error).__name__}: {error}",
                    error=in_words(error),
                )

        # The name of the judge leads to its checker.
        claim.judge = functools.update_wrapper(judge, source, assigned=(), updated=())


def _all(needs: tuple[Need, ...], from_any_versions: bool) -> tuple[Need, ...]:
    return needs if from_any_versions else (*needs, VERSIONS)


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


def _verdict(
    claim: Claim, obligations: Obligations, history: History, view: View[Any]
) -> Verdict | None:
    """One verdict from all obligations, of which `armed` counts those that were decided.

    None if there are no obligations.
    """
    met: list[Obligation] = []
    unsettled: list[Obligation] = []
    broken: list[Obligation] = []
    excused: list[Obligation] = []
    for obligation in obligations:
        fate = obligation.fate
        if fate is Fate.MET:
            met.append(obligation)
        elif fate is Fate.VIOLATED:
            left = view.excused(claim, obligation)
            if left is None:
                broken.append(obligation)
            else:
                excused.append(left)
        else:
            unsettled.append(obligation)
    if not (met or broken or excused or unsettled):
        return None
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
    return _inconclusive(claim, f"Undecided{by}: {unsettled[0].because}.")
