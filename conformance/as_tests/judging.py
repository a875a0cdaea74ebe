"""The verdicts on a test's history, as an assertion."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from conformance import claims
from conformance.history import History
from conformance.norm.claim import CLAIMS
from conformance.norm.verdict import Outcome, Verdict
from conformance.report.failures import by_entry
from conformance.report.run_result import RunResult
from conformance.report.text import checker_failed, failure_block
from conformance.running.counterparts import counterpart_from
from vocabulary.clock import SECOND
from vocabulary.history import Entry, Header

RUNS: Final = 2
"""The undisturbed runs that a comparison takes: what differs between them is not compared."""


class ClaimViolatedError(AssertionError):
    """A scenario, or a test, violated a claim; the message has the failures."""


class NotArmedError(AssertionError):
    """A claim that the test is about was not put to the test; the message says why."""


class Judgement:
    """The verdicts of a suite's claims on one history."""

    def __init__(self, verdicts: Sequence[Verdict]) -> None:
        self.verdicts = {each.claim: each for each in verdicts}
        """By the id of the claim."""

    def __str__(self) -> str:
        return "\n".join(
            f"{each.claim} {each.outcome}{f': {each.because}' if each.because else ''}"
            for each in self.verdicts.values()
        )

    @property
    def passed(self) -> tuple[str, ...]:
        """The ids of the claims that were put to the test, and held."""
        return self._of(Outcome.PASSED)

    @property
    def inconclusive(self) -> tuple[str, ...]:
        """The ids of the claims that were not put to the test, or could not be decided."""
        return self._of(Outcome.INCONCLUSIVE)

    def _of(self, outcome: Outcome) -> tuple[str, ...]:
        return tuple(claim for claim, each in self.verdicts.items() if each.outcome is outcome)


def judged(
    header: Header,
    entries: tuple[Entry, ...],
    suite: str,
    armed: Collection[str],
    undisturbed: Sequence[History],
) -> Judgement:
    """Evaluate a suite's claims on a history, see `AssayCluster.judge`."""
    unknown = sorted(each for each in armed if each not in CLAIMS or CLAIMS[each].suite != suite)
    if unknown:
        raise ValueError(f"judge: armed: {unknown[0]!r} is no claim of the suite {suite}")
    if undisturbed:
        if len(undisturbed) != RUNS:
            raise ValueError(
                f"judge: undisturbed: has {len(undisturbed)} histories; give {RUNS}, since what "
                "differs between them is not compared"
            )
        first, second = undisturbed
        counterpart = counterpart_from(first, second, header.scenario)
        header = msgspec.structs.replace(header, counterpart=counterpart)
    history = History(header, entries)
    verdicts = [each for each in claims.judge(history) if CLAIMS[each.claim].suite == suite]
    history.close()
    run = RunResult(
        scenario=header.scenario,
        title=header.scenario,
        seed=header.seed,
        plan={},
        header=header,
        entries=entries,
        verdicts=tuple(verdicts),
        wall_seconds=0.0,
        virtual_seconds=entries[-1].t / SECOND if entries else 0.0,
    )
    require_kept(run, armed)
    return Judgement(verdicts)


def require_kept(run: RunResult, armed: Collection[str]) -> None:
    """Raise for a violated claim, one that could not be evaluated, and one that was not armed."""
    failed = by_entry(run.verdicts)
    if failed:
        raise ClaimViolatedError(
            "\n".join(failure_block([(CLAIMS[v.claim], v) for v in each], run) for each in failed)
        )
    broken = [each for each in run.verdicts if each.error]
    if broken:
        raise AssertionError(
            "\n".join(checker_failed(each.claim, run.scenario, each.error) for each in broken)
        )
    idle = [each for each in run.verdicts if each.claim in armed and not _is_passed(each)]
    if idle:
        raise NotArmedError("\n".join(f"{each.claim}: {each.because}" for each in idle))


def _is_passed(verdict: Verdict) -> bool:
    return verdict.outcome is Outcome.PASSED and verdict.armed > 0
