"""How often the cycle collector looks at what runs leave behind: seldom.

Reference counting frees nearly all that a run makes. What it leaves is garbage only once the
run is over, and there is little of it: some dozens of runs can wait for the collector. What was
loaded before stays for good, and need not be looked at again and again.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

OBJECTS_PER_COLLECTION: Final = 100_000
"""So many objects may have been made and not given back; what bounds the memory of garbage. More
than the imports of a command make, which are no garbage."""


def collect_seldom() -> None:
    """From now on; what there is now is never looked at again, and not even now."""
    gc.freeze()
    gc.set_threshold(OBJECTS_PER_COLLECTION)


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """For a while."""
    before = gc.get_threshold()
    collect_seldom()
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """Keep the cycle collector out of a run; it collects between runs, by itself.

    Reference counting frees what a run makes: a world and a history break their cycles at
    their end. To look for garbage earlier finds nothing. It took 6 % of a run's time, and more
    the more histories were kept.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
