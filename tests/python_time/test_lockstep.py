"""A Python program's time is what the harness says, in whatever way it waits."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from clusters.python_time import SITE, environment, interpreter_of
from tests.python_time.lockstep import output_of
from vocabulary.clock import SIMULATION_EPOCH_US

TIMED = """
import time
began = time.monotonic()
def took(what): print(what, round(time.monotonic() - began, 3))
"""
CLOCKS = """
import datetime, time
now = datetime.datetime.now(datetime.timezone.utc)
assert type(now) is datetime.datetime and isinstance(now, datetime.date)
print(int(time.time()), int(now.timestamp()), time.time_ns() // 10**9)
print(now.date() == datetime.datetime.utcnow().date(), time.gmtime().tm_year)
first, second = time.time_ns(), time.time_ns()
print(second - first, time.strftime("%Y", time.gmtime()))
class Formatter:
    converter = time.gmtime
print(Formatter().converter(0).tm_year)
"""
ASYNCIO = (
    TIMED
    + """
import asyncio, threading
def work(seconds):
    time.sleep(seconds)
    took(f"slept {seconds}")
async def main():
    loop = asyncio.get_running_loop()
    await asyncio.gather(*(loop.run_in_executor(None, work, n) for n in (30, 10, 20)))
    await asyncio.sleep(86400)
    took("a day")
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 7)
    except asyncio.TimeoutError:
        took("timeout")
    print(await asyncio.to_thread(threading.Event().wait, 5))
asyncio.run(main())
took("end")
"""
)
THREADS = (
    TIMED
    + """
import queue, socket, threading
ours, theirs = socket.socketpair()
ours.settimeout(3)
try:
    ours.recv(1)
except TimeoutError:
    took("socket")
jobs, done = queue.Queue(), queue.SimpleQueue()
def worker():
    while (job := jobs.get()) is not None:
        time.sleep(job)
        done.put(job)
threads = [threading.Thread(target=worker) for _ in range(3)]
for each in threads: each.start()
for each in (3, 1, 2): jobs.put(each)
print([done.get() for _ in range(3)])
took("workers")
try:
    done.get(timeout=4)
except queue.Empty:
    took("queue")
lock = threading.Lock()
with lock:
    print(lock.acquire(timeout=2), lock.locked())
took("lock")
for _ in threads: jobs.put(None)
for each in threads: each.join()
took("joined")
"""
)
ORDER = """
import threading, sys, os, random, uuid, tempfile
seen = []
def count(name):
    for n in range(2000):
        seen.append(name)
threads = [threading.Thread(target=count, args=(n,)) for n in range(4)]
for each in threads: each.start()
for each in threads: each.join()
print([seen.index(n) for n in range(4)], list({"a", "b", "c", "d"}))
print(random.random(), random.Random().random(), uuid.uuid4(), uuid.uuid1(), os.urandom(4))
print(os.path.basename(tempfile.mktemp()))
"""
UNSEEN = (
    TIMED
    + """
import _thread, threading
# A lock of which nothing is known here, held by a thread that waits: whoever wants it has the turn.
unseen = _thread.allocate_lock()
def hold():
    with unseen:
        time.sleep(9)
holder = threading.Thread(target=hold)
holder.start()
time.sleep(1)
with unseen:
    took("unseen")
holder.join()
"""
)
CALLS = """
import socket
try:
    socket.create_connection(("192.0.2.1", 80))
except ConnectionRefusedError:
    print("refused")
own = socket.gethostname()
print(socket.gethostbyname(own), socket.getfqdn(own) == own)
"""
CHILD = (
    TIMED
    + """
import subprocess, sys
child = [sys.executable, "-c", "import time; time.sleep(0.2); print(time.time() > 1.7e9)"]
print(subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip())
took("child")
"""
)


def test_clocks_show_the_time_of_the_harness(tmp_path: Path) -> None:
    seconds = SIMULATION_EPOCH_US // 10**6
    assert output_of(CLOCKS, tmp_path).splitlines() == [
        f"{seconds} {seconds} {seconds}",
        "True 2026",
        "1 2026",
        "1970",
    ]


def test_an_event_loop_waits_in_virtual_time_and_its_threads_are_work(tmp_path: Path) -> None:
    assert output_of(ASYNCIO, tmp_path).splitlines() == [
        "slept 10 10.0",
        "slept 20 20.0",
        "slept 30 30.0",
        "a day 86430.0",
        "timeout 86437.0",
        "False",
        "end 86442.0",
    ]


def test_threads_wait_in_virtual_time_for_each_other_and_for_input(tmp_path: Path) -> None:
    assert output_of(THREADS, tmp_path).splitlines() == [
        "socket 3.0",
        "[1, 2, 3]",
        "workers 6.0",
        "queue 10.0",
        "False True",
        "lock 12.0",
        "joined 12.0",
    ]


def test_a_seed_decides_every_random_choice_and_the_order_of_threads(tmp_path: Path) -> None:
    first = output_of(ORDER, tmp_path)
    assert first == output_of(ORDER, tmp_path)
    other = output_of(ORDER, tmp_path, seed=2)
    assert other.splitlines()[0] == first.splitlines()[0]
    assert other.splitlines()[1] != first.splitlines()[1]


def test_threads_take_turns_only_where_they_wait(tmp_path: Path) -> None:
    assert output_of(ORDER, tmp_path).startswith("[0, 2000, 4000, 6000]")


def test_a_thread_that_waits_unseen_loses_its_turn(tmp_path: Path) -> None:
    assert output_of(UNSEEN, tmp_path) == "unseen 9.0\n"


def test_time_stands_still_while_a_process_of_the_program_runs_in_real_time(tmp_path: Path) -> None:
    assert output_of(CHILD, tmp_path) == "True\nchild 0.0\n"


def test_other_machines_are_reached_through_the_harness_alone(tmp_path: Path) -> None:
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def refuse() -> None:
            connection, _ = server.accept()
            with connection:
                asked.append(connection.recv(1024).splitlines()[0])
                connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\n\r\n")

        harness = threading.Thread(target=refuse)
        harness.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert output_of(CALLS, tmp_path, server=address) == "refused\n127.0.0.1 True\n"
        harness.join()
    assert asked == [b"CONNECT 192.0.2.1:80 HTTP/1.1"]


def test_without_the_variables_nothing_is_changed(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the own one')\n")
    ran = subprocess.run(
        [sys.executable, "-c", "import os, sys, time; print(time.time, os.environ['PYTHONPATH'])"],
        env=environment({"PYTHONPATH": str(tmp_path)}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == f"the own one\n<built-in function time> {tmp_path}\n"
    assert ran.stderr == ""


@pytest.mark.parametrize(
    ("name", "head", "found"),
    [
        ("python3.12", "", "python3.12"),
        ("kopf", "#!/venv/bin/python3\n", "/venv/bin/python3"),
        ("tool", "#!/usr/bin/env python3\n", "python3"),
        ("tool", "#!/bin/sh\n", None),
        ("tool", "\x7fELF", None),
    ],
)
def test_what_python_runs_is_known_by_its_first_line(
    tmp_path: Path, name: str, head: str, found: str | None
) -> None:
    program = tmp_path / name
    program.write_text(head)
    interpreter = interpreter_of(program)
    expected = tmp_path / name if found == name else found and Path(found)
    assert interpreter == (expected or None)


def test_the_module_is_where_the_package_is() -> None:
    assert (SITE / "sitecustomize.py").is_file()
