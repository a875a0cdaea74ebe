"""Ctrl-C while a pool starts its workers, for every one of which Python waits at its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from conformance.worlds.interrupts import interrupts_held_back

pytestmark = pytest.mark.usefixtures("interruptible")

PATIENCE_SECONDS = 60

INTERRUPTED_AT_THE_START = """
import os, signal, sys
from multiprocessing.process import BaseProcess
from conformance.running.side_by_side import side_by_side

start = BaseProcess.start

def interrupted(process):
    start(process)
    getattr(os, sys.argv[1])(os.getpid(), signal.SIGINT)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    BaseProcess.start = interrupted
    try:
        with side_by_side(2, many=True) as each:
            list(each(abs, range(9), 1))
    except KeyboardInterrupt:
        sys.exit(130)
"""
"""A worker has been started, and the pool does not know of it yet."""


@pytest.mark.parametrize("how", ["kill", "killpg"])
def test_a_command_interrupted_while_its_workers_start_ends(how: str, tmp_path: Path) -> None:
    """Alone, or with all that it started, as by a terminal; and no worker complains."""
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED_AT_THE_START)
    with subprocess.Popen(
        [sys.executable, script, how],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as command:
        try:
            _, told = command.communicate(timeout=PATIENCE_SECONDS)
        finally:
            if command.poll() is None:
                os.killpg(command.pid, signal.SIGKILL)
    assert (command.returncode, told) == (130, "")


def test_an_interrupt_takes_effect_at_the_end_of_the_block() -> None:
    reached = []
    handler = signal.getsignal(signal.SIGINT)
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with pytest.raises(KeyboardInterrupt), interrupts_held_back():
        os.kill(os.getpid(), signal.SIGINT)
        reached.append("after the interrupt")
    assert reached
    assert signal.getsignal(signal.SIGINT) is handler
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == blocked


def test_an_interrupt_that_another_thread_takes_is_held_back_too() -> None:
    """A bar of progress has a thread of its own, and the system may choose any."""
    reached = []
    go = threading.Event()

    def in_thread() -> None:
        go.wait()
        signal.raise_signal(signal.SIGINT)

    other = threading.Thread(target=in_thread)
    other.start()
    with pytest.raises(KeyboardInterrupt), interrupts_held_back():
        go.set()
        other.join()
        reached.append("after the interrupt")
    assert reached


def test_nothing_is_held_back_outside_the_main_thread() -> None:
    handlers = []

    def in_thread() -> None:
        with interrupts_held_back():
            handlers.append(signal.getsignal(signal.SIGINT))

    other = threading.Thread(target=in_thread)
    other.start()
    other.join()
    assert handlers == [signal.getsignal(signal.SIGINT)]
