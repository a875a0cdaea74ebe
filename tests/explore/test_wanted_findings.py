"""`keeps` and `accepts` in a profile: kinds that stay without a subject, and wanted findings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from conformance.explore.campaign import accepted_in_words
from conformance.norm.verdict import Outcome, Verdict, merge
from conformance.profiles.profile import Accepted, ImplementationProfile
from conformance.report.run_result import RunResult
from conformance.running.runner import with_verdicts
from tests.explore.by_hand import END, process, step, verdict_on
from tests.explore.planted import explored, planted

__all__ = ["planted"]

DELETED = "operator/deletion/deleted/background"


def with_facts(run: RunResult, **facts: Any) -> RunResult:
    """The run as one of an operator with these facts in its profile."""
    operators = {
        role: msgspec.structs.replace(each, facts=msgspec.structs.replace(each.facts, **facts))
        for role, each in run.header.operators.items()
    }
    header = msgspec.structs.replace(run.header, operators=operators)
    return with_verdicts(msgspec.structs.replace(run, header=header))


def outcome(run: RunResult, claim: str) -> Outcome:
    (found,) = (verdict.outcome for verdict in run.verdicts if verdict.claim == claim)
    return found


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize(
    ("bug", "claim"), [("leaves-entries", "OP-009"), ("holds-pages", "OP-010")]
)
def test_what_is_kept_is_not_missed(bug: str, claim: str) -> None:
    suite, _ = explored(f"planted/mutant:{bug}", "slow", sample=1)
    (run,) = (run for run in suite.runs if run.scenario == DELETED and not run.variant)
    assert outcome(run, claim) is Outcome.FAILED
    assert outcome(with_facts(run, keeps=("ConfigMap",)), claim) is Outcome.PASSED
    assert outcome(with_facts(run, keeps=("ConfigMap.example.dev",)), claim) is Outcome.FAILED


def test_a_kind_is_spelled_with_its_group() -> None:
    kinds = next(
        each.type for each in msgspec.structs.fields(ImplementationProfile) if each.name == "keeps"
    )
    assert msgspec.convert(["Secret", "Backup.example.dev"], kinds)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(["backups.example.dev"], kinds)


@pytest.mark.usefixtures("planted")
def test_a_finding_is_accepted_for_as_long_as_it_has_the_cited_text() -> None:
    suite, _ = explored("planted/mutant:leaves-entries", "slow", sample=1)
    (run,) = (run for run in suite.runs if run.scenario == DELETED and not run.variant)
    accepted = {"claim": "OP-009", "text": "a-entry", "because": "Entries are archived"}
    assert outcome(with_facts(run, accepts=(accepted,)), "OP-009") is Outcome.INCONCLUSIVE
    for changed in ({"text": "a-web"}, {"claim": "OP-010"}):
        other = with_facts(run, accepts=({**accepted, **changed},))
        assert outcome(other, "OP-009") is Outcome.FAILED


def test_an_accepted_finding_is_no_pass_whatever_held_beside_it() -> None:
    """OP-013 is met once in each run."""
    accepts = ({"claim": "OP-013", "text": "ended by itself", "because": "It is restarted."},)
    entries = (process("started"), process("ended"), END)
    verdict = verdict_on("OP-013", *entries, facts={"accepts": accepts})
    assert (verdict.outcome, verdict.armed) == (Outcome.INCONCLUSIVE, 1)
    assert verdict.because == "Undecided: accepted by the profile: It is restarted."
    assert verdict.accepted == ("ended by itself",)
    panic = step("operator raised KeyError")
    verdict = verdict_on("OP-013", panic, *entries, facts={"accepts": accepts})
    assert verdict.outcome is Outcome.FAILED
    assert verdict.accepted == ("ended by itself",), "and one of its findings is accepted"


def test_an_accepted_finding_counts_beside_passes_and_not_beside_failures() -> None:
    passed = Verdict(claim="OP-009", outcome=Outcome.PASSED, armed=3)
    accepted = Verdict(
        claim="OP-009",
        outcome=Outcome.INCONCLUSIVE,
        because="Undecided: accepted by the profile: Entries are archived.",
        accepted=("a-entry",),
    )
    left = Verdict(claim="OP-009", outcome=Outcome.INCONCLUSIVE, armed=1, because="Undecided: so.")
    failed = Verdict(claim="OP-009", outcome=Outcome.FAILED, armed=1)
    merged = merge("OP-009", [passed, left, accepted, passed])
    assert (merged.outcome, merged.because) == (Outcome.INCONCLUSIVE, accepted.because)
    assert merged.accepted == ("a-entry",)
    assert merge("OP-009", [accepted, failed]).outcome is Outcome.FAILED


def test_the_cited_text_of_an_accepted_finding_is_no_single_word() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"length >= 10 - at `\$\.text`"):
        msgspec.convert({"claim": "OP-009", "text": "the", "because": "So it is"}, Accepted)


def test_accepted_findings_are_listed_and_so_is_what_no_finding_has() -> None:
    # One verdict is about several findings, of which its text names one at most.
    verdict = Verdict(
        claim="OP-009",
        outcome=Outcome.FAILED,
        because="a-page is there.",
        accepted=("a-entry", "a-list"),
    )
    run = SimpleNamespace(verdicts=(verdict,))
    entries = (
        {"claim": "OP-009", "text": "a-entry", "because": "Entries are archived"},
        {"claim": "OP-009", "text": "a-list", "because": "Lists are archived"},
        {"claim": "OP-008", "text": "spec.replicas", "because": "Wanted"},
    )
    said = list(accepted_in_words(entries, cast("list[RunResult]", [run])))
    assert said[0] == "accepted by the profile: OP-009 in 1 run: Entries are archived"
    assert said[1] == "accepted by the profile: OP-009 in 1 run: Lists are archived"
    assert said[2].startswith("accepts: no finding of OP-008 has the text 'spec.replicas'")
