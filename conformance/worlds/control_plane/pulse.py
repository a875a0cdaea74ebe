"""Measure the machine's current delay, which a run's upper bounds must allow for.

Deadlines count real time here, and other processes on the cores delay everything. So a canary
continuously does what a reconcile does: a row of requests, one after the other, through a
proxy like an operator's. Its maximum duration during a run is the delay of a correct
implementation; the history's header contains it, and the claims allow for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from conformance.worlds.control_plane.recorder import wall_us
from vocabulary.clock import Micros
from vocabulary.errors import ApiError

IN_A_ROW: Final = 10
"""Requests of one reconcile: of a workload's components, pods and status."""
REACTIONS: Final = 2
"""A change is noticed, and then the status that says so leads to the next action."""
EVERY_SECONDS: Final = 0.5


class Pulse:
    """Sends rows of requests for as long as the session lasts."""

    def __init__(self, request: Callable[[], object]) -> None:
        self._request = request
        self._took: list[tuple[Micros, Micros]] = []
        """When each row began, and how long it took."""
        self._began_us = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="pulse", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    def slack_us(self, since_us: Micros) -> Micros:
        """How much later than on an idle machine reactions have been since then, at most."""
        rows = [took_us for began_us, took_us in tuple(self._took) if began_us + took_us > since_us]
        if self._began_us:
            rows.append(wall_us() - self._began_us)
        return REACTIONS * max(rows, default=0)

    def _beat(self) -> None:
        while not self._stopping.wait(EVERY_SECONDS):
            self._began_us = began_us = wall_us()
            for _ in range(IN_A_ROW):
                try:
                    self._request()
                except ApiError:
                    break  # the API server is away: that is an outage, not slowness
            self._took.append((began_us, wall_us() - began_us))
            self._began_us = 0
