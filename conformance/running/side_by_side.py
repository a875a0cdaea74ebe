"""A map over other processes, which end with this one however it ends."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import connection
from typing import Any

from conformance import suite
from conformance.running.collecting import collect_seldom
from conformance.worlds.interrupts import interrupts_held_back


@contextmanager
def side_by_side(jobs: int, *, many: bool) -> Iterator[Callable[..., Iterator[Any]]]:
    """`each(function, items, chunk)`: a map over other processes, its results in order.

    With one job, or without `many` items, it is an ordinary map: processes take longer to
    start than a few runs take.
    """
    jobs = jobs or len(os.sched_getaffinity(0))
    if jobs == 1 or not many:
        yield lambda function, items, _chunk: map(function, items)
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["conformance.running.workers"])
    pool = ProcessPoolExecutor(
        jobs, mp_context=context, initializer=_begin, initargs=(suite.packages(),)
    )

    def each(function: Callable[[Any], Any], items: Sequence[Any], chunk: int) -> Iterator[Any]:
        # The pool starts its workers here. One that it did not come to know of, being interrupted,
        # would be told of no end, and Python waits for all of them at its own.
        with interrupts_held_back():
            return pool.map(function, items, chunksize=chunk)

    try:
        yield each
    finally:
        pool.shutdown(cancel_futures=True)


def _begin(suites: Sequence[str]) -> None:
    suite.load_from(suites)
    collect_seldom()
    _end_with_parent()


def _end_with_parent() -> None:
    """Let this worker end when the process that it works for has ended.

    A worker whose parent was killed would wait for its next task indefinitely: the other workers
    hold the writing end of the pipe on which that would come.
    """
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_await_end, args=(parent.sentinel,), daemon=True).start()


def _await_end(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
