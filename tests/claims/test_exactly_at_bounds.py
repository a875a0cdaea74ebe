"""Bounds are met exactly on them, and missed a microsecond beyond."""

from __future__ import annotations

import pytest

from conformance.history import History
from conformance.history.timing import Outage, Start, Timing
from conformance.norm import Fate, eventually, in_the_end, not_before
from conformance.suites.appwrapper.view import AppWrapperRun
from conformance.suites.appwrapper.view.attempt_ends import Why, attempt_ends
from tests.claims.stories import SOON, begin, started
from tests.claims.story import LATENCY_SECONDS, Story
from tests.claims.test_timing import header, timing
from vocabulary.clock import SECOND, seconds
from vocabulary.history import Mark

MICROSECOND = 1e-6
EXACT = {"request_latency_us": 0}


def mark(at_us: int) -> Mark:
    return Mark(n=1, t=at_us, mark="step")


def run_of_an_hour() -> AppWrapperRun:
    story = started()
    story.at(3600).mark("end")
    return story.history.appwrappers[0]


@pytest.mark.parametrize(("late_us", "fate"), [(0, Fate.MET), (1, Fate.VIOLATED)])
def test_what_must_happen_may_come_at_the_last_moment(late_us: int, fate: Fate) -> None:
    due_us = seconds(100 + 10 + LATENCY_SECONDS)
    found = eventually(
        run_of_an_hour(),
        "it",
        since=mark(seconds(100)),
        within_us=seconds(10),
        happened=mark(due_us + late_us),
    )
    assert found.fate is fate


@pytest.mark.parametrize(("late_us", "fate"), [(0, Fate.UNDECIDED), (1, Fate.VIOLATED)])
def test_what_lifts_an_obligation_may_come_at_the_last_moment(late_us: int, fate: Fate) -> None:
    due_us = seconds(100 + 10 + 2 * LATENCY_SECONDS)
    found = eventually(
        run_of_an_hour(),
        "it",
        since=mark(seconds(100)),
        within_us=seconds(10),
        steps=2,
        happened=None,
        unless=mark(due_us + late_us),
    )
    assert found.fate is fate


@pytest.mark.parametrize(("later_us", "fate"), [(0, Fate.UNDECIDED), (1, Fate.VIOLATED)])
def test_a_history_that_ends_at_the_last_moment_decides_nothing(later_us: int, fate: Fate) -> None:
    story = started()
    story.at(3600 + later_us * MICROSECOND).mark("end")
    found = eventually(
        story.history.appwrappers[0],
        "it",
        since=mark(seconds(3600 - 10 - LATENCY_SECONDS)),
        within_us=seconds(10),
        happened=None,
    )
    assert found.fate is fate


def run_of_a_day(*marks: str) -> AppWrapperRun:
    story = started()
    story.at(24 * 3600)
    for each in marks:
        story.mark(each)
    return story.history.appwrappers[0]


def test_what_must_happen_in_the_end_may_come_however_late() -> None:
    run = run_of_a_day("stable", "end")
    late = mark(seconds(23 * 3600))
    assert in_the_end(run, "it", since=mark(0), happened=late).fate is Fate.MET
    assert in_the_end(run, "it", since=mark(0), happened=None).fate is Fate.VIOLATED


def test_what_has_not_come_by_then_is_no_violation_if_it_was_lifted_or_nothing_rests() -> None:
    rests, goes_on = run_of_a_day("stable", "end"), run_of_a_day("not-stable", "end")
    lifted = in_the_end(rests, "it", since=mark(0), happened=None, unless=mark(seconds(3600)))
    assert lifted.fate is Fate.UNDECIDED
    assert in_the_end(goes_on, "it", since=mark(0), happened=None).fate is Fate.UNDECIDED


@pytest.mark.parametrize(("early_us", "fate"), [(0, Fate.MET), (1, Fate.VIOLATED)])
@pytest.mark.parametrize("own", [True, False])
def test_what_must_not_happen_before_may_come_at_the_first_moment(
    early_us: int, fate: Fate, own: bool
) -> None:
    story = Story(facts=EXACT)
    begin(story).at(3600).mark("end")
    found = not_before(
        story.history.appwrappers[0],
        "it",
        since=mark(seconds(100)),
        at_least_us=seconds(10),
        happened=mark(seconds(110) - early_us),
        own=own,
    )
    assert found.fate is fate


@pytest.mark.parametrize(("early_us", "fate"), [(0, Fate.MET), (1, Fate.UNDECIDED)])
def test_what_did_not_happen_is_decided_once_it_may(early_us: int, fate: Fate) -> None:
    story = Story(facts=EXACT)
    begin(story).at(3600).mark("end")
    found = not_before(
        story.history.appwrappers[0],
        "it",
        since=mark(seconds(3590) + early_us),
        at_least_us=seconds(10),
        happened=None,
    )
    assert found.fate is fate


def test_only_its_own_doing_may_be_stamped_before_it_is_committed() -> None:
    story = Story(facts={"request_latency_us": SECOND})
    begin(story).at(3600).mark("end")
    aw = story.history.appwrappers[0]
    fates = {
        own: not_before(
            aw,
            "it",
            since=mark(seconds(100)),
            at_least_us=seconds(10),
            happened=mark(seconds(109)),
            own=own,
        ).fate
        for own in (True, False)
    }
    assert fates == {True: Fate.MET, False: Fate.VIOLATED}


def test_an_outage_counts_if_it_begins_before_the_deadline_and_ends_after_the_beginning() -> None:
    until_us = 11 * SECOND
    assert timing(Outage(until_us, None, "later")).due_us(0, 10 * SECOND) == until_us
    assert timing(Outage(until_us - 1, None, "then")).due_us(0, 10 * SECOND) is None
    before = timing(Outage(SECOND, 5 * SECOND - 1, "before"))
    assert before.due_us(5 * SECOND, 10 * SECOND) == 16 * SECOND
    touching = timing(Outage(SECOND, 5 * SECOND, "until then"))
    assert touching.due_us(5 * SECOND, 10 * SECOND) == 17 * SECOND


def test_an_outage_that_touches_a_span_overlaps_it() -> None:
    outage = Outage(10 * SECOND, 20 * SECOND, "an outage")
    found = timing(outage)
    assert found.hindered(0, 10 * SECOND) == [outage]
    assert found.hindered(0, 10 * SECOND - 1) == []
    assert found.hindered(20 * SECOND, 30 * SECOND) == [outage]
    assert found.hindered(20 * SECOND + 1, 30 * SECOND) == []
    assert timing(Outage(0, None, "for ever")).hindered(5, 6)


def test_what_a_controller_looked_at_is_older_by_an_outage_that_was_not_over_then() -> None:
    found = timing(Outage(40 * SECOND, 50 * SECOND, "an outage"))
    assert found.seen_us(51 * SECOND) == 50 * SECOND
    assert found.seen_us(51 * SECOND - 1) == 39 * SECOND
    assert found.seen_us(40 * SECOND) == 39 * SECOND
    assert found.seen_us(40 * SECOND + 1) == 39 * SECOND
    assert timing(Outage(40 * SECOND, None, "for ever")).seen_us(99 * SECOND) == 39 * SECOND


def test_answers_that_come_late_make_a_look_older_by_what_they_cost() -> None:
    late = timing(Outage(40 * SECOND, 50 * SECOND, "late answers", cost_us=3 * SECOND))
    assert late.requested_us(45 * SECOND) == 42 * SECOND
    assert late.requested_us(40 * SECOND) == 40 * SECOND
    assert late.requested_us(50 * SECOND) == 50 * SECOND
    assert late.seen_us(45 * SECOND) == 41 * SECOND
    unbounded = timing(Outage(40 * SECOND, 50 * SECOND, "an outage"))
    assert unbounded.requested_us(45 * SECOND) == 45 * SECOND


def test_a_start_counts_from_its_own_moment_on() -> None:
    told = header(detection_latency_us=SECOND, request_latency_us=2 * SECOND)
    found = Timing(told, told.first, (), [Start(10 * SECOND, True), Start(20 * SECOND, False)])
    assert found.stamped_us(10 * SECOND) == 10 * SECOND
    assert found.stamped_us(10 * SECOND - 1) == 8 * SECOND - 1
    assert found.stamped_us(21 * SECOND) == 20 * SECOND
    assert found.seen_us(21 * SECOND) == 20 * SECOND


@pytest.mark.parametrize(
    ("fault", "lingers_seconds"),
    [
        ({"time_out": {"times": 0}}, 30),
        ({"time_out": {"times": 0, "after": "3s"}}, 3),
        ({"lose_reply": {"times": 0}}, 0),
        ({"lose_reply": {"times": 0, "after": "3s"}}, 3),
        ({"slow_api": {"times": 0}}, 5),
        ({"slow_api": {"times": 0, "by": "3s"}}, 3),
        ({"delay_watch": {}}, 5),
        ({"delay_watch": {"by": "3s"}}, 3),
        ({"break_watch": {}}, 5),
        ({"break_watch": {"gap": "3s"}}, 3),
        ({"api_error": {"times": 0}}, 0),
        ({"stale_reads": {}}, 0),
    ],
)
def test_what_is_on_its_way_when_a_fault_ends_is_still_late(
    fault: dict[str, object], lingers_seconds: float
) -> None:
    story = Story()
    story.at(3).fault("injected", fault)
    story.at(10).fault("reverted", fault)
    assert [outage.end_us for outage in story.history.operator.timing.outages] == [
        seconds(10 + lingers_seconds)
    ]


@pytest.mark.parametrize(
    ("fault", "cost_seconds"),
    [
        ({"time_out": {"times": 0}}, None),
        ({"lose_reply": {"after": "2s", "times": 2}}, 4),
        ({"lose_reply": {"times": 0}}, None),
        ({"slow_api": {}}, 5),
        ({"api_error": {}}, 1),
        ({"api_error": {"times": 2, "retry_after_seconds": 3}}, 8),
        ({"delay_watch": {}}, 10),
        ({"break_watch": {"gap": "3s"}}, 3),
        ({"stale_reads": {}}, None),
    ],
)
def test_faults_cost_what_their_plan_says(
    fault: dict[str, object], cost_seconds: float | None
) -> None:
    story = Story()
    story.at(3).fault("injected", fault)
    cost_us = story.history.operator.timing.outages[0].cost_us
    assert cost_us == (None if cost_seconds is None else seconds(cost_seconds))


@pytest.mark.parametrize("code", [400, 404, 409, 410, 422])
def test_a_fault_may_answer_in_a_way_that_makes_trying_again_senseless(code: int) -> None:
    story = Story()
    story.at(3).fault("injected", {"api_error": {"code": code, "times": 0}})
    assert story.history.operator.timing.outages[0].refuses_for_good


@pytest.mark.parametrize(
    "fault",
    [{"api_error": {"code": 503}}, {"api_error": {}}, {"api_error": {"code": 403}}, {"odd": {}}],
)
def test_other_faults_refuse_nothing_for_good(fault: dict[str, object]) -> None:
    story = Story()
    story.at(3).fault("injected", fault)
    assert not story.history.operator.timing.outages[0].refuses_for_good


@pytest.mark.parametrize(("gap_us", "outages"), [(2 * SECOND, 1), (2 * SECOND + 1, 2)])
def test_two_seconds_lie_between_two_outages_at_least(gap_us: int, outages: int) -> None:
    story = Story()
    for at_us in (SECOND, SECOND + gap_us):
        story.at(at_us / SECOND).refused("update", "Pod", "a-0", 503)
    assert len(story.history.operator.timing.outages) == outages


@pytest.mark.parametrize(
    ("begun", "ended", "reads_current"),
    [(1, 5, False), (5, 9, False), (1, 5 - MICROSECOND, True), (5 + MICROSECOND, 9, True)],
)
def test_a_fault_in_force_at_a_start_keeps_it_from_reading_what_is(
    begun: float, ended: float, reads_current: bool
) -> None:
    told = [(3.0, "killed"), (5.0, "started"), (begun, "injected"), (ended, "reverted")]
    story = Story()
    story.process("started")
    for time, what in sorted(told):
        if what in ("killed", "started"):
            story.at(time).process(what)
        else:
            story.at(time).fault(what, {"stale_reads": {}})
    assert [start.reads_current for start in story.history.operator.timing.starts] == [
        True,
        reads_current,
    ]


def history_of(*told: tuple[float, str, str]) -> History:
    """Processes that changed, with a request that takes no time."""
    story = Story(facts=EXACT)
    for time, process, change in told:
        story.at(time).process(change, process)
    return story.history


def looked(*told: tuple[float, str, str]) -> float:
    """The time of the operator's last read before a write at t=20."""
    history = history_of((0, "appwrapper", "started"), *told)
    return history.operator.looked_us("appwrapper", 20 * SECOND) / SECOND


def test_an_operator_that_stood_still_looked_before_that() -> None:
    assert looked((5, "appwrapper", "paused"), (20, "appwrapper", "resumed")) == 5
    assert looked((5, "appwrapper", "paused"), (20, "appwrapper/1", "resumed")) == 20


@pytest.mark.parametrize(
    ("actor", "seen"), [("appwrapper", 4), ("appwrapper/1", 19), ("appwrapper/2", 19)]
)
def test_a_replica_that_stood_still_acts_on_what_it_saw_before_that(
    actor: str, seen: float
) -> None:
    history = history_of(
        (0, "appwrapper", "started"),
        (1, "appwrapper/1", "started"),
        (5, "appwrapper", "paused"),
        (20, "appwrapper", "resumed"),
    )
    assert history.operator.seen_us(actor, 20 * SECOND) / SECOND == seen


def test_one_that_went_on_long_before_has_looked_since() -> None:
    assert looked((5, "appwrapper", "paused"), (20 - MICROSECOND, "appwrapper", "resumed")) == 20


def test_one_that_only_goes_on_later_has_looked() -> None:
    paused = (5, "appwrapper", "paused")
    assert looked(paused, (20 + MICROSECOND, "appwrapper", "resumed")) == 20
    assert looked((20, "appwrapper", "resumed")) == 20


def test_a_creation_is_tried_for_the_shortest_grace_period_that_was_in_force() -> None:
    story = begin(Story(annotations={"admissionGracePeriodDuration": "30s"}))
    story.at(SOON).resumes()
    story.refused("create", "Pod", "a-0", 500)
    story.at(10).annotated(admissionGracePeriodDuration="100s")
    story.at(40).enters("Failed", Unhealthy="True")
    assert Why.CREATION_FAILED in attempt_ends(story.history.appwrappers[0])[0].ripe
