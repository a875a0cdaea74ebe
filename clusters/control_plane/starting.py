"""Wait for components to become ready, and retry failed starts.

Occasionally a Kubernetes program crashes right at its start, and not the next time:
kube-apiserver v1.36.3 by a nil dereference in its OpenAPI cache, KWOK v0.8.0 by a panic when the
API server has just recovered. Every cluster restarts such a program, and so does this one, a few
times. Only an end before readiness counts as a failed start; a later end is not handled here.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tenacity import Retrying, retry_if_exception_type, sleep_using_event, stop_after_attempt
from tenacity.stop import stop_when_event_set
from tenacity.wait import wait_exponential

from clusters.control_plane import health
from clusters.control_plane.state import Component
from clusters.control_plane.waiting import wait_until

STARTS: Final = 3
"""The maximum number of starts of a component."""
FIRST_PAUSE_SECONDS: Final = 0.25
"""The delay before the first retry, since the cause may be transient; doubled for each other."""
READY_LIMIT_SECONDS: Final = 120.0
LOG_TAIL_LINES: Final = 30
"""Enough for the reason of a panic and the first lines of its stack trace."""


class StartError(Exception):
    """A component ended instead of becoming ready; the message ends with its log."""


def wait_started(
    component: Component, start_again: Callable[[], Component], log: Path, over: threading.Event
) -> None:
    """Return when a newly started component is ready.

    A component that ends before is started again. Raises `StartError` after `STARTS` starts or
    if `over` is set meanwhile, and `WaitTimeoutError` if it neither ends nor becomes ready.
    """
    for attempt in Retrying(
        retry=retry_if_exception_type(StartError),
        stop=stop_after_attempt(STARTS) | stop_when_event_set(over),
        wait=wait_exponential(FIRST_PAUSE_SECONDS),
        sleep=sleep_using_event(over),
        reraise=True,
    ):
        with attempt:
            number = attempt.retry_state.attempt_number
            if number > 1:
                component = start_again()
            if not _becomes_ready(component, log, over):
                raise StartError(
                    f"{component.name} ended at its start, {number} of {STARTS} times; "
                    f"the tail of its log:\n{_tail(log)}"
                )


def wait_ready(component: Component, log: Path, over: threading.Event) -> None:
    """Return when a running component is ready again. Raises like `wait_started`, but starts
    nothing."""
    if not _becomes_ready(component, log, over):
        raise StartError(f"{component.name} ended; the tail of its log:\n{_tail(log)}")


def _becomes_ready(component: Component, log: Path, over: threading.Event) -> bool:
    """Wait until the component is ready (True) or has ended."""

    def is_decided() -> bool:
        return over.is_set() or not component.is_alive() or health.is_ready(component)

    wait_until(
        is_decided, f"{component.name} is ready; see {log}", limit_seconds=READY_LIMIT_SECONDS
    )
    if over.is_set():
        raise StartError(f"{component.name} was not ready when the control plane was stopped")
    return component.is_alive()


def _tail(log: Path) -> str:
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(lines[-LOG_TAIL_LINES:])
