"""Requirements on every claim: its wording, its scenarios, and that sound runs pass it."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from conformance import claims
from conformance.history import History
from conformance.norm import exceptions
from conformance.norm.claim import Claim
from conformance.norm.verdict import Outcome
from conformance.suites.appwrapper.sources import FAULT_TOLERANCE, MLBATCH_GUIDE
from conformance.suites.jobset.sources import API, KEP
from conformance.suites.kueue import sources as kueue
from conformance.suites.operator import judging as operator
from conformance.suites.quota import sources as quota
from conformance.suites.streams import sources as streams
from tests.claims import stories
from tests.claims.judging import assert_passes, verdict_of
from tests.claims.story import Story

EVERY = claims.load()
IDS = [claim.id for claim in EVERY]
JUDGED = [claim.id for claim in EVERY if not claim.not_judged]

OF_OPERATOR = (*range(1, 26), 27, 28)
OF_JOBSET = (
    *(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
    *(20, 21, 22, 23, 24, 25, 26, 27, 28),
    *(40, 41, 42, 43, 44, 45, 46, 47, 48),
    *(60, 61, 62),
    *(70, 71, 72, 73, 74, 75, 76, 77),
    *(90, 91, 92, 93, 94, 95, 96, 97, 98, 99),
    *(100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113),
    *range(114, 117),
)
OF_KUEUE = (
    *(*range(1, 17), *range(20, 27)),
    *range(30, 39),
    *range(40, 59),
    *range(60, 70),
    *range(101, 121),
    *range(201, 209),
)
OF_MLBATCH = (
    *range(1, 16),
    *range(20, 32),
    *range(40, 57),
    *range(60, 78),
    *range(80, 83),
)
WHAT_MUST_BE_CLAIMED = [
    *(f"AW-{n:03}" for n in range(1, 8)),
    *(f"AW-{n:03}" for n in range(10, 16)),
    *(f"AW-{n:03}" for n in range(20, 23)),
    *(f"AW-{n:03}" for n in range(30, 36)),
    *(f"AW-{n:03}" for n in range(40, 58)),
    *(f"AW-{n:03}" for n in range(60, 65)),
    *(f"AW-{n:03}" for n in range(70, 81)),
    *(f"AW-{n:03}" for n in range(85, 99)),
    *("AW-100", "AW-101", "AW-110", "AW-111", "AW-112"),
    *(f"INV-{n}" for n in range(1, 11)),
    *(f"JS-{n:03}" for n in OF_JOBSET),
    *(f"KQ-{n:03}" for n in OF_KUEUE),
    *(f"MLB-{n:03}" for n in OF_MLBATCH),
    *(f"OP-{n:03}" for n in OF_OPERATOR),
    *(f"QL-{n:03}" for n in range(1, 18)),
    *(f"ST-{n:03}" for n in range(1, 53)),
]
SOURCES = {
    "appwrapper": (FAULT_TOLERANCE, MLBATCH_GUIDE),
    "jobset": (KEP, API),
    "kueue": (kueue.KEP, kueue.GUIDE, kueue.RELEASE_KEP, kueue.API),
    "mlbatch": (FAULT_TOLERANCE, MLBATCH_GUIDE),
    "quota": (quota.GUIDE, quota.RELEASE),
    "streams": (streams.DOCUMENT,),
    "operator": (operator.DOCUMENT,),
}
SUITES = {
    **{"AW": "appwrapper", "INV": "appwrapper", "JS": "jobset"},
    **{"KQ": "kueue", "MLB": "mlbatch", "QL": "quota", "ST": "streams"},
    "OP": "operator",
}

ARMED_BY_WAITING = {"AW-112", "INV-6", "MLB-020", "MLB-041", "MLB-044"}
SOUND: dict[str, Callable[[], Story]] = {
    "retried": stories.retried,
    "exhausted": stories.exhausted,
    "succeeded": stories.succeeded,
    "suspended while running": stories.suspended,
    "suspended while resetting": lambda: stories.suspended("Resetting"),
    "externally deleted": stories.externally_deleted,
    "job failed": stories.job_failed,
    "migrated": stories.migrated,
    "delayed": stories.delayed,
    "stuck": stories.stuck,
    "short of pods": stories.short_of_pods,
    "idle": stories.idle,
    "repaired": lambda: stories.repaired().at(200).ends(),
    "deleted": stories.deleted,
    "tagged for new pods only": lambda: stories.tagged("ERR").at(200).ends(),
}


def test_all_claims_of_the_sources_are_there_in_order() -> None:
    assert IDS == WHAT_MUST_BE_CLAIMED


def test_names_of_claims_are_unique() -> None:
    assert len({claim.name for claim in EVERY}) == len(EVERY)


@pytest.mark.parametrize("claim", EVERY, ids=IDS)
def test_a_claim_is_one_normative_sentence_with_a_source(claim: Claim) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", claim.name)
    assert re.search(r"\b(MUST|SHOULD|MAY)\b", claim.text)
    assert claim.text.endswith(".")
    documents = (*SOURCES[claim.suite], exceptions.SOURCE.document)
    assert claim.source.document in documents
    assert claim.source.section
    assert claim.source.sentence >= 1
    assert claim.suite == SUITES[claim.id.partition("-")[0]]


@pytest.mark.parametrize("claim", EVERY, ids=IDS)
def test_a_claim_can_be_judged_or_says_why_not(claim: Claim) -> None:
    assert (claim.judge is None) == bool(claim.not_judged)


@pytest.mark.parametrize("claim", JUDGED)
def test_a_history_without_an_appwrapper_arms_no_claim(claim: str) -> None:
    story = Story()
    story.mark("faults-stopped")
    verdict = verdict_of(claim, story.at(100).ends())
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.armed == 0
    assert verdict.because.startswith("Never armed: no ")


@pytest.mark.parametrize(
    "claim", sorted(set(JUDGED) - {"AW-112", "INV-6", "MLB-020", "MLB-041", "MLB-044"})
)
def test_an_appwrapper_that_only_waits_arms_no_claim_about_running_it(claim: str) -> None:
    story = stories.begin(Story(suspended=True)).at(1000).ends()
    verdict = verdict_of(claim, story)
    assert verdict.outcome is Outcome.INCONCLUSIVE, verdict.because
    assert verdict.armed == 0


@pytest.mark.parametrize("sound", SOUND)
def test_no_claim_finds_fault_with_a_sound_story(sound: str) -> None:
    verdicts = claims.judge(SOUND[sound]().history)
    assert [verdict.because for verdict in verdicts if verdict.outcome is Outcome.FAILED] == []
    assert [v.because for v in verdicts if v.because.startswith("The checker failed")] == []


@pytest.mark.parametrize("sound", SOUND)
def test_a_history_that_is_cut_short_anywhere_raises_no_alarm(sound: str) -> None:
    story = SOUND[sound]()
    for length in range(len(story.entries)):
        for verdict in claims.judge(History(story.header, story.entries[:length])):
            assert verdict.outcome is not Outcome.FAILED, f"{length}: {verdict.because}"
            assert not verdict.because.startswith("The checker failed"), verdict.because


HOLDS_ON = {
    "retried": [
        *("AW-003", "AW-004", "AW-005", "AW-006", "AW-007", "AW-010", "AW-011", "AW-013"),
        *("AW-014", "AW-020", "AW-021", "AW-030", "AW-040", "AW-047", "AW-048", "AW-049"),
        *("AW-050", "AW-051", "AW-052", "AW-073", "AW-074", "AW-075", "AW-088"),
        *("INV-1", "INV-3", "INV-4", "INV-5", "INV-6", "INV-7", "INV-9"),
        *("MLB-020", "MLB-023", "MLB-041", "MLB-044", "MLB-045", "MLB-046", "MLB-047"),
        *("MLB-048", "MLB-049", "MLB-050"),
    ],
    "exhausted": [
        *("AW-015", "AW-052", "AW-053", "AW-062", "AW-070", "AW-075", "AW-076", "INV-2"),
        *("AW-094", "MLB-024", "MLB-042", "MLB-053"),
    ],
    "succeeded": [
        *("AW-063", "AW-064", "AW-078", "AW-096", "AW-100", "AW-101"),
        *("MLB-051", "MLB-052", "MLB-054"),
    ],
    "suspended while running": ["AW-015", "AW-054", "INV-2", "MLB-043"],
    "suspended while resetting": ["AW-054"],
    "externally deleted": ["AW-022", "AW-035", "AW-045", "AW-057"],
    "job failed": ["AW-022", "AW-034", "AW-044"],
    "migrated": [
        *("AW-001", "AW-002", "AW-033", "AW-043", "AW-055", "AW-086", "AW-087", "AW-089"),
        *("AW-093",),
    ],
    "delayed": ["AW-060", "AW-061", "AW-070"],
    "stuck": ["AW-007", "AW-011", "AW-012", "AW-077", "INV-10"],
    "short of pods": ["AW-031", "AW-041", "AW-071"],
    "idle": ["AW-032", "AW-042", "AW-072"],
    "repaired": ["AW-046"],
    "deleted": ["AW-007", "AW-095", "AW-013", "AW-015", "INV-7"],
    "tagged for new pods only": ["AW-090"],
}


@pytest.mark.parametrize(
    ("claim", "sound"), [(claim, sound) for sound, ids in HOLDS_ON.items() for claim in ids]
)
def test_a_claim_holds_on_a_sound_story_that_arms_it(claim: str, sound: str) -> None:
    assert_passes(claim, SOUND[sound]())


@pytest.mark.parametrize("sound", SOUND)
def test_what_was_met_says_where_it_arose_and_where_it_was_met(sound: str) -> None:
    story = SOUND[sound]()
    for verdict in claims.judge(story.history):
        assert len(verdict.kept) == verdict.armed, verdict.claim
        for since, by in verdict.kept:
            assert 0 <= since <= by < len(story.entries), f"{verdict.claim}: {since}, {by}"


def test_a_failed_pod_that_is_noticed_is_an_obligation_from_the_failure_to_the_notice() -> None:
    story = stories.started()
    failed = story.at(10).becomes("a-0", "Failed")
    noticed = story.at(10.1).shows(Unhealthy="True")
    assert assert_passes("AW-030", story).kept == ((failed, noticed),)


def test_the_id_of_a_decision_stands_for_one() -> None:
    choices: dict[str, set[str]] = {}
    for claim in EVERY:
        for decision in claim.decisions:
            choices.setdefault(decision.id, set()).add(decision.choice)
    assert {key: found for key, found in choices.items() if len(found) > 1} == {}
