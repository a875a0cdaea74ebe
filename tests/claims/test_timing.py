"""When a controller could not act, and what bounds follow from that."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.history.timing import Outage, Timing
from tests.claims.stories import SOON, attempt, begin, started
from tests.claims.story import LATENCY_SECONDS, Story
from tests.claims.templates import pod
from tests.headers import header_of
from vocabulary.clock import SECOND, seconds
from vocabulary.history import Capabilities, Header

APPWRAPPER = "AppWrapper.workload.codeflare.dev"


def header(clock: str = "virtual", exact: bool = True, **facts: int) -> Header:
    return header_of(clock=clock, capabilities=Capabilities(exact_times=exact), facts=facts)


def timed(told: Header, *more: Any) -> Timing:
    return Timing(told, told.first, *more)


def timing(*outages: Outage) -> Timing:
    return timed(header(detection_latency_us=SECOND, request_latency_us=0), outages)


def test_a_deadline_is_the_span_and_the_latency_that_the_header_states() -> None:
    told = header(detection_latency_us=SECOND, poll_us=5 * SECOND, slack_us=2 * SECOND)
    assert timed(told, ()).due_us(100 * SECOND, 10 * SECOND) == 118 * SECOND


def test_an_operator_that_is_left_untouched_is_granted_its_own_polling_interval() -> None:
    facts = {"detection_latency_us": SECOND, "poll_us": SECOND, "polls_every_us": 60 * SECOND}
    assert timed(header(**facts), ()).latency_us == 2 * SECOND
    assert timed(header(**facts, untouched=True), ()).latency_us == 61 * SECOND


def test_a_header_that_states_no_latency_gets_what_the_slowest_known_operator_needs() -> None:
    assert timed(header("wall"), ()).latency_us == 65 * SECOND
    assert timed(header("virtual"), ()).latency_us == 5 * SECOND


def test_whole_second_times_widen_both_bounds_by_a_second() -> None:
    coarse = timed(header(exact=False, detection_latency_us=0, request_latency_us=0), ())
    assert coarse.due_us(0, 0) == SECOND
    assert coarse.stamped_us(10 * SECOND) == 9 * SECOND


def test_the_clock_stands_still_while_nothing_could_be_done() -> None:
    outage = Outage(5 * SECOND, 8 * SECOND, "appwrapper was killed")
    # 3 s lost, 3 s more for a client that backed off, and the latency once more.
    assert timing(outage).due_us(0, 10 * SECOND) == (10 + 1 + 2 * 3 + 1) * SECOND


def test_an_outage_that_does_not_end_leaves_no_deadline() -> None:
    assert timing(Outage(5 * SECOND, None, "appwrapper was killed")).due_us(0, 10 * SECOND) is None


def test_an_outage_after_the_deadline_changes_nothing() -> None:
    assert timing(Outage(50 * SECOND, None, "later")).due_us(0, 10 * SECOND) == 11 * SECOND


def test_a_fault_of_bounded_cost_costs_that_and_not_its_whole_duration() -> None:
    outage = Outage(0, 1000 * SECOND, "lose a reply", cost_us=2 * SECOND)
    assert timing(outage).due_us(0, 10 * SECOND) == (10 + 1 + 2 * 2 + 1) * SECOND


def test_what_a_controller_looked_at_may_be_as_old_as_an_outage() -> None:
    assert timing().seen_us(100 * SECOND) == 99 * SECOND
    paused = timing(Outage(40 * SECOND, 99.5 * SECOND, "operator was paused"))  # type: ignore[arg-type]
    assert paused.seen_us(100 * SECOND) == 39 * SECOND


def test_an_operator_stamps_nothing_before_it_starts() -> None:
    story = Story(facts={"request_latency_us": 2 * SECOND})
    story.at(5).process("started")
    assert story.history.operator.timing.stamped_us(seconds(6)) == seconds(5)
    assert story.history.operator.timing.stamped_us(seconds(60)) == seconds(58)


def test_an_operator_that_was_restarted_brings_no_stamp_along() -> None:
    story = Story(facts={"request_latency_us": 2 * SECOND})
    story.at(0).process("started")
    story.at(5).process("killed")
    story.at(8).process("started")
    assert story.history.operator.timing.stamped_us(seconds(8.5)) == seconds(8)
    assert story.history.operator.timing.seen_us(seconds(8.5)) == seconds(8 - LATENCY_SECONDS)


def test_an_operator_that_was_paused_may_have_stamped_before_that() -> None:
    story = Story(facts={"request_latency_us": 2 * SECOND})
    story.at(0).process("started")
    story.at(5).process("paused")
    story.at(8).process("resumed")
    assert story.history.operator.timing.stamped_us(seconds(8.5)) == seconds(3)


def test_a_leader_that_led_before_may_act_on_what_it_saw_then() -> None:
    story = Story(facts={"request_latency_us": SECOND})
    story.at(0).process("started")
    story.at(1).process("leading")
    story.at(5).process("following")
    story.at(8).process("leading")
    assert story.history.operator.timing.stamped_us(seconds(8.5)) == seconds(4)
    story.at(9).process("killed")
    story.process("started")
    story.at(12).process("leading")
    assert story.history.operator.timing.stamped_us(seconds(12.5)) == seconds(12)
    assert story.history.operator.timing.seen_us(seconds(12.5)) == seconds(12 - LATENCY_SECONDS)


def test_a_fault_may_show_a_new_operator_a_state_from_before_its_start() -> None:
    story = Story()
    story.at(2).fault("injected", {"stale_reads": {"kind": "Pod"}}, "freeze the Pod cache")
    story.at(3).process("killed")
    story.at(5).process("started")
    story.at(9).fault("reverted", {"stale_reads": {"kind": "Pod"}}, "thaw it")
    assert story.history.operator.timing.seen_us(seconds(6)) <= seconds(2 - LATENCY_SECONDS)


def outages(story: Story) -> list[tuple[float, float | None, str]]:
    return [
        (
            outage.begin_us / SECOND,
            None if outage.end_us is None else outage.end_us / SECOND,
            outage.because,
        )
        for outage in story.history.operator.timing.outages
    ]


def test_an_operator_is_down_from_its_death_to_its_start() -> None:
    story = Story()
    story.at(0).process("started")
    story.at(5).process("killed")
    story.at(8).process("started")
    assert outages(story)[-1] == (5, 8, "appwrapper was killed")


def test_an_operator_that_crashes_gains_no_time() -> None:
    story = Story()
    story.at(0).process("started")
    story.at(5).process("ended")
    story.at(15).process("started")
    assert outages(story) == [(0, 0, "no instance of the operator had started")]


@pytest.mark.parametrize("seconds_later", [0, 60])
def test_an_operator_that_gives_up_as_it_is_hindered_is_down(seconds_later: int) -> None:
    fault = {"api_error": {"actor": "appwrapper", "code": 503, "times": 0}}
    story = Story()
    story.at(0).process("started")
    story.at(3).fault("injected", fault, "the API server is away")
    story.at(5).fault("reverted", fault, "it is back")
    story.at(5 + seconds_later).process("ended")
    story.at(95).process("started")
    (_, *found) = outages(story)
    assert (found[-1][1], found[-1][0] <= 5 + seconds_later) == (95, True)


def test_an_operator_that_gives_up_after_it_was_paused_is_down() -> None:
    story = Story()
    story.at(0).process("started")
    story.at(5).process("paused")
    story.at(30).process("resumed")
    story.at(31).process("ended")
    story.at(41).process("started")
    assert outages(story)[-2:] == [
        (5, 30, "appwrapper was paused"),
        (31, 41, "appwrapper ended by itself"),
    ]


def test_a_second_instance_keeps_the_operator_up() -> None:
    story = Story()
    story.at(0).process("started")
    story.process("started", "appwrapper/1")
    story.at(5).process("killed")
    assert outages(story) == [(0, 0, "no instance of the operator had started")]


def test_an_operator_that_is_up_and_does_not_lead_cannot_act() -> None:
    story = Story()
    story.at(0).process("started")
    story.at(1).process("leading")
    story.at(5).process("killed")
    story.at(6).process("started")
    story.at(20).process("leading")
    assert outages(story) == [
        (0, 1, "no instance of the operator had started"),
        (5, 20, "appwrapper was killed"),
    ]


def test_another_process_that_is_down_does_not_hinder_the_operator() -> None:
    story = Story()
    story.at(5).process("paused", "job-controller")
    assert outages(story) == []
    assert story.history.others_were_down


def test_a_fault_between_operator_and_server_lasts_until_it_is_reverted() -> None:
    story = Story()
    fault = {"stale_reads": {"kind": "Pod"}}
    story.at(3).fault("injected", fault, "freeze the Pod cache of operator")
    story.at(9).fault("reverted", fault, "thaw it")
    assert outages(story) == [(3, 9, "freeze the Pod cache of operator")]


def test_a_fault_that_is_lifted_has_ended() -> None:
    story = Story()
    fault = {"stale_reads": {}}
    story.at(3).fault("injected", fault, "freeze")
    story.at(9).fault("injected", {"lift": {"fault": fault}}, "lift it")
    assert outages(story) == [(3, 9, "freeze")]


def test_faults_that_hit_the_workload_do_not_hinder_the_operator() -> None:
    story = Story()
    story.at(3).fault("injected", {"kill_pod": {"pod": "a-0"}}, "kill pod a-0")
    story.fault("injected", {"kill": {"actor": "job-controller"}}, "kill job-controller")
    story.fault("injected", {"api_error": {"actor": "kubelet"}}, "refuse the kubelet")
    assert outages(story) == []


def test_a_fault_that_nobody_knows_hinders_while_it_lasts() -> None:
    story = Story()
    story.at(3).fault("injected", {"solar_storm": {}}, "a solar storm")
    assert outages(story) == [(3, None, "a solar storm")]


def test_a_fault_that_was_refused_hinders_nobody() -> None:
    story = Story()
    story.at(3).fault("refused", {"stale_reads": {}}, "no informer to freeze")
    assert outages(story) == []


@pytest.mark.parametrize(
    ("fault", "cost_seconds"),
    [
        ({"time_out": {}}, 30),
        ({"time_out": {"after": "5s", "times": 2}}, 10),
        ({"lose_reply": {}}, 0),
        ({"slow_api": {"by": "3s"}}, 3),
        ({"slow_api": {"by": "3s", "times": 0}}, None),
        ({"api_error": {"code": 500, "times": 3}}, 3),
        ({"api_error": {"code": 500, "times": 0}}, None),
        ({"api_error": {"code": 429, "times": 2, "retry_after_seconds": 5}}, 12),
        ({"api_error": {"code": 500, "times": 14}}, 0.005 * (2**13 - 1)),
        ({"api_error": {"code": 500, "times": 100}}, 0.005 * (2**17 - 1) + 82 * 1000),
        ({"delay_watch": {"by": "2s"}}, 4),
        ({"break_watch": {}}, 5),
    ],
)
def test_faults_that_strike_so_many_times_cost_so_much(
    fault: dict[str, object], cost_seconds: float | None
) -> None:
    story = Story()
    story.at(3).fault("injected", fault)
    cost_us = story.history.operator.timing.outages[0].cost_us
    assert cost_us == (None if cost_seconds is None else seconds(cost_seconds))


def test_requests_that_fail_close_together_are_one_outage() -> None:
    story = Story()
    for time in (1, 2, 3, 10):
        story.at(time).refused("update", "AppWrapper.workload.codeflare.dev", "a", 500)
    because = "update of AppWrapper.workload.codeflare.dev a failed with 500"
    assert outages(story) == [(1, 3, because), (10, 10, because)]


def test_requests_of_a_client_that_backs_off_are_one_outage() -> None:
    story = Story()
    times = [10 + 0.005 * (2**failures - 1) for failures in range(14)]
    for time in times:
        story.at(time).refused("update", "AppWrapper.workload.codeflare.dev", "a", 500)
    assert [outage[:2] for outage in outages(story)] == [(10, pytest.approx(times[-1]))]
    next_us = seconds(10 + 0.005 * (2**14 - 1))
    due_us = story.history.operator.timing.due_us(seconds(9), seconds(1))
    assert due_us is not None
    assert next_us < due_us < next_us + 3 * seconds(LATENCY_SECONDS)


def test_what_became_due_while_requests_failed_waits_until_a_client_tries_again() -> None:
    refused = Outage(0, 100 * SECOND, "refuse every request", backs_off=True)
    assert timing(refused).due_us(99 * SECOND, 0) == (99 + 1 + 1 + 100 + 1) * SECOND
    slow = Outage(0, 100 * SECOND, "answer every request late")
    assert timing(slow).due_us(99 * SECOND, 0) == (99 + 1 + 1 + 1 + 1) * SECOND


def test_no_client_backs_off_for_longer_than_is_documented() -> None:
    refused = Outage(0, 9000 * SECOND, "refuse every request", backs_off=True)
    assert timing(refused).due_us(8999 * SECOND, 0) == (8999 + 1 + 1 + 1000 + 1) * SECOND


def refused_at(story: Story, second: float, times: int) -> None:
    """So many requests are refused from then on, and the fault stays in force."""
    fault = {"api_error": {"verb": "get", "code": 500, "times": times}}
    story.at(second).fault("injected", fault, f"refuse {times} requests")


def due_seconds(story: Story, since: float) -> float:
    due_us = story.history.operator.timing.due_us(seconds(since), 0)
    assert due_us is not None
    return due_us / SECOND


def test_refusals_on_top_of_an_outage_cost_as_much_as_a_client_waits_after_it() -> None:
    """It waits 10 s when the outage is over, then 20 s and 40 s."""
    story = Story()
    every = {"api_error": {"verb": ["get", "list"], "code": 500, "times": 0}}
    story.at(0).fault("injected", every, "refuse every request")
    refused_at(story, 2, times=2)
    story.at(5).fault("reverted", every, "no longer")
    assert 5 + 5 + 10 + 20 <= due_seconds(story, 0) <= 5 + 5 + 10 + 20 + 4 * LATENCY_SECONDS


@pytest.mark.parametrize("first", ["conflict", "own affair", "time-out", "refusals"])
def test_failures_in_a_row_count_together_whatever_their_reasons(first: str) -> None:
    alone, story = Story(), Story()
    refused_at(alone, 9, times=14)
    if first == "time-out":
        story.at(8).fault("injected", {"time_out": {"after": "1s"}}, "lose a request")
    elif first == "refusals":
        story.at(8).fault("injected", {"api_error": {"code": 503, "times": 1}}, "refuse one")
    else:
        reason, code = ("Conflict", 409) if first == "conflict" else ("Forbidden", 403)
        story.at(8.999).refused("create", "Pod", "a-0", code, reason=reason)
    refused_at(story, 9, times=14)
    assert due_seconds(story, 9) >= 2 * due_seconds(alone, 9) - 9 - 3 * LATENCY_SECONDS


def test_a_failure_after_which_the_client_got_through_makes_no_later_wait_longer() -> None:
    alone, story = Story(), Story()
    for each in (alone, story):
        if each is story:
            each.at(1).refused("create", "Pod", "a-0", 403, reason="Forbidden")
        refused_at(each, 9, times=14)
    assert due_seconds(story, 9) == due_seconds(alone, 9)


def test_answers_that_are_part_of_the_work_are_no_outage() -> None:
    story = Story()
    story.at(1).refused("delete", "Pod", "a-0", 404)
    story.refused("update", "Pod", "a-0", 500, by="kubelet/n0")
    assert outages(story) == []


def test_a_conflict_after_somebody_wrote_costs_one_more_attempt() -> None:
    story = started(pod("a-0"))
    story.at(20).annotated(by="a user")
    story.at(21).refused("patch", APPWRAPPER, "a", 409)
    story.at(22).refused("patch", APPWRAPPER, "a", 409)
    assert [outage[:2] for outage in outages(story)] == [(21, 21)]


def test_a_controller_that_conflicts_again_and_again_gains_no_time() -> None:
    story = started(pod("a-0"))
    story.at(20).annotated(by="a user")
    for second in range(21, 600):
        story.at(second).refused("patch", APPWRAPPER, "a", 409)
    assert story.history.operator.timing.due_us(0, seconds(600)) == seconds(
        600 + 2 * LATENCY_SECONDS
    )


@pytest.mark.parametrize("code", [400, 401, 403, 405])
def test_a_controller_that_may_not_do_what_it_tries_gains_no_time(code: int) -> None:
    story = started(pod("a-0"))
    for second in range(20, 30):
        story.at(second).refused("patch", APPWRAPPER, "a", code)
    assert outages(story) == []


def test_two_deadlines_in_a_row_give_two_latencies() -> None:
    story = begin(Story())
    attempt(story, SOON)
    story.at(10).becomes("a-0", "Failed")
    story.at(10.9).shows(Unhealthy="True")
    story.at(71.9).enters("Resetting", resets=1)
    from tests.claims.judging import assert_fails, assert_passes

    assert_passes("AW-040", story)
    late = started()
    late.at(10).becomes("a-0", "Failed")
    late.at(10.9).shows(Unhealthy="True")
    wrong = late.at(72.1).enters("Resetting", resets=1)
    assert_fails("AW-040", late, at=wrong)


def test_a_run_that_came_to_rest_need_not_be_waited_for() -> None:
    from tests.claims.judging import assert_fails, assert_unarmed

    story = started()
    story.at(10).becomes("a-0", "Failed")
    story.at(10.2).mark("faults-stopped")
    assert_unarmed("AW-030", story)
    rest = story.mark("stable")
    assert_fails("AW-030", story, at=rest)


def test_a_run_that_rests_while_the_operator_is_down_decides_nothing() -> None:
    from tests.claims.judging import assert_unarmed

    story = started()
    story.at(9).process("killed")
    story.at(10).becomes("a-0", "Failed")
    story.at(10.2).mark("stable")
    assert_unarmed("AW-030", story)
