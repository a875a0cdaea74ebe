"""Work in processes of its own, so that nothing of it is left in this one.

Each process begins with nothing of the project imported but this package, ends when its parent
does, and is ended when it is silent for too long or needs too much memory.
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection
from multiprocessing.context import ForkServerProcess
from types import FrameType
from typing import Any, Final, TypeAlias

MEMORY_BYTES: Final = 4 << 30
"""The address space of such a process; an endless list ends as a MemoryError."""
Say: TypeAlias = Callable[[Any], None]
"""Hands something to the parent, which takes it as a sign of life."""


class OutOfTimeError(BaseException):
    """The processor time limit was exceeded. Not an Exception, so that the running code does not
    catch it."""


@contextmanager
def processor_time(seconds: float) -> Iterator[None]:
    """OutOfTimeError in the block once this process has computed for so long within it."""
    before = signal.signal(signal.SIGPROF, _out_of_time)
    # Again and again, should somebody catch it.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _out_of_time(_signal: int, _frame: FrameType | None) -> None:
    raise OutOfTimeError


def each_alone(
    work: Callable[[Any, Say], Any],
    tasks: Sequence[Any],
    *,
    jobs: int,
    silence_seconds: float,
    preload: Sequence[str] = (),
) -> Iterator[tuple[int, Any]]:
    """The index of each task and what `work(task, say)` returned for it, as they come; for a
    process that did not come to its end, the last thing that it said, else None.

    `work` is a function of a module, and what it returns can be pickled. `preload` names modules
    of others that every process would import.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([*preload, __name__])
    waiting = list(enumerate(tasks))[::-1]
    at_work: dict[connection.Connection, _Worker] = {}
    try:
        while waiting or at_work:
            while waiting and len(at_work) < (jobs or len(os.sched_getaffinity(0))):
                index, task = waiting.pop()
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_begin, args=(theirs, work, task), daemon=True)
                process.start()
                theirs.close()
                at_work[ours] = _Worker(index, process)
            heard = connection.wait(list(at_work), timeout=1.0)
            for pipe, worker in list(at_work.items()):
                if pipe in heard and worker.hear(pipe):
                    continue
                if pipe in heard or worker.is_silent(silence_seconds):
                    del at_work[pipe]
                    pipe.close()
                    worker.end()
                    yield worker.index, worker.said
    finally:
        for worker in at_work.values():
            worker.end()


class _Worker:
    def __init__(self, index: int, process: ForkServerProcess) -> None:
        self.index = index
        self.said: Any = None
        self._process = process
        self._heard_at = time.monotonic()

    def hear(self, pipe: connection.Connection) -> bool:
        """Take what it says; False if it says nothing any more."""
        self._heard_at = time.monotonic()
        try:
            self.said = pipe.recv()
        except EOFError:
            return False
        return True

    def is_silent(self, seconds: float) -> bool:
        return time.monotonic() - self._heard_at > seconds

    def end(self) -> None:
        self._process.kill()
        self._process.join()


def _begin(pipe: connection.Connection, work: Callable[[Any, Say], Any], task: Any) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_await_end, args=(parent.sentinel,), daemon=True).start()
    pipe.send(work(task, pipe.send))
    pipe.close()


def _await_end(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
