"""The clocks of the program: all of them show the time in the harness's page."""

from __future__ import annotations

import ctypes
import datetime
import gc
import mmap
import os
import time
from typing import Any

_NOW = 0
_LEAST = 3
"""Words of the page: the time in ns since 1970, and how far ahead a wait is set for that is on time
while the program only polls."""
_WORDS = 8
_UPTIME_NS = 864_000_000_000_000
"""Ten days: a program may compare the monotonic clock with zero."""
_LATE_NS = 70_000
"""No timer of a real machine fires on time; see LATENESS_US of `clusters.go_time`."""


class Clock:
    """The page, and what replaces the functions of `time` and `datetime`."""

    def __init__(self, page: str) -> None:
        descriptor = os.open(page, os.O_RDONLY)
        mapped = mmap.mmap(descriptor, mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)
        os.close(descriptor)
        self._words = memoryview(mapped)[: _WORDS * 8].cast("Q")
        self._started_ns = self.now_ns()
        self._last_ns = 0

    def now_ns(self) -> int:
        """The time since 1970."""
        return self._words[_NOW]

    def least_ns(self) -> int:
        """A wait that was begun so far ahead is on time in any case."""
        return self._words[_LEAST]

    def due_ns(self, seconds: float) -> int:
        """When a wait of so many seconds ends: late, as on a real machine, in whole µs."""
        return self.now_ns() + -(-int(seconds * 1e9) // 1000) * 1000 + _LATE_NS

    def time_ns(self) -> int:
        """The same, but never twice: programs make names of it."""
        now = self.now_ns()
        self._last_ns = now if now > self._last_ns else self._last_ns + 1
        return self._last_ns

    def time(self) -> float:
        return self.time_ns() / 1e9

    def monotonic_ns(self) -> int:
        return self.now_ns() - self._started_ns + _UPTIME_NS

    def monotonic(self) -> float:
        return self.monotonic_ns() / 1e9

    def install(self) -> None:
        """Replace the clocks of the interpreter."""
        time.time, time.time_ns = self.time, self.time_ns
        time.monotonic, time.monotonic_ns = self.monotonic, self.monotonic_ns
        time.perf_counter, time.perf_counter_ns = self.monotonic, self.monotonic_ns
        for name in ("localtime", "gmtime", "ctime"):
            setattr(time, name, _OfSeconds(self, getattr(time, name)).call)
        for name in ("asctime", "strftime"):
            setattr(time, name, _OfMoment(getattr(time, name)).call)
        moment = datetime.datetime
        _change(moment, "now", lambda cls, tz=None: cls.fromtimestamp(self.time(), tz))
        _change(moment, "utcnow", lambda cls: cls.now(_UTC).replace(tzinfo=None))
        _change(datetime.date, "today", lambda cls: cls.fromtimestamp(self.time()))
        if moment.now(_UTC).timestamp() - self.time() > 1:
            raise RuntimeError("datetime.now cannot be given virtual time in this Python")


class _OfSeconds:
    """A function of a time, by default the present one.

    Functions of `time` are attributes of classes in places, and must not become their methods: what
    replaces them is bound.
    """

    def __init__(self, clock: Clock, real: Any) -> None:
        self._clock, self._real = clock, real

    def call(self, seconds: float | None = None) -> Any:
        return self._real(self._clock.time() if seconds is None else seconds)


class _OfMoment:
    """A function whose last argument is a `struct_time`, by default that of now."""

    def __init__(self, real: Any) -> None:
        self._real = real
        self._takes_format = real is time.strftime

    def call(self, *arguments: Any) -> Any:
        if len(arguments) == self._takes_format:
            arguments = (*arguments, time.localtime())
        return self._real(*arguments)


_UTC = datetime.timezone.utc


def _change(of: type, name: str, method: Any) -> None:
    """Replace a class method of a type that cannot be changed: a subclass in its place would not be
    the type of what other modules in C return."""
    (methods,) = gc.get_referents(of.__dict__)
    methods[name] = classmethod(method)
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(of))
