"""A map over other processes, which end with this one however it ends.

A process that ends abruptly costs one item: what it was at work on is made again, one item at a
time, each in a process of its own, and the item that ends this process too is the lost one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import connection
from typing import Any, Final, NamedTuple

from conformance import suite
from conformance.running.collecting import collect_seldom
from conformance.worlds.interrupts import interrupts_held_back

CHUNKS_AHEAD: Final = 4
"""So many chunks for each process are under way, the results of which wait for their turn."""
_CONTEXT: Final = multiprocessing.get_context("forkserver")


class LostWorkerError(RuntimeError):
    """A process ended abruptly at this item, and again when it was the only one."""


@contextmanager
def side_by_side(jobs: int, *, many: bool) -> Iterator[Callable[..., Iterator[Any]]]:
    """`each(function, items, chunk)`: a map over other processes, its results in order.

    With one job, or without `many` items, it is an ordinary map: processes take longer to
    start than a few runs take. LostWorkerError for an item whose process ends abruptly, unless
    `each` gets an argument `lost`, a function: its value for the item and a few words on how the
    process ended is the item's result then.
    """
    jobs = jobs or len(os.sched_getaffinity(0))
    if jobs == 1 or not many:
        yield lambda function, items, _chunk, _lost=None: map(function, items)
        return
    _CONTEXT.set_forkserver_preload(["conformance.running.workers"])
    pool = _RenewedPool(jobs)
    try:
        yield pool.each
    finally:
        pool.shut_down()


class _Chunk(NamedTuple):
    """Items that a process gets at a time."""

    items: Sequence[Any]
    future: Future[list[Any]] | None
    """None: each is made in a process of its own."""


class _RenewedPool:
    """A pool of processes, and another one after any of them has ended abruptly."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._pool = self._new()

    def each(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        chunk: int,
        lost: Callable[[Any, str], Any] | None = None,
    ) -> Iterator[Any]:
        several = iter(items)
        chunks = iter(lambda: list(islice(several, chunk)), [])
        return self._results(function, chunks, lost or _raise)

    def shut_down(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _new(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._jobs, mp_context=_CONTEXT, initializer=_begin, initargs=(suite.packages(),)
        )

    def _submitted(self, function: Callable[[Any], Any], chunk: Sequence[Any]) -> _Chunk:
        # The pool starts its workers here. One that it did not come to know of, being interrupted,
        # would be told of no end, and Python waits for all of them at its own.
        with interrupts_held_back():
            try:
                return _Chunk(chunk, self._pool.submit(_all_of, function, chunk))
            except BrokenProcessPool as broken:
                future: Future[list[Any]] = Future()
                future.set_exception(broken)
                return _Chunk(chunk, future)

    def _renew(self) -> None:
        self.shut_down()
        self._pool = self._new()

    def _results(
        self,
        function: Callable[[Any], Any],
        chunks: Iterator[Sequence[Any]],
        lost: Callable[[Any, str], Any],
    ) -> Iterator[Any]:
        """Results in order, while no more chunks are under way than keep the processes busy."""
        ahead: deque[_Chunk] = deque()
        while True:
            room = self._jobs * CHUNKS_AHEAD - len(ahead)
            ahead += [self._submitted(function, chunk) for chunk in islice(chunks, room)]
            if not ahead:
                return
            try:
                first = ahead[0]
                results = [] if first.future is None else first.future.result()
            except BrokenProcessPool:
                self._begin_again(function, ahead)
                continue
            ahead.popleft()
            if first.future is not None:
                yield from results
                continue
            for item in first.items:
                yield _made_alone(function, item, lost)

    def _begin_again(self, function: Callable[[Any], Any], ahead: deque[_Chunk]) -> None:
        """Another pool for the chunks that have no result; those that were at work, which are the
        first of them, are made item by item instead."""
        broken = [n for n, each in enumerate(ahead) if each.future and _is_broken(each.future)]
        self._renew()
        for n in broken[: self._jobs]:
            ahead[n] = _Chunk(ahead[n].items, None)
        for n in broken[self._jobs :]:
            ahead[n] = self._submitted(function, ahead[n].items)


def _is_broken(future: Future[Any]) -> bool:
    # A pool that broke leaves no future without an end.
    return isinstance(future.exception(), BrokenProcessPool)


def _all_of(function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
    return [function(item) for item in items]


def _raise(item: Any, how: str) -> Any:
    raise LostWorkerError(f"the process at work on {item} ended abruptly: {how}")


def _made_alone(function: Callable[[Any], Any], item: Any, lost: Callable[[Any, str], Any]) -> Any:
    """The item's result by a process of its own; `lost`'s if that ends abruptly as well."""
    here, there = _CONTEXT.Pipe(duplex=False)
    worker = _CONTEXT.Process(target=_answer, args=(suite.packages(), there, function, item))
    with interrupts_held_back():
        worker.start()
        there.close()
    try:
        result, error = here.recv()
    except EOFError:
        worker.join()
        return lost(item, _in_words(worker.exitcode or 0))
    worker.join()
    if error is not None:
        raise error
    return result


def _answer(
    suites: Sequence[str],
    there: connection.Connection,
    function: Callable[[Any], Any],
    item: Any,
) -> None:
    try:
        _begin(suites)
        there.send((function(item), None))
    except Exception as error:  # noqa: BLE001 - raised where it is asked for
        there.send((None, error))


def _in_words(exit_code: int) -> str:
    """`SIGSEGV`, or `exit status 3`."""
    if exit_code < 0:
        return signal.Signals(-exit_code).name
    return f"exit status {exit_code}"


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
