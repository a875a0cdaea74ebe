"""Selection: the suites, scenarios and claims named after `assay run`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from conformance.cli.problems import BadInputError
from vocabulary.nearest import meant

if TYPE_CHECKING:
    from conformance.scenario_type import Scenario

_GLOB: Final = frozenset("*?[")


def resolve(
    words: Iterable[str], *, one_case: bool = False, large: bool = False
) -> tuple[str, ...]:
    """The words in their exact spelling, each once; BadInputError for one that names nothing.

    Claim ids may be written in lower case, scenarios by the end of their id
    (`slow-pods` for `jobset/failure-policy/slow-pods`) where that is unique, several scenarios by
    what their ids begin with (`kueue/queues`, or a scenario without its case) or by a pattern
    (`quota/cells/*/held`). As a suite's name, these leave out further cases with `one_case`, and
    scenarios of thousands of pods without `large`.
    """
    from conformance.running.suite import select
    from conformance.scenarios import ALL_SCENARIOS

    known = _known()
    usual = {found.id for found in select((), one_case=one_case, large=large)}
    found: dict[str, None] = {}
    for word in words:
        names = _resolve_one(word, known)
        if len(names) > 1:
            names = [name for name in names if name in usual or name not in ALL_SCENARIOS]
        found |= dict.fromkeys(names)
    return tuple(found)


def in_short(words: Iterable[str]) -> tuple[str, ...]:
    """The words for a report: what names one thing in its exact spelling, patterns as typed."""
    known = _known()
    found = ((word, _resolve_one(word, known)) for word in words)
    return tuple(names[0] if len(names) == 1 else word for word, names in found)


def without(chosen: Sequence[Scenario], patterns: Sequence[str]) -> list[Scenario]:
    """The scenarios that none of the patterns, suites, scenarios or claims names."""
    from conformance.running.suite import select

    left = list(chosen)
    for pattern in patterns:
        named = {found.id for found in select(resolve([pattern], large=True), large=True)}
        if named.isdisjoint(found.id for found in chosen):
            raise BadInputError(f"--skip: {pattern!r} names no scenario of the selection")
        left = [found for found in left if found.id not in named]
    if not left:
        raise BadInputError("--skip leaves nothing to run; leave one out")
    return left


def last_failed(
    chosen: Sequence[Scenario], out: Path, options: Mapping[str, tuple[str, str]]
) -> list[Scenario]:
    """The scenarios that failed or were aborted in the report in that directory. `options` are the
    value and the default of those that the report must have been made with, too."""
    from conformance.norm.verdict import Outcome
    from conformance.report.coherence import asked_for
    from conformance.report.yaml_text import read_report, report_path

    report = read_report(report_path(out))
    for option, (value, usual) in options.items():
        before = asked_for(report.reproduce.command, option, usual)
        if before != value:
            raise BadInputError(
                f"--last-failed: the report in {out} is of {option} {before or '(none)'}, and this "
                f"run is of {value or '(none)'}; give the same"
            )
    failed = {
        test.scenario
        for claim in report.claims
        for test in claim.tests
        if test.outcome is Outcome.FAILED
    } | {error.name.partition(" [")[0] for error in report.errors}
    found = [each for each in chosen if each.id in failed]
    if not found:
        raise BadInputError(
            f"--last-failed: no scenario of the selection failed in {out}; leave --last-failed out"
        )
    return found


def with_operators(words: Sequence[str], implementation: str) -> tuple[tuple[str, ...], str]:
    """The selection, and a sentence about what it leaves out.

    Nothing selected means everything for which there is an operator: a reference, or what
    `implementation` names. What is selected by name stays, and needs one.
    """
    from conformance.profiles.choosing import unfilled
    from conformance.running.suite import roles_of, select

    chosen = () if words else select(())
    missing = set(unfilled(implementation, roles_of(chosen)))
    lacking = [found for found in chosen if missing.intersection(found.roles)]
    if not lacking:
        return tuple(words), ""
    partly = {found.suite for found in lacking}
    kept = [
        found.id if found.suite in partly else found.suite
        for found in chosen
        if found not in lacking
    ]
    names = ", ".join(sorted(missing))
    first = lacking[0].suite
    said = (
        f"not run: {len(lacking)} scenarios of {', '.join(sorted(partly))}, since {names} has no "
        f"reference controller; name an operator: assay run {first} --implementation mine.yaml"
    )
    if not kept:
        raise BadInputError(said)
    return tuple(dict.fromkeys(kept)), said


def require_edition(edition: str, words: Sequence[str]) -> None:
    """Raise BadInputError unless a suite of the selection has that edition, and each claim of the
    selection holds in its suite's; no edition is every suite's default."""
    from conformance import editions
    from conformance.norm.claim import CLAIMS
    from conformance.running.suite import select

    chosen = select(words)
    if edition:
        try:
            editions.require_known(edition, [(found.id, found.roles) for found in chosen])
        except editions.UnknownEditionError as error:
            raise BadInputError(f"--edition: {error}") from error
    asked = _in_force(chosen, edition)
    for word in words:
        if word in CLAIMS and not editions.holds(CLAIMS[word], asked):
            judged_in = editions.edition_of(CLAIMS[word].suite, asked)
            raise BadInputError(
                f"{word} does not hold in edition {judged_in}; leave it out, or add "
                f"--edition {CLAIMS[word].editions[0]}"
            )


def _in_force(chosen: Iterable[Scenario], edition: str) -> dict[str, str]:
    """By suite, the edition that the runs of these scenarios are judged by."""
    from conformance import editions

    found: dict[str, str] = {}
    for scenario in chosen:
        found |= editions.of_run(scenario.id, scenario.roles, edition)
    return found


def claims_asked_for(words: Sequence[str], edition: str = "") -> tuple[str, ...]:
    """Return the claims whose verdicts a selection requests; empty means all that are judged.

    Naming a scenario selects the claims that it was written to arm: it is expected that it does not
    arm all others. Naming a suite selects its own, those that are judged on runs of its own
    operators, and those that its scenarios with operators of other suites were written to arm.
    """
    from conformance import claims, editions, suite
    from conformance.running.suite import select
    from conformance.scenarios import ALL_SCENARIOS

    known = {claim.id for claim in claims.load()}
    suites = suite.load()
    asked: set[str] = set()
    for word in words:
        if word in known:
            asked.add(word)
        elif word in ALL_SCENARIOS:
            asked.update(ALL_SCENARIOS[word].arms)
        else:
            own = frozenset(role for role in suites[word].roles if role == word)
            asked.update(claim.id for claim in claims.judged_on(word, own))
            asked.update(
                claim
                for found in ALL_SCENARIOS.values()
                if found.suite == word
                for claim in found.arms
            )
    chosen = select(words)
    in_force = _in_force(chosen, edition)
    judged = {
        claim.id
        for found in chosen
        for claim in claims.judged_on(found.id, frozenset(found.roles))
        if editions.holds(claim, in_force)
    }
    return () if asked >= judged else tuple(sorted(asked))


def _resolve_one(word: str, known: list[str]) -> Sequence[str]:
    if not _GLOB.isdisjoint(word):
        return _matching(word, known)
    exact = [name for name in known if name.lower() == word.lower()]
    found = exact or [name for name in known if name.endswith(f"/{word.lower()}")]
    if len(found) == 1:
        return found
    if found:
        raise BadInputError(f"{word!r} names several scenarios: {', '.join(found)}; write one out")
    from conformance import suite

    if word.lower() in suite.names():
        judged_with = suite.load()[word.lower()].judged_with
        raise BadInputError(
            f"suite {word.lower()!r} has no scenarios of its own; its claims are judged on runs of "
            f"{', '.join(judged_with) or 'others'}: assay run {' '.join(judged_with)}"
        )
    below = f"/{word.lower().rstrip('/')}/"
    within = [name for name in known if below in f"/{name}"]
    if within and len({f"/{name}".partition(below)[0] for name in within}) == 1:
        return within
    raise BadInputError(
        f"unknown suite, scenario or claim {word!r}; {meant(word, known)} "
        "List them: assay claims list, assay claims scenarios"
    )


def _matching(pattern: str, known: list[str]) -> list[str]:
    found = [name for name in known if fnmatchcase(name.lower(), pattern.lower())]
    if not found:
        raise BadInputError(
            f"unknown suite, scenario or claim: nothing matches {pattern!r}. "
            "List them: assay claims list, assay claims scenarios"
        )
    return found


def complete(incomplete: str) -> list[str]:
    """For shell completion: everything that begins with what was typed."""
    return [name for name in _known() if name.lower().startswith(incomplete.lower())]


def _known() -> list[str]:
    """Every suite, claim and scenario."""
    from conformance import claims
    from conformance.scenarios import ALL_SCENARIOS

    suites = {scenario.suite for scenario in ALL_SCENARIOS.values()}
    return [*sorted(suites), *(claim.id for claim in claims.load()), *sorted(ALL_SCENARIOS)]
