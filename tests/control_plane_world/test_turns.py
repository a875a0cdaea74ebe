"""Runs take turns at a port, a folder or a name that every operator would use."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.worlds.control_plane import session
from conformance.worlds.control_plane.session import OutOfTimeError, Session
from conformance.worlds.turns import lock_of, port_turn, turn_at, turns_at

PORT = 9443
TURN = port_turn(PORT)
WAIT_SECONDS = 60.0
HOLDER = """
import sys
from conformance.worlds.turns import turn_at
def refuse():
    raise SystemExit("somebody else has it")
with turn_at(sys.argv[1], refuse):
    print("mine", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine of the test's own, as far as files show."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


class Looks:
    """A waiting thread's probe; set after a few looks."""

    def __init__(self) -> None:
        self.waits = threading.Event()
        self._left = 3

    def __call__(self) -> None:
        self._left -= 1
        if self._left == 0:
            self.waits.set()


def taking(looks: Callable[[], None], turn: str = TURN) -> tuple[threading.Thread, threading.Event]:
    """Start a thread that takes a turn at the port; the event is set once it has it."""
    got = threading.Event()

    def take() -> None:
        with turn_at(turn, looks):
            got.set()

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    return thread, got


def test_a_run_waits_for_the_run_of_another_command_and_is_next_when_that_was_killed(
    tmp_path: Path,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, TURN],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "mine\n"
        looks = Looks()
        thread, got = taking(looks)
        assert looks.waits.wait(WAIT_SECONDS)
        assert not got.is_set()
        holder.kill()
        thread.join(WAIT_SECONDS)
    assert got.is_set()


def test_two_runs_of_one_command_take_turns_and_those_at_another_port_do_not_wait() -> None:
    looks = Looks()
    with turn_at(TURN, looks):
        thread, got = taking(looks)
        assert looks.waits.wait(WAIT_SECONDS)
        assert not got.is_set()
        other, got_other = taking(looks, port_turn(PORT + 1))
        other.join(WAIT_SECONDS)
        assert got_other.is_set()
    thread.join(WAIT_SECONDS)
    assert got.is_set()


def test_any_user_of_the_machine_may_lock_the_file_that_the_first_one_has_made() -> None:
    before = os.umask(0o077)
    try:
        with turn_at(TURN, Looks()):
            assert lock_of(TURN).stat().st_mode & 0o777 == 0o444
    finally:
        os.umask(before)


def session_with(fixed_port: int | None, seconds_left: float) -> Any:
    """The parts of a session that its turns need."""
    made = SimpleNamespace(
        implementations={
            "mine": SimpleNamespace(fixed_port=fixed_port, constant_names={}, constant_folder=None)
        },
        seconds_left=lambda: seconds_left,
    )
    made._require_time = lambda: Session._require_time(cast(Session, made))
    return made


def turn_of(made: Any) -> Any:
    return cast(Any, Session.turn)(made, ("mine",))


@pytest.mark.parametrize(("fixed_port", "why"), [(None, "not permitted"), (PORT, "")])
def test_runs_go_on_side_by_side_where_operators_can(
    monkeypatch: pytest.MonkeyPatch, fixed_port: int | None, why: str
) -> None:
    monkeypatch.setattr(session, "why_none_can_be_made", lambda: why)
    made = session_with(fixed_port, seconds_left=0)
    with turn_of(made), turn_of(made):
        assert not lock_of(TURN).exists()


def test_a_run_whose_turn_does_not_come_in_time_does_not_begin(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session, "why_none_can_be_made", lambda: "not permitted")
    made = session_with(PORT, seconds_left=0)
    with turn_of(made), pytest.raises(OutOfTimeError, match="time is up"), turn_of(made):
        pytest.fail("two had the turn at a time")


def test_a_folder_is_empty_when_a_turn_at_it_begins_and_gone_when_it_ends(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    with turns_at((), [folder]):
        (folder / "tls.crt").touch()
        looks = Looks()
        thread, got = taking(looks, str(folder))
        assert looks.waits.wait(WAIT_SECONDS)
        assert not got.is_set()
    thread.join(WAIT_SECONDS)
    assert not folder.exists()


def test_what_a_killed_run_has_left_in_a_folder_is_cleared_away(tmp_path: Path) -> None:
    folder = tmp_path / "certs"
    with turns_at((), [folder]):
        left = shutil.copytree(folder, tmp_path / "left")
    (left / "tls.crt").touch()
    left.rename(folder)
    with turns_at((), [folder]):
        assert not (folder / "tls.crt").exists()
