"""The injector strikes on its triggers, deterministically, and reverts everything afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from chaos.choice import PodChoice
from chaos.faults import (
    Cordon,
    DeleteObject,
    DeletePod,
    Kill,
    KillPod,
    LoseReply,
    NodeLost,
    StaleReads,
    Suspend,
    Taint,
)
from chaos.fields import PlanError
from chaos.happening import Happening, Place
from chaos.injector import Injector
from chaos.plan import parse_plan
from chaos.trigger import AtInjection
from chaos.undo_journal import UndoJournal, outstanding, settle
from tests.chaos.fake_ground import FakeGround, small_cluster
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError, no_answer
from vocabulary.objects import annotations_of, get_path


class Run:
    """A ground, an injector at work on it, and what it recorded."""

    def __init__(self, faults: str, seed: int = 0, **injector: Any) -> None:
        self.ground = small_cluster(seed)
        self.log: list[tuple[str, str]] = []
        self.data: list[dict[str, Any]] = []
        self.injector = Injector(
            self.ground, self._record, parse_plan(f"scenario: s\nfaults:\n{faults}"), **injector
        )
        self.injector.start()

    def _record(self, action: str, data: dict[str, Any], text: str, _effect: object) -> None:
        self.log.append((action, text))
        self.data.append(data)

    def at(self, second: float) -> None:
        self.ground.now_us = round(second * SECOND)
        self.injector.advance()

    def pod_event(self, event: Any = "ADDED", place: Place = Place.AFTER_COMMIT) -> None:
        self.injector.observe(
            Happening(place, "job-controller", "create", "Pod", "test", "a-0", event=event)
        )


def taints(ground: FakeGround, node: str) -> Any:
    return get_path(ground.get("Node", node), "spec.taints")


def test_a_fault_strikes_when_its_time_comes_and_not_before():
    run = Run("- cordon: {node: n0}\n  when: {at: 5s}")
    assert run.injector.next_due_us() == 5 * SECOND
    run.at(4.999999)
    assert run.log == []
    run.at(5)
    assert run.log == [("injected", "cordon node n0")]
    assert run.injector.next_due_us() is None


def test_a_fault_due_at_the_beginning_strikes_as_the_plan_starts():
    assert Run("- cordon: {node: n0}\n  when: {at: 0s}").log == [("injected", "cordon node n0")]


def test_a_fault_strikes_inside_the_event_that_made_it_due():
    run = Run("- kill: {actor: operator}\n  when: {after: commit, kind: Pod, occurrence: 2}")
    run.pod_event()
    assert run.ground.processes.states["operator"] == "running"
    run.pod_event()
    assert run.ground.processes.states["operator"] == "restarting"


def test_only_places_that_something_waits_for_are_listened_to():
    run = Run("- kill: {actor: operator}\n  when: {before: reply, by: operator}")
    assert run.injector.listens(Place.BEFORE_REPLY)
    assert not run.injector.listens(Place.AFTER_COMMIT)


def test_a_choice_is_recorded_by_the_name_it_was_resolved_to():
    run = Run("- kill_pod: {pod: {appwrapper: a, which: last}}\n  when: {at: 0s}")
    assert run.data == [{"kill_pod": {"pod": "a-2"}}]


def test_a_choice_of_all_is_injected_once_for_each():
    run = Run("- delete_pod: {pod: {appwrapper: a, which: all}}\n  when: {at: 0s}")
    assert [text for _, text in run.log] == [f"delete pod a-{n}" for n in range(3)]


def test_a_fault_lasts_for_its_span_and_is_then_undone():
    run = Run("- taint: {node: n0, key: k}\n  when: {at: 1s}\n  for: 10s")
    run.at(1)
    assert taints(run.ground, "n0") == [{"key": "k", "effect": "NoSchedule"}]
    assert run.injector.next_due_us() == 11 * SECOND
    run.at(11)
    assert taints(run.ground, "n0") is None
    assert run.log[-1] == ("reverted", "remove taint k:NoSchedule from node n0")
    assert run.injector.standing == ()


def test_a_fault_lasts_until_its_trigger_which_is_watched_only_once_it_struck():
    run = Run("- stale_reads: {}\n  when: {at: 1s}\n  until: {after: commit, kind: Pod}")
    run.pod_event()
    run.at(1)
    assert run.ground.connection.rules
    run.pod_event()
    assert run.ground.connection.rules == ()


def test_stopping_undoes_everything_the_latest_first_and_lets_nothing_strike_any_more():
    run = Run(
        "- cordon: {node: n0}\n  when: {at: 1s}\n"
        "- node_lost: {node: n1}\n  when: {at: 2s}\n"
        "- cordon: {node: n1}\n  when: {at: 9s}"
    )
    before = run.ground.world()
    run.at(2)
    run.log.clear()
    run.injector.stop()
    assert run.log[0] == ("reverted", "resume kubelet/n1")
    assert run.ground.world() == before
    run.at(10)
    assert run.ground.world() == before and run.injector.next_due_us() is None


def test_a_revert_is_recorded_as_the_fault_it_undoes():
    run = Run("- cordon: {node: n0}\n  when: {at: 0s}")
    run.injector.stop()
    assert run.data == [{"cordon": {"node": "n0"}}] * 2
    assert [action for action, _ in run.log] == ["injected", "reverted"]


def test_what_a_fault_makes_happen_is_heard_after_it_and_can_set_off_another():
    run = Run(
        "- delete_pod: {pod: {appwrapper: a, which: all}}\n  when: {at: 1s}\n"
        "- cordon: {node: n0}\n  when: {after: commit, kind: Pod, event: deleted}"
    )

    def told(request: Any, actor: str) -> None:
        run.injector.observe(
            Happening(
                Place.AFTER_COMMIT, actor, "delete", "Pod", "test", request.name, event="DELETED"
            )
        )

    run.ground.on_write = told
    run.at(1)
    assert [text for _, text in run.log] == [
        "delete pod a-0",
        "delete pod a-1",
        "delete pod a-2",
        "cordon node n0",
    ]


def test_a_refused_fault_is_recorded_with_its_reason_and_the_run_goes_on():
    run = Run(
        "- evict_pod: {pod: missing}\n  when: {at: 0s}\n- cordon: {node: n0}\n  when: {at: 0s}"
    )
    assert run.log == [
        ("refused", 'evict pod missing: NotFound: pods "missing" not found'),
        ("injected", "cordon node n0"),
    ]


def test_a_fault_that_was_refused_strikes_when_it_is_repeated_and_the_plan_strikes_once():
    plan = parse_plan("scenario: s\nfaults:\n- cordon: {node: n0}\n  when: {injection: 1}\n")
    ground = small_cluster()
    log: list[tuple[str, str]] = []
    injector = Injector(
        ground, lambda action, _data, text, _effect: log.append((action, text)), plan
    )
    ground.failing = ApiError(500, "InternalError", "failed calling webhook")
    assert injector.inject(Suspend("AppWrapper/a")) == ()
    assert injector.refusal == "InternalError: failed calling webhook"
    ground.failing = None
    (done,) = injector.inject(Suspend("AppWrapper/a"), is_repeated=True)
    assert done.fault == Suspend("AppWrapper/a")
    assert injector.refusal == ""
    assert [action for action, _ in log] == ["refused", "refused", "injected"]
    assert [(step.fault, step.when) for step in injector.struck] == [
        (Suspend("AppWrapper/a"), AtInjection(1))
    ]


def test_in_a_replay_it_strikes_when_it_is_repeated_as_well():
    steps = "- suspend: {appwrapper: a}\n  when: {injection: 1}\n"
    plan = parse_plan(f"scenario: s\nexhaustive: true\nfaults:\n{steps}")
    ground = small_cluster()
    injector = Injector(ground, lambda *_: None, plan)
    ground.failing = ApiError(500, "InternalError", "failed calling webhook")
    assert injector.inject(Suspend("AppWrapper/a")) == ()
    assert injector.refusal == "InternalError: failed calling webhook"
    ground.failing = None
    (done,) = injector.inject(Suspend("AppWrapper/a"), is_repeated=True)
    assert (done.fault, injector.refusal) == (Suspend("AppWrapper/a"), "")


def test_a_fault_whose_request_got_no_answer_counts_as_injected_and_is_undone():
    ground = small_cluster()
    log: list[tuple[str, str]] = []
    injector = Injector(ground, lambda action, _data, text, _effect: log.append((action, text)))
    ground.failing = no_answer("connection reset")
    injector.inject(Cordon("n0"))
    assert log == [
        ("injected", "cordon node n0, or perhaps not: NoAnswer: connection reset"),
    ]
    ground.failing = None
    assert [injected.fault for injected in injector.standing] == [Cordon("n0")]


def test_an_undo_that_fails_is_recorded_and_the_others_are_still_done():
    ground = small_cluster()
    log: list[tuple[str, str]] = []
    injector = Injector(ground, lambda action, _data, text, _effect: log.append((action, text)))
    injector.inject(NodeLost("n1"))
    injector.inject(Cordon("n0"))
    ground.failing = ApiError(500, "InternalError", "down")
    injector.stop()
    assert [action for action, _ in log] == ["injected", "injected", "refused", "reverted"]
    assert log[2][1].endswith("InternalError: down")
    assert ground.processes.states["kubelet/n1"] == "running"


def test_a_fault_injected_by_hand_can_be_undone_by_hand_and_only_once():
    ground = small_cluster()
    log: list[str] = []
    injector = Injector(ground, lambda action, *_: log.append(action))
    (injected,) = injector.inject(Cordon("n0"))
    injector.revert(injected)
    injector.revert(injected)
    injector.stop()
    assert log == ["injected", "reverted"]


def test_the_same_plan_and_seed_do_the_same_and_another_seed_may_differ():
    faults = "\n".join(
        f"- kill_pod: {{pod: {{which: random}}, exit_code: {n}}}\n  when: {{at: {n}s}}"
        for n in range(1, 12)
    )

    def story(seed: int) -> list[tuple[str, str]]:
        run = Run(faults, seed)
        run.at(60)
        return run.log

    assert story(1) == story(1) != story(2)


def test_the_journal_knows_how_to_undo_what_a_killed_run_left(tmp_path):
    path = tmp_path / "undo.jsonl"
    ground = small_cluster()
    before = ground.world()
    injector = Injector(ground, lambda *_: None, journal=UndoJournal(path))
    for fault in (
        Taint("n0", "k", effect="NoExecute"),
        Suspend("AppWrapper/a"),
        KillPod(PodChoice(of="AppWrapper/a"), 3),
        DeleteObject("Job", "job-a", finalizer="example.com/held"),
        Kill("operator", restart_after=None),
    ):
        injector.inject(fault)
    (cordoned,) = injector.inject(Cordon("n1"))
    injector.revert(cordoned)
    for injection in outstanding(path):
        for undo in injection.faults:
            undo.inject(ground)
    before["objects"].pop("Job.batch/job-a")
    assert ground.world() == before


def test_the_journal_of_a_later_run_goes_on_where_the_earlier_one_ended(tmp_path):
    path = tmp_path / "undo.jsonl"
    ground = small_cluster()
    Injector(ground, lambda *_: None, journal=UndoJournal(path)).inject(Cordon("n0"))
    second = Injector(ground, lambda *_: None, journal=UndoJournal(path))
    second.inject(Cordon("n1"))
    second.stop()
    (left,) = outstanding(path)
    assert [undo.to_data()["edit_object"]["name"] for undo in left.faults] == ["n0"]
    settle(path, left)
    assert outstanding(path) == ()


def test_a_journal_line_that_was_cut_short_is_passed_over(tmp_path):
    path = tmp_path / "undo.jsonl"
    Injector(small_cluster(), lambda *_: None, journal=UndoJournal(path)).inject(Cordon("n0"))
    path.write_bytes(path.read_bytes() + b'{"n":2,"undo":[{"cor')
    assert len(outstanding(path)) == 1
    Injector(small_cluster(), lambda *_: None, journal=UndoJournal(path, "b")).inject(Cordon("n1"))
    assert [(left.number, left.namespace) for left in outstanding(path)] == [(2, "b"), (1, "")]
    assert outstanding(tmp_path / "missing") == ()


@pytest.mark.parametrize("line", ["[]", '{"n":2,"undo":' + "[" * 99_999], ids=("a list", "nested"))
def test_a_file_that_is_no_journal_is_refused_by_line(tmp_path, line):
    path = tmp_path / "undo.jsonl"
    path.write_text('{"n":1,"undone":true}\n' + line + "\n")
    with pytest.raises(PlanError, match=r"undo\.jsonl: line 2.*is none of an undo journal"):
        outstanding(path)


def test_what_leaves_nothing_is_not_kept_to_be_undone():
    ground = small_cluster()
    injector = Injector(ground, lambda *_: None)
    injector.inject(DeletePod("a-0"))
    assert injector.standing == ()


def test_two_equal_connection_faults_are_lifted_one_by_one():
    ground = small_cluster()
    injector = Injector(ground, lambda *_: None)
    (first,) = injector.inject(StaleReads())
    injector.inject(StaleReads())
    injector.revert(first)
    assert len(ground.connection.rules) == 1


def test_lifting_a_fault_that_has_run_out_does_nothing():
    ground = small_cluster()
    injector = Injector(ground, lambda *_: None)
    injector.inject(LoseReply(times=1))
    rule = LoseReply(times=1).rule()
    ground.connection.remove(rule)
    injector.stop()
    assert ground.connection.rules == () and annotations_of(ground.get("Pod", "a-0") or {}) == {}
