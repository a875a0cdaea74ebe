"""Python programs for the tests, in lock-step with a harness that only moves time."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

from clusters.go_time.pacer import Pacer, TimePage
from clusters.python_time import environment
from vocabulary.clock import SECOND, SIMULATION_EPOCH_US

REPEAT_SECONDS = 0.002
LIMIT_SECONDS = 60


def output_of(program: str, folder: Path, *, seed: int = 1, server: str = "") -> str:
    """The output of a program until it ends. Whenever it is idle, time moves to its next timer."""
    page = TimePage(SIMULATION_EPOCH_US)
    page.allow(SIMULATION_EPOCH_US, 0, SECOND, 0)
    pacer = Pacer(page, seed)
    output = folder / "output"
    with output.open("wb") as written:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            env={**os.environ, **environment({}), **pacer.environment, "ASSAY_TIME_SERVER": server},
            stdout=written,
            stderr=subprocess.STDOUT,
            pass_fds=pacer.inherited,
        )
    pacer.began()
    try:
        began = time.monotonic()
        while _is_idle(pacer):
            if pacer.next_due_us is not None:
                page.set(max(pacer.next_due_us, page.now_us + 1))
            assert time.monotonic() - began < LIMIT_SECONDS, f"waits: {output.read_text()}"
        assert process.wait(LIMIT_SECONDS) == 0, output.read_text()
    finally:
        process.kill()
        process.wait()
        pacer.close()
        page.close()
    return output.read_text()


def _is_idle(pacer: Pacer) -> bool:
    """Have the program report; False if it has ended."""
    began = time.monotonic()
    lives = pacer.ping()
    while lives and not pacer.is_idle:
        assert time.monotonic() - began < LIMIT_SECONDS, "busy"
        if select.select([pacer], [], [], REPEAT_SECONDS)[0]:
            lives = pacer.receive()
        else:
            lives = pacer.ping(again=True)
    return lives
