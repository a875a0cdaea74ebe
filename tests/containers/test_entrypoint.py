"""The script that test containers run, under this machine's shell: it obeys files as they change.

No test here waits for a duration to pass: events are distinguished by order alone.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clusters.containers.pods import script

LIMIT_SECONDS = 60
SIGTERM_CODE = 143

Run = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Starts a container's process with these annotations; none is left at the end."""
    for folder in ("wishes", "kept"):
        (tmp_path / folder).mkdir()
    begun: list[subprocess.Popen[bytes]] = []

    def start(role: str = "main", **wishes: str) -> subprocess.Popen[bytes]:
        for key, value in wishes.items():
            wish(tmp_path, key, value)
        command = ["sh", "-c", script(), "assay", role, "c", str(tmp_path)]
        begun.append(subprocess.Popen(command))
        return begun[-1]

    yield start
    for process in begun:
        process.kill()
        process.wait(LIMIT_SECONDS)


def wish(folder: Path, key: str, value: str) -> None:
    """Write a file as the kubelet does: the value without a line feed, replaced atomically."""
    path = folder / "wishes" / key.replace("_", "-")
    fresh = path.with_suffix(".new")
    fresh.write_text(value, encoding="utf-8")
    fresh.replace(path)


def await_start(process: subprocess.Popen[bytes], folder: Path, number: int = 1) -> None:
    """A process that is ready for signals has counted its start."""
    counted = folder / "kept" / "c"
    while not counted.exists() or counted.read_text(encoding="utf-8") != f"{number}\n":
        assert process.poll() is None


def test_it_exits_with_the_annotated_code(run: Run) -> None:
    assert run(exit="3").wait(LIMIT_SECONDS) == 3


def test_it_runs_on_until_an_exit_is_patched_in(run: Run, tmp_path: Path) -> None:
    process = run(exit="", run_for="")
    await_start(process, tmp_path)
    assert process.poll() is None
    wish(tmp_path, "exit", "7")
    assert process.wait(LIMIT_SECONDS) == 7


@pytest.mark.parametrize("span", ["10ms", "0.1s", "0m0.05s", "900us", "0s"])
def test_it_exits_after_a_go_duration(run: Run, span: str) -> None:
    assert run(exit="0", run_for=span).wait(LIMIT_SECONDS) == 0


@pytest.mark.parametrize("span", ["1h", "1.5h", "90m", "1h2m3.5s", "7200000ms", "08h"])
def test_a_long_span_is_not_over_when_a_short_one_is(run: Run, tmp_path: Path, span: str) -> None:
    process = run(exit="4", run_for=span)
    await_start(process, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_SECONDS) == SIGTERM_CODE


def test_so_many_exits_and_then_it_runs_on(run: Run, tmp_path: Path) -> None:
    assert run(exit="1", exit_times="2").wait(LIMIT_SECONDS) == 1
    assert run().wait(LIMIT_SECONDS) == 1
    third = run()
    await_start(third, tmp_path, 3)
    third.send_signal(signal.SIGTERM)
    assert third.wait(LIMIT_SECONDS) == SIGTERM_CODE


def test_it_stops_with_the_annotated_code(run: Run, tmp_path: Path) -> None:
    process = run(term_exit="0", term_for="100ms")
    await_start(process, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_SECONDS) == 0


def test_stuck_it_outlives_sigterm_and_only_that(run: Run, tmp_path: Path) -> None:
    process = run(stuck_terminating="true", exit="5", run_for="1h")
    await_start(process, tmp_path)
    process.send_signal(signal.SIGTERM)
    wish(tmp_path, "exit", "6")
    wish(tmp_path, "run-for", "0s")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.5)
    wish(tmp_path, "stuck-terminating", "")
    assert process.wait(LIMIT_SECONDS) == SIGTERM_CODE


def test_a_gate_opens_when_nothing_holds_it(run: Run, tmp_path: Path) -> None:
    process = run("gate", hold="init")
    await_start(process, tmp_path)
    assert process.poll() is None
    wish(tmp_path, "hold", "")
    assert process.wait(LIMIT_SECONDS) == 0


def test_a_gate_that_is_told_to_stop_lets_nothing_through(run: Run, tmp_path: Path) -> None:
    process = run("gate", ready_after="1h")
    await_start(process, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_SECONDS) == SIGTERM_CODE


def test_other_init_containers_end_at_once(run: Run) -> None:
    assert run("init", exit="9", hold="init").wait(LIMIT_SECONDS) == 0


def test_a_sidecar_runs_until_it_is_told_to_stop(run: Run, tmp_path: Path) -> None:
    process = run("sidecar", exit="9")
    await_start(process, tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_SECONDS) == SIGTERM_CODE
