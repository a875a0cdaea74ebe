"""A program of its own on the simulated cluster: time, faults and webhooks."""

from __future__ import annotations

import http.client
import urllib.request
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chaos.ground import Break, Delay, Freeze, NoAnswer, Refuse, RequestRule, Slow, WatchRule
from clusters.simulated.access.rules import Rules
from clusters.simulated.access.users import AUTHENTICATED, User
from conformance.worlds.lockstep import pacing, program_process
from conformance.worlds.lockstep.pacing import BusyError
from conformance.worlds.lockstep.program_process import GRACE_US
from tests.lockstep_world.lockstep_run import NAME, SETTINGS, LockstepRun, lockstep_run
from vocabulary.clock import DAY, HOUR, SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.history import Write

pytestmark = pytest.mark.slow

REACTION = 0.1
"""A watch event, a request and its response take less, in seconds."""


def test_it_answers_after_its_own_wait_and_a_reaction(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("a")
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 30 < after < 30 + REACTION


def test_a_request_that_fills_the_buffers_of_its_connection_takes_no_longer(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("long")
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 30 < after < 30 + REACTION


def test_two_runs_have_the_same_history(operator: Path) -> None:
    histories = []
    for _ in range(2):
        with lockstep_run(operator, webhooks=True) as run:
            for name in ("a", "b", "c"):
                run.ask(name)
            run.run_for(20 * SECOND)
            run.cluster.processes.kill(NAME, restart_after_us=5 * SECOND)
            run.run_for(20 * SECOND)
            run.cluster.processes.kill(NAME, graceful=True, restart_after_us=5 * SECOND)
            run.run_for(HOUR)
            histories.append(run.entries)
    assert histories[0] == histories[1]
    assert len(histories[0]) > 6


def test_a_repeated_run_has_the_same_url(operator: Path) -> None:
    """Messages of Events contain it."""
    urls = []
    for _ in range(2):
        with lockstep_run(operator) as run:
            urls.append(run.process.url)
    assert urls[0] == urls[1]


def test_a_wait_of_seven_days(operator: Path) -> None:
    with lockstep_run(operator, "168h") as run:
        run.ask("a")
        run.run_for(8 * DAY)
        (after,) = run.answered_after()
    assert 0 < after - 7 * DAY / SECOND < REACTION


def test_a_goroutine_in_a_system_call_keeps_time_from_nothing(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("block")
        run.ask("a")
        run.run_for(HOUR)
        first, second = run.answered_after()
    assert 30 < first <= second < 30 + REACTION


def test_a_process_that_works_takes_no_virtual_time(
    operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "LIMIT_SECONDS", 0.5)
    with lockstep_run(operator) as run:
        run.ask("work")
        with pytest.raises(BusyError, match=r"operator: busy for 0\.5 s .* control-plane"):
            run.run_for(HOUR)


@pytest.mark.parametrize(
    ("rule", "least", "most"),
    [
        (RequestRule(Refuse(503, "ServiceUnavailable", "no"), NAME, ("create",)), 31, 31.1),
        (RequestRule(NoAnswer(False, 10 * SECOND), NAME, ("create",)), 41, 41.1),
        (RequestRule(NoAnswer(True, 10 * SECOND), NAME, ("create",)), 30, 30.1),
        (RequestRule(Slow(10 * SECOND), NAME, ("create",)), 30, 30.1),
        (WatchRule(Delay(20 * SECOND), NAME), 50, 50.1),
        (WatchRule(Break(5 * SECOND), NAME), 35, 36.1),
    ],
    ids=["refused", "request-lost", "reply-lost", "slow", "watch-late", "watch-broken-off"],
)
def test_faults_strike_its_connection(
    operator: Path, rule: RequestRule | WatchRule, least: float, most: float
) -> None:
    with lockstep_run(operator) as run:
        run.rules.add(rule)
        run.ask("a")
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert least < after < most


def test_a_frozen_watch_lets_events_out_later(operator: Path) -> None:
    with lockstep_run(operator) as run:
        frozen = WatchRule(Freeze(), NAME)
        run.rules.add(frozen)
        run.ask("a")
        run.run_for(100 * SECOND)
        run.rules.remove(frozen)
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 130 < after < 130 + REACTION


def test_a_paused_program_sees_later_what_it_missed(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.cluster.processes.pause(NAME)
        run.ask("a")
        run.run_for(100 * SECOND)
        run.cluster.processes.resume(NAME)
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 130 < after < 130 + REACTION


def test_what_reaches_a_program_may_pause_it(operator: Path) -> None:
    """A fault that is aimed at the moment after a delivery pauses the program in that moment."""
    with lockstep_run(operator) as run:
        run.pause_after_a_delivery()
        run.ask("a")
        run.run_for(100 * SECOND)
        assert run.cluster.processes.state(NAME) == "paused"
        run.cluster.processes.resume(NAME)
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 100 < after < 130 + REACTION


def test_a_program_that_ends_in_the_moment_of_a_pause_is_not_paused(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.cluster.processes.pause(NAME)
        run.ask("end")
        run.run_for(SECOND)
        asked_us = run.cluster.loop.now_us
        run.cluster.processes.resume(NAME)
        run.cluster.processes.pause(NAME)
        run.run_for(SECOND)
        changes = [change for change, _ in run.life_since(asked_us)]
    assert changes[:3] == ["resumed", "ended", "started"]
    assert "paused" not in changes


def test_a_killed_program_begins_again(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("a")
        run.run_for(20 * SECOND)
        run.cluster.processes.kill(NAME, restart_after_us=5 * SECOND)
        run.run_for(HOUR)
        (after,) = run.answered_after()
    assert 55 < after < 55 + REACTION


def test_what_a_start_finds_is_brought_up_to_date(operator: Path) -> None:
    with lockstep_run(operator) as run:
        assert run.read(SETTINGS)["data"] == {"start": "1"}
        run.cluster.processes.kill(NAME, restart_after_us=SECOND)
        run.run_for(HOUR)
        assert run.read(SETTINGS)["data"] == {"start": "2"}
        assert SETTINGS not in {entry.name for entry in run.entries if isinstance(entry, Write)}


def test_a_stopped_program_ends_in_its_own_time(operator: Path) -> None:
    with lockstep_run(operator) as run:
        processes = run.cluster.processes
        asked_us = run.cluster.loop.now_us
        processes.kill(NAME, graceful=True, restart_after_us=5 * SECOND)
        assert processes.is_running(NAME)
        assert processes.awaits_restart
        run.run_for(HOUR)
        assert processes.is_running(NAME)
        assert not run.crashes
        assert run.read("goodbye")
        (stopped, ended_after), (started, begun_after) = run.life_since(asked_us)
    assert (stopped, started) == ("stopped", "started")
    assert 1 < ended_after < 1 + REACTION
    assert begun_after == pytest.approx(ended_after + 5)


def test_a_program_that_is_stopped_and_stays_is_killed_in_the_end(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("stay")
        run.run_for(SECOND)
        asked_us = run.cluster.loop.now_us
        run.cluster.processes.kill(NAME, graceful=True)
        run.run_for(HOUR)
        assert run.cluster.processes.state(NAME) == "down"
        assert run.life_since(asked_us) == [("stopped", GRACE_US / SECOND)]


def test_a_start_waits_for_the_end_of_a_stopped_program(operator: Path) -> None:
    with lockstep_run(operator) as run:
        asked_us = run.cluster.loop.now_us
        run.cluster.processes.kill(NAME, graceful=True)
        run.cluster.processes.start(NAME)
        run.run_for(HOUR)
        changes = [change for change, _ in run.life_since(asked_us)]
    assert changes == ["stopped", "started"]


def test_a_program_that_is_stopping_can_be_killed(operator: Path) -> None:
    with lockstep_run(operator) as run:
        asked_us = run.cluster.loop.now_us
        run.cluster.processes.kill(NAME, graceful=True, restart_after_us=SECOND)
        run.run_for(SECOND // 2)
        run.cluster.processes.kill(NAME)
        run.run_for(HOUR)
        changes = [change for change, _ in run.life_since(asked_us)]
    assert changes == ["killed"]


def test_a_program_that_ends_is_told_with_its_log(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("end")
        run.run_for(SECOND)
        assert not run.process.running
        told = run.crashes[0]
    assert told.startswith(f"{NAME}: it ended with 7")
    assert "as asked SERVER" in told


def test_what_a_program_says_at_its_end_is_the_same_in_each_run(operator: Path) -> None:
    """Its ports and folders are others in each run; its log is that of its last start alone."""
    told = []
    for _ in range(2):
        with lockstep_run(operator) as run:
            run.ask("end")
            run.run_for(60 * SECOND)
            told.append(run.crashes)
    assert told[0] == told[1]
    assert len(told[0]) > 1
    assert len(set(told[0])) == 1


def test_a_program_that_ends_starts_again_as_its_kubelet_would_start_it(operator: Path) -> None:
    with lockstep_run(operator) as run:
        run.ask("end")
        asked_us = run.cluster.loop.now_us
        run.run_for(75 * SECOND)
        assert run.cluster.processes.awaits_restart
        life = run.life_since(asked_us)
    assert [change for change, _ in life] == ["ended", "started"] * 4 + ["ended"]
    pauses = [begun - ended for (_, ended), (_, begun) in zip(life[::2], life[1::2], strict=False)]
    assert pauses == pytest.approx([0, 10, 20, 40])


def test_a_program_that_is_busy_after_a_signal_is_told(
    operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_busy(_pid: int) -> None:
        raise TimeoutError("busy for 60 s after a signal")

    monkeypatch.setattr(program_process, "await_delivery", is_busy)
    with lockstep_run(operator) as run, pytest.raises(BusyError, match="operator: busy for 60 s"):
        run.cluster.processes.kill(NAME, graceful=True)


def test_its_webhook_changes_and_refuses(operator: Path) -> None:
    with lockstep_run(operator, webhooks=True) as run:
        assert run.create("good")["metadata"]["labels"] == {"seen": "yes"}
        with pytest.raises(ApiError) as refused:
            run.create("bad")
        assert refused.value.code == 422
        said = 'admission webhook "label.example.com" denied the request: a bad name'
        assert refused.value.message == said


def test_a_webhook_may_wait_for_a_timer(operator: Path) -> None:
    with lockstep_run(operator, webhooks=True) as run:
        late: list[Micros] = []
        loop = run.cluster.loop
        asked_us = loop.now_us
        loop.call_later(SECOND // 2, lambda: late.append(loop.now_us - asked_us))
        run.create("slow")
        assert SECOND < loop.now_us - asked_us < 1.1 * SECOND
        assert late == []
        run.run_for(SECOND)
    assert SECOND < late[0] < 1.1 * SECOND


def test_a_webhook_may_wait_for_what_is_on_its_way(operator: Path) -> None:
    with lockstep_run(operator, webhooks=True) as run:
        run.ask("first")
        run.create("informed")
        run.run_for(HOUR)
        assert run.answered_after()


def test_a_webhook_that_does_not_answer_in_time_is_told(operator: Path) -> None:
    """As a refusal it would be the operator's fault, even if it waits for what others do."""
    told = r"operator: its webhook /label .* control-plane"
    with lockstep_run(operator, webhooks=True) as run, pytest.raises(BusyError, match=told):
        run.create("stuck")


@pytest.mark.parametrize("how", ["kill", "pause"])
def test_a_webhook_that_is_down_refuses_everything(operator: Path, how: str) -> None:
    with lockstep_run(operator, webhooks=True) as run:
        getattr(run.cluster.processes, how)(NAME)
        with pytest.raises(ApiError) as refused:
            run.create("good")
    assert refused.value.code == 500
    assert "failed calling webhook" in refused.value.message


def test_a_program_that_is_killed_at_one_of_two_requests_is_rid_of_the_other(
    operator: Path,
) -> None:
    """Both leave it while it reviews, and reach the server at once, one after the other."""
    with lockstep_run(operator, webhooks=True) as run:
        run.kill_before_a_secret(restart_after_us=5 * SECOND)
        with pytest.raises(ApiError) as refused:
            run.create("pair")
        assert refused.value.code == 500
        assert not run.process.running
        stored = {each.name for each in run.entries if isinstance(each, Write)}
        assert stored.isdisjoint({"first", "second"})
        run.run_for(60 * SECOND)
        run.ask("a")
        run.run_for(60 * SECOND)
        assert len(run.answered_after()) == 1
        assert run.process.is_idle()


def test_another_client_is_turned_away(operator: Path) -> None:
    with lockstep_run(operator) as run:

        def stranger() -> int:
            server = urlsplit(run.process.url)
            connection = http.client.HTTPConnection(server.netloc, timeout=5)
            connection.request("GET", "/api/v1/namespaces/default/secrets")
            return connection.getresponse().status

        assert run.beside(stranger) == 401


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_it_may_ask_whether_the_server_is_healthy(operator: Path, path: str) -> None:
    with lockstep_run(operator) as run:

        def answer() -> bytes:
            with urllib.request.urlopen(run.process.url + path, timeout=5) as answered:
                told: bytes = answered.read()
            return told

        assert run.beside(answer) == b"ok"


def _hold_to(run: LockstepRun, *verbs: str) -> None:
    """Start the program again, with rights to ConfigMaps only."""
    access = run.cluster.api.access
    access.register_users({NAME: User(NAME, (AUTHENTICATED,))})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": list(verbs)}
    access.rbac.grant(NAME, Rules([rule]))
    run.cluster.processes.kill(NAME, restart_after_us=SECOND)
    run.run_for(10 * SECOND)


def test_what_its_roles_do_not_give_is_refused(operator: Path) -> None:
    with lockstep_run(operator) as run:
        _hold_to(run, "get", "list", "watch")
        run.ask("a")
        run.run_for(60 * SECOND)
        assert run.answered_after() == []
        refused = [each for each in run.entries if isinstance(each, Write) and each.code == 403]
    assert {each.actor for each in refused} == {NAME}
    assert 'cannot create resource "configmaps"' in refused[0].message


@pytest.mark.parametrize(("verbs", "moments"), [(("watch",), 4), ((), 2)])
def test_a_watch_needs_its_own_right(operator: Path, verbs: tuple[str, ...], moments: int) -> None:
    """Without it, the program lists once a second, and hears of several questions at once."""
    with lockstep_run(operator) as run:
        _hold_to(run, "list", "create", *verbs)
        for name in "abcd":
            run.ask(name)
            run.run_for(SECOND // 4)
        run.run_for(60 * SECOND)
        answers = run.answered_after()
    assert len(answers) == 4
    assert 1 + sum(later - earlier > REACTION for earlier, later in pairwise(answers)) <= moments
    assert moments == 2 or answers[-1] - answers[0] > 0.5
