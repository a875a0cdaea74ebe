"""Threads and children are work of a program until they sleep or end."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from clusters.go_time import work
from clusters.go_time.work import MONITOR, has_children, is_at_rest, sleeps


def test_a_child_that_has_ended_and_is_not_waited_for_is_no_work() -> None:
    script = "import os, sys; os.spawnlp(os.P_NOWAIT, 'cat', 'cat'); sys.stdout.write('up\\n'); "
    script += "sys.stdout.flush(); os.read(int(sys.argv[1]), 1)"
    ours, theirs = os.pipe()
    with subprocess.Popen(
        ["python3", "-c", script, str(ours)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        pass_fds=[ours],
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdout.readline()
        assert has_children(parent.pid)
        parent.stdin.close()  # ends the child, which is not waited for
        while has_children(parent.pid):
            pass
        os.close(theirs)
    os.close(ours)


def test_threads_that_wake_each_other_never_sleep_all() -> None:
    """One after the other, each may be seen asleep."""
    script = """
import os, sys, threading
pipes = [os.pipe() for _ in range(3)]
def pass_on(n):
    while os.read(pipes[n - 1][0], 1):
        os.write(pipes[n][1], b"x")
for n in range(3):
    threading.Thread(target=pass_on, args=(n,), daemon=True).start()
sys.stdin.read(1)
os.write(pipes[0][1], b"x")
print("up", flush=True)
sys.stdin.read()
"""
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as threads:
        assert threads.stdin is not None
        assert threads.stdout is not None
        while not sleeps(threads.pid):
            pass
        threads.stdin.write(b"x")
        threads.stdin.flush()
        threads.stdout.readline()
        assert not any(sleeps(threads.pid) or is_at_rest(threads.pid) for _ in range(300))


def test_the_monitor_of_go_may_wake_between_two_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a busy machine, or where there are no lists of children."""
    script = f"""
import threading, time
def monitor():
    with open("/proc/thread-self/comm", "w") as name:
        name.write({MONITOR!r})
    print("up", flush=True)
    while True:
        time.sleep(0.001)
threading.Thread(target=monitor, daemon=True).start()
threading.Event().wait()
"""
    monkeypatch.setattr(work, "has_children", lambda pid: time.sleep(0.012) or has_children(pid))
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        is_found = any(is_at_rest(program.pid) or time.sleep(0.005) for _ in range(1000))
        program.kill()
    assert is_found


def test_a_monitor_that_works_is_work() -> None:
    script = f"""
with open("/proc/self/comm", "w") as name:
    name.write({MONITOR!r})
print("up", flush=True)
while True:
    pass
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        program.stdout.readline()
        looks = [sleeps(program.pid) for _ in range(100)]
        program.kill()
    assert not any(looks)
