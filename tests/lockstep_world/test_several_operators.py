"""Several programs in one run: each may be killed, stopped, paused and started while the others go
on, and none of them notices anything of another's time."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from conformance.worlds.control_plane.network import why_none_can_be_made
from conformance.worlds.lockstep.own_files import why_no_files_of_its_own
from conformance.worlds.lockstep.program_process import ProgramProcess
from tests.lockstep_world.lockstep_run import NAME, LockstepRun, defined_by, lockstep_run
from tests.lockstep_world.test_lockstep_world import REACTION
from vocabulary.clock import HOUR, SECOND
from vocabulary.history import Process, Write

pytestmark = pytest.mark.slow

TOGETHER = [
    pytest.param((NAME, "other"), id="two-roles"),
    pytest.param((NAME, f"{NAME}/1"), id="two-replicas"),
]


@pytest.mark.parametrize("names", TOGETHER)
def test_each_takes_its_own_time(operator: Path, names: tuple[str, str]) -> None:
    with lockstep_run(operator, names=names) as run:
        run.ask("a")
        run.run_for(HOUR)
        told = [run.answered_after(name) for name in names]
    for (after,) in told:
        assert 30 < after < 30 + REACTION


def test_each_converts_its_own_resources(operator: Path) -> None:
    review = json.dumps({"request": {"uid": "1", "object": {"metadata": {"name": "a"}}}}).encode()
    with lockstep_run(operator, webhooks=True, names=(NAME, "other")) as run:
        convert = run.cluster.api.conversion
        run.cluster.processes.kill("other")
        assert b'"allowed":true' in convert(defined_by(NAME), review)
        with pytest.raises(ConnectionRefusedError, match="connect: connection refused"):
            convert(defined_by("other"), review)
        with pytest.raises(ConnectionRefusedError, match="no conversion webhook is reached"):
            convert(defined_by("nobody"), review)


def test_webhooks_that_are_served_after_it_is_ready_are_awaited(
    operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEBHOOKS_AFTER", "5s")
    with lockstep_run(operator, webhooks=True) as run:
        assert run.create("reviewed")["metadata"]["labels"] == {"seen": "yes"}
    monkeypatch.setenv("WEBHOOKS_AFTER", "1h")
    missing = "does not serve its webhooks on port .*; correct process.webhooks"
    with pytest.raises(AssertionError, match=missing), lockstep_run(operator, webhooks=True):
        pytest.fail("it is not ready")


def test_each_start_has_an_empty_directory_for_temporary_files(operator: Path) -> None:
    if why := why_no_files_of_its_own():
        pytest.skip(f"this user may have no files of his own: {why}")
    names = (NAME, f"{NAME}/1")
    with lockstep_run(operator, "1s", names=names) as run:
        run.ask("file")
        run.run_for(10 * SECOND)
        run.cluster.processes.kill(NAME, restart_after_us=SECOND)
        run.run_for(10 * SECOND)
        answers = [
            (each.actor, each.code)
            for each in run.entries
            if isinstance(each, Write) and each.name.startswith("answer-")
        ]
    assert sorted(answers) == [(NAME, 201), (NAME, 409), (f"{NAME}/1", 201)]
    assert not Path("/tmp/operator").exists()


def test_each_has_its_own_ports(operator: Path) -> None:
    if why := why_none_can_be_made():
        pytest.skip(f"this user may have no network of his own: {why}")
    names = (NAME, f"{NAME}/1")
    with lockstep_run(operator, "1s", names=names) as run:
        run.ask("port")
        run.run_for(10 * SECOND)
        answered = [run.answered_after(name) for name in names]
    assert all(answered)


def test_each_knows_its_namespace_from_its_service_account(operator: Path) -> None:
    if why := why_no_files_of_its_own():
        pytest.skip(f"this user may have no files of his own: {why}")
    with lockstep_run(operator, "1s") as run:
        run.ask("namespace")
        run.run_for(10 * SECOND)
        answers = [
            each.name for each in run.entries if isinstance(each, Write) and each.code == 201
        ]
    assert "answer-default" in answers


def test_each_finds_its_own_certificate_in_a_constant_folder(operator: Path) -> None:
    if why := why_no_files_of_its_own():
        pytest.skip(f"this user may have no files of his own: {why}")
    folder = Path("/tmp/assay-test-webhook-server/certificates")
    names = (NAME, f"{NAME}/1")
    with lockstep_run(operator, webhooks=True, certificates=folder, names=names) as run:
        for n, away in enumerate(names):
            run.cluster.processes.kill(away)
            assert run.create(f"reviewed-{n}")["metadata"]["labels"] == {"seen": "yes"}
            run.cluster.processes.start(away)
            run.run_for(SECOND)
        assert not folder.parent.exists()


def struck(run: LockstepRun, name: str, how: str) -> None:
    processes = run.cluster.processes
    if how == "pause":
        processes.pause(name)
    else:
        processes.kill(name, graceful=how == "stop")


def put_right(run: LockstepRun, name: str) -> None:
    processes = run.cluster.processes
    if processes.state(name) == "paused":
        processes.resume(name)
    else:
        processes.start(name)


@pytest.mark.parametrize("names", TOGETHER)
@pytest.mark.parametrize("which", [0, 1], ids=["first", "second"])
@pytest.mark.parametrize(
    ("how", "least"), [("kill", 130), ("stop", 130), ("pause", 100)], ids=["kill", "stop", "pause"]
)
def test_while_one_is_away_the_other_goes_on(
    operator: Path, names: tuple[str, str], which: int, how: str, least: float
) -> None:
    """A program that was started anew waits again; one that was paused has nothing to wait for."""
    away, here = names[which], names[1 - which]
    with lockstep_run(operator, names=names) as run:
        run.ask("a")
        run.run_for(10 * SECOND)
        struck(run, away, how)
        run.run_for(90 * SECOND)
        assert not run.answered_after(away)
        assert run.cluster.processes.state(away) == ("paused" if how == "pause" else "down")
        put_right(run, away)
        run.run_for(HOUR)
        (here_after,), (away_after,) = run.answered_after(here), run.answered_after(away)
        changes = [
            (entry.process, entry.change)
            for entry in run.entries
            if isinstance(entry, Process) and entry.process == away
        ]
    assert 30 < here_after < 30 + REACTION
    assert least < away_after < least + REACTION
    first, *rest = [change for _, change in changes]
    assert first == "started"
    assert (
        rest
        == {
            "kill": ["killed", "started"],
            "stop": ["stopped", "started"],
            "pause": ["paused", "resumed"],
        }[how]
    )


@pytest.mark.parametrize("names", TOGETHER)
def test_two_runs_in_which_each_is_struck_in_turn_have_the_same_history(
    operator: Path, names: tuple[str, str]
) -> None:
    histories = []
    for _ in range(2):
        with lockstep_run(operator, "7s", names=names) as run:
            for n, (name, how) in enumerate(
                (name, how) for how in ("kill", "stop", "pause") for name in names
            ):
                run.ask(f"{n}-before")
                run.run_for(5 * SECOND)
                struck(run, name, how)
                run.ask(f"{n}-meanwhile")
                run.run_for(20 * SECOND)
                put_right(run, name)
            run.run_for(HOUR)
            assert not run.crashes
            answers = [len(run.answered_after(name)) for name in names]
            histories.append(run.entries)
    assert histories[0] == histories[1]
    assert all(number >= 12 for number in answers)


@pytest.mark.parametrize("how", ["kill", "stop", "pause"])
def test_when_all_are_away_time_goes_on(operator: Path, how: str) -> None:
    names = (NAME, f"{NAME}/1", "other")
    with lockstep_run(operator, names=names) as run:
        run.ask("a")
        run.run_for(10 * SECOND)
        for name in names:
            struck(run, name, how)
        run.run_for(HOUR)
        for name in names:
            put_right(run, name)
        run.run_for(HOUR)
        told = [run.answered_after(name) for name in names]
    least = 3610 if how == "pause" else 3640
    for (after,) in told:
        assert least < after < least + REACTION


def test_a_program_that_listens_before_it_is_asked_is_ready_at_the_same_time(
    operator: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = ProgramProcess.start

    def slowly(process: ProgramProcess) -> None:
        start(process)
        time.sleep(0.5)

    ready = []
    for _ in range(2):
        with lockstep_run(operator, names=(NAME, f"{NAME}/1")) as run:
            ready.append(run.cluster.loop.now_us)
        monkeypatch.setattr(ProgramProcess, "start", slowly)
    assert ready[0] == ready[1]
