"""From a generator of obligations to the judge of a claim.

A checker that raises has not judged: the verdict is inconclusive, with the error's words,
and counts as armed, so that no other history can outvote it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, Final, Generic, Protocol, TypeAlias, TypedDict, TypeVar, Unpack

from conformance.history import History
from conformance.norm.claim import Claim, Decision, Level, Source
from conformance.norm.obligations import Fate, Obligation
from conformance.norm.verdict import Kept, Outcome, Verdict, Violation
from conformance.norm.words import when
from conformance.suite import of_module
from vocabulary.bug import in_words

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


class ClaimDetails(TypedDict, total=False):
    """The parts of a claim that most do not have."""

    name: str
    """Kebab-case and unique; by default the checker's."""
    text: str
    """A full RFC 2119 sentence; by default the first paragraph of the checker's docstring."""
    level: Level
    """Core by default."""
    decision: Decision | tuple[Decision, ...]
    editions: tuple[str, ...]
    since: str
    only_simulated: str
    needs: tuple[Need, ...]
    """The parts of a history that the checker reads, beside every version of its objects."""
    from_any_versions: bool
    """True if the history may lack versions: each contradiction shows in a single version."""


class Judging(Generic[V, S]):
    """Declares the claims of a suite, each by its checker."""

    def __init__(self, view: Callable[[History], V], subject: type[S]) -> None:
        """`view` makes the suite's view of a history; `subject` is what its claims are about."""
        del subject  # for the type checker
        self._view = view

    def claim(
        self, id: str, source: Source, *, armed_by: str, **details: Unpack[ClaimDetails]
    ) -> Callable[[Callable[[S], Obligations]], Callable[[S], Obligations]]:
        """Declare a claim by its checker, a generator that is called for each subject.

        The claim is named after the generator, its text is the first paragraph of the docstring,
        and its suite is the one whose package holds the module. `armed_by` completes "Never armed:
        no …". Raises ValueError if the id is taken, SuiteError if no suite holds the module.
        """

        def register(checker: Callable[[S], Obligations]) -> Callable[[S], Obligations]:
            def of_all(view: V) -> Obligations:
                return chain.from_iterable(map(checker, view.subjects))

            self._declare(id, source, of_all, checker, armed_by, details)
            return checker

        return register

    def claim_of_history(
        self, id: str, source: Source, *, armed_by: str, **details: Unpack[ClaimDetails]
    ) -> Callable[[Callable[[V], Obligations]], Callable[[V], Obligations]]:
        """The same for a generator that looks at the view as a whole."""

        def register(checker: Callable[[V], Obligations]) -> Callable[[V], Obligations]:
            self._declare(id, source, checker, checker, armed_by, details)
            return checker

        return register

    def _declare(
        self,
        id: str,
        source: Source,
        checker: Callable[[V], Obligations],
        declared: Callable[..., Obligations],
        armed_by: str,
        details: ClaimDetails,
    ) -> None:
        needs = details.get("needs", ())
        if not details.get("from_any_versions", False):
            needs = (*needs, VERSIONS)
        claim = Claim(
            id=id,
            name=details.get("name") or declared.__name__.replace("_", "-"),
            level=details.get("level", Level.CORE),
            suite=of_module(declared.__module__).name,
            text=details.get("text") or _first_paragraph(declared),
            source=source,
            decision=details.get("decision"),
            since=details.get("since", "0.1.0"),
            editions=details.get("editions", ()),
            only_simulated=details.get("only_simulated", ""),
        )
        judge = self._judge(claim, checker, armed_by, needs)
        # The name of the judge leads to its checker.
        claim.judge = functools.update_wrapper(judge, declared, assigned=(), updated=())

    def _judge(
        self,
        claim: Claim,
        checker: Callable[[V], Obligations],
        armed_by: str,
        needs: tuple[Need, ...],
    ) -> Callable[[History], Verdict]:
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

        return judge


def _first_paragraph(checker: Callable[..., Obligations]) -> str:
    paragraph, _, _ = (checker.__doc__ or "").strip().partition("\n\n")
    if not paragraph:
        raise ValueError(
            f"the checker {checker.__qualname__} in {checker.__module__} has no docstring: write "
            "the claim's sentence there"
        )
    return " ".join(paragraph.split())


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
    accepted = tuple(dict.fromkeys(text for found in excused for text in found.accepted))
    if broken:
        outcome, because = Outcome.FAILED, broken[0].because
    elif accepted:
        # It is wanted, yet the claim does not hold: what held beside it makes no pass of it.
        outcome = Outcome.INCONCLUSIVE
        because = f"Undecided: {next(found.because for found in excused if found.accepted)}."
    elif met:
        outcome = Outcome.PASSED
        times = "once" if len(met) == 1 else f"{len(met)} times"
        still = "" if history.shows_every_version else " in the versions that were recorded"
        still += f"; {len(unsettled)} undecided{by}" if unsettled else ""
        because = f"Armed {times}, first at {when(met[0].at)}, and held{still}."
    else:
        return _inconclusive(claim, f"Undecided{by}: {unsettled[0].because}.")
    return Verdict(
        claim=claim.id,
        outcome=outcome,
        armed=armed,
        because=because,
        violations=tuple(
            Violation(at=found.at.n, because=found.because, evidence=found.evidence)
            for found in broken[:MAX_VIOLATIONS]
        ),
        kept=kept,
        accepted=accepted,
    )
