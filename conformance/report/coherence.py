"""Coherence of a report with itself and with the claims, without histories.

Totals are recomputed from the rows, tiers and summaries from the claims. Fields that occur in a
report once, and in no history, cannot be checked here: `docs/report.md` lists them.
"""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Final

from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome, worst
from conformance.report.build import claims_digest, not_covered, source_of
from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.struct_diff import Finding, differences
from conformance.report.tiers import Features, profiles_of
from vocabulary import suite_path

_OF: Final = re.compile(r"(\d+)/(\d+)")


def incoherences(report: ConformanceReport, claims: Mapping[str, Claim]) -> Iterator[Finding]:
    """Contradictions in a report, within itself and with `claims`, those of today."""
    yield from _twice(report)
    for claim in report.claims:
        yield from _wrong_sums(claim)
    yield from _wrong_tiers(report, claims)
    yield from _missing_features(report)
    yield from _other_norm(report, claims)
    yield from _wrong_gaps(report, claims)
    yield from _wrong_command(report)
    yield from _impossible_counts(report)


def left_out_of(report: ConformanceReport) -> frozenset[str]:
    """The claims that were not asked for; none for a report of all of them."""
    listed = {
        id_ for profile in report.profiles for tier in profile.tiers for id_ in tier.skipped_tests
    }
    return frozenset(listed - {claim.id for claim in report.claims})


def of_suites_in(report: ConformanceReport, claims: Mapping[str, Claim]) -> frozenset[str]:
    """The claims of the suites that a report is about: runs may have operators of others, of whose
    claims none was asked for."""
    suites = {profile.name for profile in report.profiles}
    return frozenset(id_ for id_, claim in claims.items() if claim.suite in suites)


def is_same_norm(report: ConformanceReport, claims: Mapping[str, Claim]) -> bool:
    """True if the report is of those claims, word for word."""
    return report.suite.claims_digest == claims_digest(claims.values())


def row_of(claim: str, test: ClaimTest) -> str:
    """The name of a row in findings."""
    return f"claims[{claim}].tests[{test.name}, seed {test.seed}]"


_RUN: Final = ["assay", "run"]
_EXPLORE: Final = ["assay", "explore"]


def asked_for(command: str, option: str, usual: str) -> str:
    """The value that a command has for an option; `usual` where it does not name it. The operator
    of `assay explore OPERATOR` is its implementation."""
    words = _words(command)
    if option == "--implementation" and words[:2] == _EXPLORE and len(words) > 2:
        return words[2]
    return words[words.index(option) + 1] if option in words[:-1] else usual


def _words(command: str) -> list[str]:
    """Of a command line, without the paths of suites; none where its quotes do not match."""
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    while words[1:2] == [suite_path.OPTION]:
        del words[1:3]
    return words


def _twice(report: ConformanceReport) -> Iterator[Finding]:
    lists: list[tuple[str, Iterable[Hashable]]] = [
        ("profiles", (profile.name for profile in report.profiles)),
        ("claims", (claim.id for claim in report.claims)),
        ("notCovered", (gap.claim for gap in report.not_covered)),
    ]
    lists += [
        (f"claims[{claim.id}].tests", ((test.scenario, test.seed) for test in claim.tests))
        for claim in report.claims
    ]
    for where, keys in lists:
        for key, count in Counter(keys).items():
            if count > 1:
                yield Finding(where, f"has {key} {count} times")


def _wrong_sums(claim: ClaimReport) -> Iterator[Finding]:
    """A claim that does not follow from its rows."""
    where = f"claims[{claim.id}]"
    outcome = worst(test.outcome for test in claim.tests)
    yield from differences(claim.outcome, outcome, f"{where}.outcome", "its tests are")
    armed = sum(test.armed for test in claim.tests)
    yield from differences(claim.armed, armed, f"{where}.armed", "its tests have")
    for test in claim.tests:
        if not test.runs:
            yield Finding(f"{row_of(claim.id, test)}.runs", "is 0, and there is an outcome")


def _wrong_tiers(report: ConformanceReport, claims: Mapping[str, Claim]) -> Iterator[Finding]:
    """Profiles that do not follow from the claims in the report."""
    listed = left_out_of(report)
    for id_ in sorted(listed - claims.keys()):
        yield Finding("profiles", f"list {id_} as skipped, which is no claim of today")
    # Of a selection, all that was not asked for is listed.
    is_known = bool(listed) and is_same_norm(report, claims)
    judged = {claim.id for claim in report.claims}
    left_out = claims.keys() - judged if is_known else claims.keys() & listed
    made = {
        profile.name: profile
        for profile in profiles_of(
            report.claims, [claims[id_] for id_ in sorted(left_out)], _features(report)
        )
    }
    told = {profile.name: profile for profile in report.profiles}
    for name in sorted(made.keys() - told.keys()):
        yield Finding("profiles", f"lack {name}, of which there are claims")
    for name, profile in told.items():
        where = f"profiles[{name}]"
        if name in made:
            yield from differences(profile, made[name], where, "its claims give")
        else:
            yield Finding(where, "has results, and no claim in this report is of it")


def _missing_features(report: ConformanceReport) -> Iterator[Finding]:
    """Claims that were left out for what the implementation lacks, and nothing that it lacks."""
    features = _features(report)
    outcomes = {claim.outcome for claim in report.claims}
    if all(profile.extended is None for profile in report.profiles):
        return  # no tier could name them
    for outcome, field, named in (
        (Outcome.UNSUPPORTED, "unsupportedFeatures", features.unsupported),
        (Outcome.SKIPPED, "skippedFeatures", features.skipped),
    ):
        if outcome in outcomes and not named:
            yield Finding(f"profiles[].extended.{field}", f"are none, and claims are {outcome}")


def _features(report: ConformanceReport) -> Features:
    """Those of the first profile that tells them: it is the same in all."""
    for profile in report.profiles:
        if (told := profile.extended) is not None:
            return Features(
                told.supported_features, told.unsupported_features, told.skipped_features
            )
    return Features()


def _other_norm(report: ConformanceReport, claims: Mapping[str, Claim]) -> Iterator[Finding]:
    """Texts that are not those which the digest of the norm is of."""
    if is_same_norm(report, claims):
        for claim in report.claims:
            if claim.id in claims:
                yield from _other_text(claim, claims[claim.id])
        return
    gaps = {gap.claim for gap in report.not_covered} - {claim.id for claim in report.claims}
    if left_out_of(report) or gaps:
        return  # the digest is also of texts which are not in the report
    told, made = report.suite.claims_digest, claims_digest(report.claims)
    yield from differences(told, made, "suite.claimsDigest", "the claims as they stand here give")


def _other_text(told: ClaimReport, claim: Claim) -> Iterator[Finding]:
    where, says = f"claims[{told.id}]", "the claim has"
    texts = {
        "name": claim.name,
        "level": str(claim.level),
        "profile": claim.suite,
        "text": claim.text,
    }
    for field, is_so in texts.items():
        yield from differences(getattr(told, field), is_so, f"{where}.{field}", says)
    yield from differences(told.source, source_of(claim), f"{where}.source", says)


def _wrong_gaps(report: ConformanceReport, claims: Mapping[str, Claim]) -> Iterator[Finding]:
    """Claims without a verdict that are not named, or named with another reason."""
    told = {gap.claim: gap.because for gap in report.not_covered}
    judged = {claim.id for claim in report.claims}
    is_whole = is_same_norm(report, claims) and not left_out_of(report)
    whole = of_suites_in(report, claims) if is_whole else frozenset()
    asked_for = whole | (claims.keys() & {*judged, *told})
    made = {
        gap.claim: gap.because
        for gap in not_covered(report.claims, {id_: claims[id_] for id_ in asked_for})
    }
    for id_ in sorted(asked_for | told.keys()):
        where = f"notCovered[{id_}]"
        if id_ in claims:
            yield from differences(told.get(id_), made.get(id_), where, "its claim gives")
        elif id_ not in judged:
            yield Finding(where, "is neither a claim of this report nor one of today")


def _wrong_command(report: ConformanceReport) -> Iterator[Finding]:
    """A command that would run another suite than the one that is reported."""
    where, command = "reproduce.command", report.reproduce.command
    words = _words(command)
    if words[:2] not in (_RUN, _EXPLORE):
        yield Finding(where, "is no command that begins with: assay run")
    for option, usual, is_so, field in (
        ("--seed", "", str(report.reproduce.seed), "reproduce.seed"),
        ("--cluster", "simulated", report.environment.cluster, "environment.cluster"),
    ):
        asked = asked_for(command, option, usual)
        if asked != is_so:
            yield Finding(where, f"asks for {option} {asked or '…'}, {field} is {is_so}")
    edition, editions = asked_for(command, "--edition", ""), report.suite.editions
    if edition and edition not in editions.values():
        told = ", ".join(f"{name} {each}" for name, each in editions.items()) or "none"
        yield Finding(where, f"asks for --edition {edition}, suite.editions are {told}")
    if "--rerun" in words and not report.determinism.rerun:
        yield Finding("determinism.rerun", f"is 0, and {where} asks for --rerun")
    for option, is_told, field in (
        ("--rerun", report.determinism.rerun > 0, "determinism.rerun"),
        ("--crash-points", report.coverage.crash_points != "0/0", "coverage.crashPoints"),
    ):
        if is_told and option not in words:
            yield Finding(field, f"tells of a campaign, which {option} in {where} asks for")
    drawn = {"--random-plans", "--fault-pairs"}
    if report.coverage.random_plans and not drawn.intersection(words):
        yield Finding("coverage.randomPlans", f"tells of a campaign that {where} does not ask for")


def _impossible_counts(report: ConformanceReport) -> Iterator[Finding]:
    coverage, determinism = report.coverage, report.determinism
    for field, text in (
        ("faultClasses", coverage.fault_classes),
        ("crashPoints", coverage.crash_points),
    ):
        found = _OF.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            yield Finding(f"coverage.{field}", f"is {text}, expected tried/existing")
    runs: Counter[str] = Counter()
    for claim in report.claims:
        of_claim: Counter[str] = Counter()
        for test in claim.tests:
            of_claim[test.scenario] += test.runs
        runs |= of_claim
    for where, told, limit, of in (
        ("coverage.randomPlans", coverage.random_plans, coverage.plans, "coverage.plans"),
        ("determinism.rerun", determinism.rerun, coverage.plans, "coverage.plans"),
        ("determinism.mismatches", determinism.mismatches, determinism.rerun, "determinism.rerun"),
        ("claims[].tests[].runs", runs.total(), coverage.plans, "coverage.plans"),
    ):
        if told > limit:
            yield Finding(where, f"is {told}, more than the {limit} of {of}")
    is_simulated = report.environment.cluster == "simulated"
    operator = report.environment.operator
    if operator is not None and (operator == "simulated") is not is_simulated:
        yield Finding("environment.operator", f"is {operator}, which no such cluster has")
    for claim in report.claims:
        for test in claim.tests:
            if not test.variant and test.seed != report.reproduce.seed:
                what = f"is {test.seed}, reproduce.seed is {report.reproduce.seed}"
                yield Finding(f"{row_of(claim.id, test)}.seed", what)
