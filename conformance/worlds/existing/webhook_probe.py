"""Probe in advance whether the API server reaches the webhooks that this machine serves.

If it does not, it rejects every object under test, and all results are inconclusive.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Final

from conformance.suite import load as suites
from conformance.worlds.control_plane.probe import unreached
from conformance.worlds.control_plane.session import Session
from conformance.worlds.control_plane.webhooks import Webhooks

NOTICED_SECONDS: Final = 1.0
"""After which an API server heeds a webhook configuration."""


class UnreachableWebhooksError(Exception):
    """The API server cannot call this machine; the message says what it tried."""


def require_reachable(session: Session, namespace: str) -> None:
    """Have an object of each role admitted by a dry run. Raises UnreachableWebhooksError.

    Skipped if no webhooks are served here: those of an installed operator are its own.
    """
    with ExitStack() as served:
        for role, implementation in session.implementations.items():
            config = suites()[role].settings.defaults
            if not implementation.webhooks(config):
                continue
            webhooks = Webhooks(session, implementation, (namespace,), config)
            webhooks.start()
            # They go on to be called for the objects of other roles.
            served.callback(webhooks.stop)
            time.sleep(NOTICED_SECONDS)
            if said := unreached(session.connections["user"], role, namespace):
                raise UnreachableWebhooksError(
                    f"{session.plane.server} cannot call the admission webhooks that this machine "
                    f"serves ({said}); run the suite on a machine, or in a network namespace, that "
                    "the API server shares"
                )
