"""The claims of all suites, and the verdicts of those that a history is judged by."""

from __future__ import annotations

from functools import cache

from conformance import editions, suite
from conformance.history import History
from conformance.norm.claim import CLAIMS, Claim
from conformance.norm.verdict import Outcome, Verdict


@cache
def load() -> tuple[Claim, ...]:
    """Import every suite; all claims in order of suite, prefix and number."""
    suites = suite.load()
    prefixes = [prefix for each in suites.values() for prefix in each.prefixes]

    def order(claim: Claim) -> tuple[int, int]:
        prefix, _, number = claim.id.partition("-")
        of = suites.get(claim.suite)
        if of is None or prefix not in of.prefixes or not number.isdecimal():
            raise suite.SuiteError(
                f"claim {claim.id} of suite {claim.suite!r}: expected the name of an installed "
                f"suite ({', '.join(suites)}), and an id of one of its prefixes and a number"
            )
        if unknown := sorted(set(claim.editions).difference(of.editions)):
            raise suite.SuiteError(
                f"claim {claim.id}: its suite has no edition {unknown[0]!r}; "
                f"there are: {', '.join(of.editions) or 'none'}"
            )
        return prefixes.index(prefix), int(number)

    return tuple(sorted(CLAIMS.values(), key=order))


@cache
def of_suites(names: frozenset[str]) -> tuple[Claim, ...]:
    """The claims of these suites, in the order of `load`."""
    return tuple(claim for claim in load() if claim.suite in names)


def judged_on(scenario: str, roles: frozenset[str]) -> tuple[Claim, ...]:
    """The claims that runs of a scenario with operators of these roles are judged by."""
    return of_suites(frozenset(each.name for each in suite.judged_on(scenario, roles)))


def judge(history: History) -> list[Verdict]:
    """The verdict of every claim that the run is judged by, in the order of `load`.

    What an implementation lacks, or was run without, is not judged; the header has the reason. What
    does not hold in the edition of the run is left out.
    """
    operators = history.header.operators
    told = editions.told_by(history.header)
    suites = suite.load()
    left_out = {
        claim: Verdict(claim=claim, outcome=outcome, because=because)
        for operator in operators.values()
        for outcome, claims in (
            (Outcome.SKIPPED, operator.facts.skipped),
            (Outcome.UNSUPPORTED, operator.facts.unsupported),
        )
        for claim, because in claims.items()
        if claim in CLAIMS
        and operator.suite in (of := CLAIMS[claim].suite, *suites[of].judged_with)
    }
    return [
        left_out[claim.id] if claim.id in left_out else claim.judge(history)
        for claim in judged_on(history.header.scenario, frozenset(operators))
        if claim.judge is not None and editions.holds(claim, told)
    ]
