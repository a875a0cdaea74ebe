"""The last bound of a simulated run: processor time, for code that does not return.

All other bounds are counts (`conformance.worlds.simulated.bounds`). This one depends on the
machine, so it is generous, and a run that reaches it is inconclusive by name.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

MAX_PROCESSOR_SECONDS: Final = 3.0
"""Of one run: fifty times as much as the longest scenario of few pods takes."""
OF_PROGRAMS: Final = 10
"""So many times as much for runs of programs: to look whether they sleep takes processor time, and
the busier the machine is, the more often it has to be looked."""
SECONDS_PER_POD: Final = 0.02
"""So much more for each pod that users ask for: some thirty times as much as one takes."""
SECONDS_PER_EVENT: Final = 0.001
"""So much more for each event of the simulation: some thirty times as much as one takes. A run
that waits for days while an operator tries again has ten thousands of them."""
RING_AGAIN_SECONDS: Final = 0.5
"""A destructor swallows what is raised in it."""
MAX_HUNG_RUNS: Final = 2
"""Of the same operators in one process; the code of those that have hung so often is not called
again, since every scenario would take as long."""

_hung: Counter[frozenset[tuple[str, str]]] = Counter()
"""How many runs have hung in this process, by their implementations' names with their roles: the
same name, such as `reference`, is that of different code in another role."""


class HungError(BaseException):
    """The code under test took more processor time than any run needs.

    Not an Exception, which a controller's own retries would catch.
    """


@contextmanager
def processor_time_bounded(
    implementations: Mapping[str, str],
    pods: Callable[[], int],
    events: Callable[[], int],
    *,
    has_programs: bool = False,
) -> Iterator[None]:
    """Raise HungError in the block once it has used too much processor time.

    `implementations` are the names of the operators' implementations by role, `pods` how many its
    users have asked for so far, `events` how many the simulation has come to.

    Python interrupts no thread but the main one: elsewhere nothing is bounded.
    """
    which = frozenset(implementations.items())
    if _hung[which] >= MAX_HUNG_RUNS:
        named = ",".join(f"{role}={name}" for role, name in implementations.items())
        raise HungError(f"{_hung[which]} runs of {named} that never returned")
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    began = time.process_time()
    most = MAX_PROCESSOR_SECONDS * (OF_PROGRAMS if has_programs else 1)

    def ring(_signal: int, frame: FrameType | None) -> None:
        allowed = most + SECONDS_PER_POD * pods() + SECONDS_PER_EVENT * events()
        if time.process_time() - began < allowed:
            return
        where = "" if frame is None else f", at {Path(frame.f_code.co_filename).name}"
        raise HungError(f"{allowed:g} s of processor time{where}")

    before = signal.signal(signal.SIGVTALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, most, RING_AGAIN_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except HungError:
        _hung[which] += 1
        raise
    finally:
        # One that is on its way still would end the process by default.
        ignored = before in (None, signal.SIG_DFL)
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN if ignored else before)


def forget_hung_runs() -> None:
    """Call code again that has hung: it is not what it was."""
    _hung.clear()
