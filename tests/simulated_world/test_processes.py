"""Processes of a cluster: their states, how they end, and when they start again."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.processes import UnknownProcessError, is_in_controller_manager
from tests.simulated_controllers.lab import Lab
from vocabulary import history
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, Kind
from vocabulary.requests import Create, DeleteCollection, Request

SCHEDULER = "scheduler"


def changes(lab: Lab) -> list[tuple[str, str]]:
    entries = lab.cluster.recorder.entries
    return [(it.process, it.change) for it in entries if isinstance(it, history.Process)]


def test_a_process_runs_is_paused_is_down_and_is_restarted() -> None:
    lab = Lab()
    processes = lab.processes
    assert processes.state(SCHEDULER) == "running"
    assert processes.is_running(SCHEDULER)
    processes.pause(SCHEDULER)
    processes.pause(SCHEDULER)
    assert processes.state(SCHEDULER) == "paused"
    assert not processes.is_running(SCHEDULER)
    processes.resume(SCHEDULER)
    processes.resume(SCHEDULER)
    processes.kill(SCHEDULER)
    processes.kill(SCHEDULER)
    assert processes.state(SCHEDULER) == "down"
    assert not processes.awaits_restart
    processes.start(SCHEDULER)
    processes.start(SCHEDULER)
    processes.kill(SCHEDULER, restart_after_us=5 * SECOND)
    assert processes.state(SCHEDULER) == "restarting"
    assert processes.awaits_restart
    lab.run(4.9)
    assert processes.state(SCHEDULER) == "restarting"
    lab.run(0.2)
    assert processes.state(SCHEDULER) == "running"
    assert not processes.awaits_restart
    expected = ["paused", "resumed", "killed", "started", "killed", "started"]
    assert changes(lab)[-6:] == [(SCHEDULER, it) for it in expected]


def test_a_start_by_hand_comes_before_the_one_that_was_due() -> None:
    lab = Lab()
    lab.processes.kill(SCHEDULER, restart_after_us=5 * SECOND)
    lab.processes.start(SCHEDULER)
    count = len(changes(lab))
    lab.run(10)
    assert len(changes(lab)) == count


@pytest.mark.parametrize("after_us", [None, 3 * SECOND])
def test_an_orderly_end_is_recorded_as_such(after_us: int | None) -> None:
    lab = Lab()
    lab.processes.kill(SCHEDULER, graceful=True, restart_after_us=after_us)
    lab.run(1)
    assert changes(lab)[-1] == (SCHEDULER, "stopped")
    assert lab.processes.awaits_restart is (after_us is not None)
    lab.run(5)
    assert lab.processes.is_running(SCHEDULER) is (after_us is not None)


class _Slow:
    """A process that takes its time to end."""

    name = "slow"
    running = True
    paused = False

    def __init__(self) -> None:
        self.ended: list[Any] = []

    def start(self) -> None:
        self.running = True

    def kill(self) -> None:
        self.running = False

    def stop(self, ended: Any) -> None:
        self.ended.append(ended)

    def pause(self) -> None:
        self.running = False

    def resume(self) -> None:
        self.paused = False

    def end(self) -> None:
        self.running = False
        self.ended.pop()()


@pytest.mark.parametrize(
    ("after_us", "starts", "killed"),
    [(None, False, False), (SECOND, False, False), (None, True, False), (SECOND, False, True)],
)
def test_a_process_that_is_ending(after_us: int | None, *, starts: bool, killed: bool) -> None:
    lab, slow = Lab(), _Slow()
    lab.processes.add(slow)
    told: list[str] = []
    lab.processes.on_change(told.append)
    lab.processes.kill("slow", graceful=True, restart_after_us=after_us)
    assert lab.processes.awaits_restart is (after_us is not None)
    if starts:
        lab.processes.start("slow")
        assert lab.processes.awaits_restart
    if killed:
        lab.processes.kill("slow")
        assert not lab.processes.awaits_restart
    else:
        slow.end()
    lab.run(2)
    assert slow.running is ((after_us is not None or starts) and not killed)
    assert told == ["slow"] * (1 + slow.running)


def test_a_process_that_ends_when_it_is_paused_is_not_recorded_as_paused() -> None:
    lab = Lab()
    lab.processes.add(_Slow())
    lab.processes.pause("slow")
    assert not [it for it in changes(lab) if it == ("slow", "paused")]


def test_the_controller_manager_is_all_that_a_real_one_runs() -> None:
    lab = Lab(nodes=1)
    lab.processes.kill("kube-controller-manager")
    down = {name for name in lab.cluster.controllers if lab.processes.state(name) == "down"}
    assert down == {name for name in lab.cluster.controllers if is_in_controller_manager(name)}
    assert lab.processes.state("kube-controller-manager") == "down"
    assert lab.processes.is_running(SCHEDULER)
    assert not is_in_controller_manager("kubelet/n0")
    assert not lab.processes.is_running("nobody")
    with pytest.raises(UnknownProcessError, match="no process 'nobody' in this cluster; there are"):
        lab.processes.state("nobody")


def test_chaos_and_marks_are_recorded_with_their_time() -> None:
    lab = Lab()
    lab.run(2)
    recorder = lab.cluster.recorder
    recorder.fault("injected", {"fault": "x"}, "a text", "none")  # type: ignore[arg-type]
    recorder.mark("begin", "a mark", "a role", {"a": 1})
    recorder.mark("end")
    fault, begin, end = recorder.entries[-3:]
    count = len(recorder.entries)
    assert isinstance(fault, history.Fault)
    assert isinstance(begin, history.Mark)
    assert isinstance(end, history.Mark)
    assert (fault.n, fault.t, fault.action) == (count - 3, lab.loop.elapsed_us, "injected")
    assert (fault.fault, fault.text, fault.effect) == ({"fault": "x"}, "a text", "none")
    assert (begin.n, begin.t, begin.mark, begin.text) == (count - 2, fault.t, "begin", "a mark")
    assert (begin.role, begin.parameters, end.parameters) == ("a role", {"a": 1}, {})


def test_whoever_stands_between_sends_rehearses_or_answers() -> None:
    lab = Lab()
    api = lab.cluster.api
    seen: list[Any] = []

    def between(request: Request, send: Any, rehearse: Any) -> Any:
        seen.append(request)
        return rehearse(request) if len(seen) in (1, 3) else send(request)

    api.interposed["person"] = between
    metadata = {"name": "c", "namespace": "default"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    create, clear = (
        Create(CONFIG_MAP, body, "default", "c"),
        DeleteCollection(CONFIG_MAP, "default"),
    )
    count = len(lab.cluster.recorder.entries)
    assert lab.handle(create, "person")["metadata"]["name"] == "c"
    assert lab.get(CONFIG_MAP, "c") is None
    assert len(lab.cluster.recorder.entries) == count
    lab.handle(create, "person")
    assert lab.handle(clear, "person").items == ()
    assert lab.get(CONFIG_MAP, "c") is not None
    lab.handle(clear, "person")
    assert lab.get(CONFIG_MAP, "c") is None
    with pytest.raises(ApiError):
        lab.handle(Create(CONFIG_MAP, {**body, "metadata": {}}, "default", ""), "person")


@pytest.mark.parametrize(
    ("asked", "plural", "namespaced"),
    [
        (CONFIG_MAP, "configmaps", True),
        (Kind("", "v1", "ConfigMap", "configmapes"), "configmaps", True),
        (Kind("", "v1", "ConfigMap", "configmaps", namespaced=False), "configmaps", True),
        (Kind("a.b", "v1", "Unknown", "unknowns", namespaced=False), "unknowns", False),
        (Kind("", "v9", "ConfigMap", "configmaps"), "configmaps", True),
    ],
)
def test_a_kind_is_asked_for_as_it_is_served(asked: Kind, plural: str, *, namespaced: bool) -> None:
    found = Lab().cluster.api.served(asked)
    assert (found.group, found.version, found.kind) == (asked.group, asked.version, asked.kind)
    assert (found.plural, found.namespaced) == (plural, namespaced)
