"""A Go program's time is what the harness says, in whatever way it waits."""

from __future__ import annotations

import os
import re
import select
import subprocess
import time
from pathlib import Path

import pytest

from clusters.go_time.lockstep_patches import LATENESS_US, PATCHES
from clusters.go_time.overlay import Patch
from clusters.go_time.pacer import Pacer, TimePage
from clusters.go_time.work import is_at_rest
from tests.go_programs import built
from vocabulary.clock import SECOND, SIMULATION_EPOCH_US

pytestmark = pytest.mark.slow

REPEAT_SECONDS = 0.002
BLOCKED_SECONDS = 0.02
WAYS = 24
"""The number of ways in which `waits` waits, the n-th for n seconds."""
SPANS = re.compile(r"^.* (\d+)s took (.*)s$", re.M)


DAY = 24 * 3600 * SECOND
FAST = 100


def moves_until_it_ends(
    program: Path,
    output: Path,
    *,
    alone_us: int = 0,
    least_us: int = 0,
    ticks_us: int = 0,
    seed: int = 0,
) -> list[int]:
    """The points in time, in µs since the beginning, to which time was moved by the harness.

    By itself the program moves it for `alone_us` from the beginning, after `FAST` moves in a row by
    at least `least_us`, and for tickers by `ticks_us`.
    """
    page = TimePage(SIMULATION_EPOCH_US)
    page.allow(SIMULATION_EPOCH_US + alone_us, FAST, least_us, ticks_us)
    pacer = Pacer(page, seed)
    moves = []
    with output.open("wb") as written:
        process = subprocess.Popen(
            [program], env=os.environ | pacer.environment, stdout=written, pass_fds=pacer.inherited
        )
    pacer.began()
    try:
        while asked_until_idle(pacer, process.pid):
            assert pacer.next_due_us is not None
            assert pacer.next_due_us > page.now_us
            page.set(pacer.next_due_us)
            moves.append(pacer.next_due_us - SIMULATION_EPOCH_US)
        assert process.wait() == 0
    finally:
        process.kill()
        process.wait()
        pacer.close()
        page.close()
    return moves


def asked_until_idle(pacer: Pacer, pid: int) -> bool:
    """False if the program has ended."""
    began = time.monotonic()
    runs = pacer.ping()
    while runs and not pacer.is_idle:
        if select.select([pacer], [], [], REPEAT_SECONDS)[0]:
            runs = pacer.receive()
            continue
        runs = pacer.ping(again=True)
        if runs and time.monotonic() - began > BLOCKED_SECONDS and is_at_rest(pid):
            runs = pacer.count_out_system_calls()
    return runs


def test_each_wait_takes_its_span_and_is_as_late_as_a_real_one(waits: Path, tmp_path: Path) -> None:
    moves_until_it_ends(waits, tmp_path / "output")
    told = SPANS.findall((tmp_path / "output").read_text())
    assert [int(expected) for expected, _ in told] == list(range(1, WAYS + 1))
    late = [round(float(span) * SECOND) - int(expected) * SECOND for expected, span in told]
    assert all(min(LATENESS_US) <= each <= max(LATENESS_US) for each in late)
    assert len(set(late)) > WAYS // 2


def test_the_same_course_each_time(waits: Path, tmp_path: Path) -> None:
    courses = [moves_until_it_ends(waits, tmp_path / f"output{n}") for n in range(3)]
    assert courses[0][-1] >= sum(range(1, WAYS + 1)) * SECOND
    assert courses[0] == courses[1] == courses[2]


def test_alone_it_takes_the_same_spans_and_asks_only_when_something_is_seen(
    waits: Path, tmp_path: Path
) -> None:
    led = moves_until_it_ends(waits, tmp_path / "led")
    alone = moves_until_it_ends(waits, tmp_path / "alone", alone_us=DAY)
    assert (tmp_path / "alone").read_text() == (tmp_path / "led").read_text()
    assert len(alone) < len(led)
    assert set(alone) < set(led)


@pytest.mark.parametrize(
    ("least_us", "ticks_us", "printed"),
    [
        (0, 0, "24h0m0s 864000 12h0m30.5s"),
        (SECOND, 0, f"24h0m1s {FAST + 86_391} 12h0m30.5s"),
        (SECOND, 60 * SECOND, f"24h0m31s {FAST + 1_441} 12h0m30.5s"),
    ],
)
def test_a_day_without_anything_to_see_is_not_reported(
    ticks: Path, tmp_path: Path, least_us: int, ticks_us: int, printed: str
) -> None:
    output = tmp_path / "output"
    moves = moves_until_it_ends(
        ticks, output, alone_us=2 * DAY, least_us=least_us, ticks_us=ticks_us
    )
    assert output.read_text() == f"{printed}\n"
    assert len(moves) < 10


def test_a_timer_that_is_set_anew_for_the_same_span_is_a_ticker(
    ticks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`wait.Until` of client-go has one."""
    monkeypatch.setenv("WAY", "reset")
    output = tmp_path / "output"
    moves_until_it_ends(ticks, output, alone_us=2 * DAY, least_us=SECOND, ticks_us=60 * SECOND)
    _, looks, alarm = output.read_text().split()
    assert int(looks) < FAST + 1_450
    assert alarm == "12h0m30.5s"


def test_it_stops_at_the_limit(ticks: Path, tmp_path: Path) -> None:
    moves = moves_until_it_ends(ticks, tmp_path / "output", alone_us=DAY - SECOND)
    assert (tmp_path / "output").read_text() == "24h0m0s 864000 12h0m30.5s\n"
    late_us = moves[-1] - DAY
    assert min(LATENESS_US) <= late_us <= max(LATENESS_US)
    assert moves[-10:] == [DAY - SECOND + n * SECOND // 10 + late_us for n in range(1, 11)]


def test_a_system_call_that_works_is_not_overtaken(calls: Path, tmp_path: Path) -> None:
    """A thread that waits for a processor in it, as on a busy machine, looks the same."""
    moves_until_it_ends(calls, tmp_path / "output")
    assert (tmp_path / "output").read_text() == "caller other\n" * 5


def test_a_thread_that_is_held_up_at_its_return_is_not_overlooked(tmp_path: Path) -> None:
    """A busy machine holds threads up anywhere: here two sleep where one of them may take the other
    for idle, with no timer, or may take its processor."""
    window = "\tdropg()\n", "\tlock(&sched.lock)\n\tvar pp *p\n"
    looks = "func timeIdle() bool {\n"
    nap = "\tusleep(3000)\n"
    held_up = {
        "runtime/proc.go": Patch("".join(window), nap.join(window)),
        "runtime/time_nofake.go": Patch(looks, looks + nap),
    }
    patches = PATCHES | {file: (*PATCHES[file], patch) for file, patch in held_up.items()}
    returns = built(Path(__file__).parent / "returns", tmp_path, patches)
    moves = moves_until_it_ends(returns, tmp_path / "output")
    assert [move // SECOND for move in moves] == list(range(1, 21))
    assert (tmp_path / "output").read_text() == "writer reader\n" * 10


def test_addresses_do_not_depend_on_threads(
    addresses: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When threads are started is chance; the order of a map of pointers depends on addresses."""
    told = []
    for threads in ("00", "07", "40"):
        monkeypatch.setenv("THREADS", threads)
        moves_until_it_ends(addresses, tmp_path / threads)
        told.append((tmp_path / threads).read_text().split())
    assert told[0] == told[1] == told[2]


def test_its_random_numbers_are_those_of_its_seed(names: Path, tmp_path: Path) -> None:
    told = []
    for n, seed in enumerate((1, 1, 2)):
        output = tmp_path / f"output{n}"
        moves_until_it_ends(names, output, seed=seed)
        told.append(output.read_text())
    assert told[0] == told[1]
    of_one, of_another = (set(each.split()) for each in (told[0], told[2]))
    assert len(of_one) == len(told[0].split()), "none occurs twice"
    assert len(of_one & of_another) < 3, "single bytes may be alike"


def test_without_the_harness_random_numbers_are_random(names: Path) -> None:
    lines = []
    for _ in range(2):
        with subprocess.Popen([names], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines.append(process.stdout.readline())
            process.kill()
    assert lines[0] != lines[1]


def test_without_the_harness_time_is_real(waits: Path) -> None:
    began = time.monotonic()
    with subprocess.Popen([waits], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        process.kill()
    assert line.startswith("sleep 1s took 1")
    assert time.monotonic() - began >= 1
