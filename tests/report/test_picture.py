"""The lanes of a failure page: the axis folds, the states are right, the page stays small."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest

from conformance.norm.verdict import Kept, Outcome, Verdict
from conformance.report.pages.change import with_previous
from conformance.report.pages.event_table import shown_positions
from conformance.report.pages.failure_page import MAX_PAGE_BYTES, failure_page
from conformance.report.pages.lane import DrawnLane, LaneGroup
from conformance.report.pages.lanes import lane_groups
from conformance.report.pages.page import embedded_json
from conformance.report.pages.time_axis import TimeAxis
from conformance.report.run_result import RunResult
from tests.report.sample_claims import QUOTA
from tests.report.sample_run import failing_run, passing_run
from vocabulary.clock import HOUR, MILLISECOND, SECOND
from vocabulary.history import Write


def _groups(run: RunResult) -> dict[str, LaneGroup]:
    axis = TimeAxis(entry.t for entry in run.entries)
    shown = frozenset(range(len(run.entries)))
    groups = lane_groups(run.header, run.entries, [run.verdicts[0]], axis, shown)
    return {group.title: group for group in groups}


def _texts(lane: DrawnLane) -> list[str]:
    return [band.text for band in lane.bands]


def test_the_axis_keeps_the_order_of_moments_and_stays_within_its_width() -> None:
    times = [0, 5, 400, MILLISECOND, 2 * MILLISECOND, SECOND, 90 * SECOND, 168 * HOUR]
    axis = TimeAxis(times)
    places = [axis.x(at) for at in times]
    assert all(0 < place < 100 for place in places)
    assert all(earlier < later for earlier, later in pairwise(places))
    assert places[6] < axis.x(100 * SECOND) < places[7]
    assert axis.x(169 * HOUR) == 100


def test_long_waits_are_folded_and_short_ones_are_not() -> None:
    axis = TimeAxis([0, MILLISECOND, 9 * SECOND, 99 * SECOND, 168 * HOUR])
    assert [fold.span_us for fold in axis.folds] == [90 * SECOND, 168 * HOUR - 99 * SECOND]
    assert axis.folds[0].right - axis.folds[0].left == pytest.approx(
        axis.folds[1].right - axis.folds[1].left, abs=0.05
    )


def test_labels_of_the_axis_do_not_overlap() -> None:
    axis = TimeAxis(range(0, 100 * SECOND, SECOND))
    assert all(b - a >= 9 for (a, _), (b, _) in pairwise(axis.ticks))


def test_the_claims_lane_goes_from_rest_to_obligation_to_violation() -> None:
    (lane,) = _groups(failing_run())["AW-015"].lanes
    assert _texts(lane) == ["not armed", "obligation open", "violated"]
    assert [mark.shape for mark in lane.marks] == ["diamond", "dot", "cross"]


def test_the_claims_lane_shows_each_obligation_that_was_met() -> None:
    run = passing_run()
    first, last = 0, len(run.entries) - 1
    verdict = Verdict(
        claim="AW-063", outcome=Outcome.PASSED, armed=2, kept=(Kept(first, last), Kept(last, last))
    )
    axis = TimeAxis([entry.t for entry in run.entries])
    (lane,) = lane_groups(run.header, run.entries, [verdict], axis, frozenset())[0].lanes
    assert _texts(lane)[:2] == ["not armed", "obligation open"]
    assert [(mark.shape, mark.text, mark.n) for mark in lane.marks] == [
        ("diamond", "armed", first),
        ("dot", "met", last),
        ("diamond", "armed", last),
    ]


def test_the_operators_life_is_a_lane() -> None:
    lanes = {lane.label: lane for lane in _groups(failing_run())["Faults and processes"].lanes}
    assert _texts(lanes["appwrapper"]) == ["up", "up, leading", "killed", "up", "up, leading"]
    assert [mark.shape for mark in lanes["faults"].marks] == ["down", "down", "down", "up"]


def test_quota_is_drawn_against_the_pods_that_really_use_it() -> None:
    lanes = {lane.label: lane for lane in _groups(failing_run())["appwrapper/a"].lanes}
    quota = lanes["quota / used"]
    without = [band for band in quota.bands if "without quota" in band.text]
    assert [band.text for band in without] == ["2 pods without quota", "1 pod without quota"]
    assert {band.tone for band in without} == {"bad"}
    reserved = [band for band in quota.bands if band.text == "reserved"]
    assert len(reserved) == 1
    assert reserved[0].left + reserved[0].width == pytest.approx(without[0].left, abs=0.02)


def test_phases_conditions_and_resets_have_lanes_with_their_values() -> None:
    lanes = {lane.label: lane for lane in _groups(failing_run())["appwrapper/a"].lanes}
    assert _texts(lanes["phase"])[-4:] == ["Resetting", "Resuming", "Running", "Failed"]
    assert _texts(lanes["ResourcesDeployed"]) == ["False", "True", "False", "True", "False"]
    assert _texts(lanes["resets"])[-1] == "1 of 1"


def test_taints_show_on_the_nodes_lane() -> None:
    lanes = {lane.label: lane for lane in _groups(failing_run())["Nodes"].lanes}
    assert _texts(lanes["node/n0"]) == [
        "ready",
        "autopilot.ibm.com/gpuhealth=EVICT:NoExecute",
        "ready",
    ]


def test_of_many_pods_those_of_the_evidence_are_shown_and_the_rest_counted() -> None:
    run = failing_run(40)
    group = _groups(run)["Pods"]
    assert len(group.lanes) == 24
    assert "pod/a-job-zt1" in [lane.label for lane in group.lanes]
    assert group.note == "56 more that the verdict does not mention"


@pytest.mark.parametrize("pods", [3, 60, 400])
def test_a_page_is_at_most_300_kilobytes_whatever_the_history(pods: int) -> None:
    run = failing_run(pods)
    page = failure_page([(QUOTA, run.verdicts[0])], run, command="assay replay aw-015.yaml")
    assert len(page.encode()) <= MAX_PAGE_BYTES
    assert f'id="e{run.verdicts[0].violations[0].at}"' in page


def test_a_page_of_huge_objects_is_small_too() -> None:
    run = failing_run(30)
    entries = tuple(
        msgspec.structs.replace(
            entry,
            object={**entry.object, "data": {f"key{i}": "v" * 5000 for i in range(30)}},
        )
        if isinstance(entry, Write) and entry.object
        else entry
        for entry in run.entries
    )
    fat = msgspec.structs.replace(run, entries=entries)
    page = failure_page([(QUOTA, fat.verdicts[0])], fat, command="x")
    assert len(page.encode()) <= MAX_PAGE_BYTES


def test_a_page_is_the_same_for_the_same_run() -> None:
    def page() -> str:
        run = failing_run()
        return failure_page([(QUOTA, run.verdicts[0])], run, command="x")

    assert page() == page()


def test_when_not_all_events_fit_the_evidence_is_kept() -> None:
    run = failing_run(60)
    verdict = run.verdicts[0]
    kept = shown_positions(with_previous(run.entries), verdict, 50)
    assert len(kept) == 50
    assert kept == sorted(kept)
    assert set(verdict.violations[0].evidence) <= set(kept)


def test_embedded_data_cannot_end_its_element() -> None:
    text = embedded_json({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)


def test_a_page_carries_a_policy_that_allows_nothing_but_itself() -> None:
    run = failing_run()
    page = failure_page([(QUOTA, run.verdicts[0])], run, command="x")
    assert "default-src &#39;none&#39;" in page
    assert "unsafe-inline" not in page
    assert " style=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page
