"""Judging stored histories: the one place where commands meet the checkers."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from conformance import claims, editions
from conformance.history import History
from conformance.norm.claim import CLAIMS, Claim
from conformance.norm.verdict import Verdict
from vocabulary.history import Entry, Header

if TYPE_CHECKING:
    from conformance.report.run_result import Implementation, RunResult


def claims_of(runs: Iterable[RunResult]) -> Mapping[str, Claim]:
    """The claims that these runs are judged by, by id; all claims if there are no runs."""
    ran = {
        (run.scenario, frozenset(run.header.operators)): editions.told_by(run.header)
        for run in runs
    }
    found = {
        claim.id
        for of_run, told in ran.items()
        for claim in claims.judged_on(*of_run)
        if editions.holds(claim, told)
    }
    return {claim.id: claim for claim in claims.load() if not ran or claim.id in found}


def require_judged(header: Header, wanted: Collection[str]) -> None:
    """Raise BadInputError if none of the claims (of all, if none is named) is judged on a run."""
    from conformance import suite
    from conformance.cli.problems import BadInputError

    judged = {claim.id for claim in claims.judged_on(header.scenario, frozenset(header.operators))}
    of = ", ".join({each.suite for each in header.operators.values()}) or header.scenario
    if not judged:
        raise BadInputError(
            f"no installed suite judges runs of {of}; install its distribution beside "
            f"{', '.join(suite.names())}, or name its directory: assay --suite-path DIRECTORY …"
        )
    if wanted and judged.isdisjoint(wanted):
        raise BadInputError(f"{', '.join(sorted(wanted))}: not judged on runs of {of}")


def all_claims() -> Mapping[str, Claim]:
    """The claims of all installed suites by id, in the catalogue's order."""
    return {claim.id: claim for claim in claims.load()}


def judge(header: Header, entries: Sequence[Entry]) -> list[Verdict]:
    """The verdicts of the claims that a history is judged by."""
    return claims.judge(History(header, entries))


class WatchedJudge:
    """Judges as `judge` does, for commands that hand the judge on, and keeps which checkers failed.

    `errors` has the first failure of each: the scenario, and the exception in words, by claim.
    """

    def __init__(self) -> None:
        self.errors: dict[str, tuple[str, str]] = {}

    def __call__(self, header: Header, entries: Sequence[Entry]) -> list[Verdict]:
        verdicts = judge(header, entries)
        for verdict in verdicts:
            if verdict.error:
                self.errors.setdefault(verdict.claim, (header.scenario, verdict.error))
        return verdicts

    def require_no_errors(self) -> None:
        """Name the checkers that failed, and end with 3 if there are any."""
        import typer

        from conformance.cli.exit_code import ExitCode
        from conformance.report.text import checker_failed

        for claim, (scenario, error) in sorted(self.errors.items()):
            typer.echo(checker_failed(claim, scenario, error))
        if self.errors:
            raise typer.Exit(ExitCode.INCONCLUSIVE)


def maker_of(header: Header, version: str) -> Implementation | None:
    """The implementation of a history, for this version of the suite; None if it is unknown here,
    such as that of a private profile."""
    import hashlib

    import msgspec

    from conformance.profiles.reading import read_profile
    from conformance.report.run_result import Implementation, ours
    from conformance.suite import shipped_profiles

    name = header.implementation
    if name == "reference" or name.startswith("mutant:"):
        return ours(header.operators, name, version)
    path = shipped_profiles().get(name)
    told = header.first.facts.profile_sha256
    if path is None or hashlib.sha256(path.read_bytes()).hexdigest() != told:
        return None
    return Implementation(**msgspec.structs.asdict(read_profile(path).implementation))


def claim_named(word: str) -> Claim:
    """The claim with that id, in any case, or that name; BadInputError if there is none."""
    from conformance.cli.problems import BadInputError
    from vocabulary.nearest import meant

    all_claims()
    for claim in CLAIMS.values():
        if word.lower() in (claim.id.lower(), claim.name):
            return claim
    names = (name for claim in CLAIMS.values() for name in (claim.id, claim.name))
    raise BadInputError(f"{word!r} is no claim; {meant(word, names)} List them: assay claims list")
