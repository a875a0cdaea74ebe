"""Probe in advance whether the API server reaches the webhooks that this machine serves.

If it does not, it rejects every AppWrapper, and all results of a suite are inconclusive.
"""

from __future__ import annotations

import time
from typing import Final

from conformance.real_role import real_settings
from conformance.worlds.control_plane.probe import unreached
from conformance.worlds.control_plane.session import Session
from conformance.worlds.control_plane.webhooks import Webhooks

NOTICED_SECONDS: Final = 1.0
"""After which an API server heeds a webhook configuration."""


class UnreachableWebhooksError(Exception):
    """The API server cannot call this machine; the message says what it tried."""


def require_reachable(session: Session, namespace: str) -> None:
    """Have an AppWrapper admitted by a dry run. Raises UnreachableWebhooksError.

    Skipped if no webhooks are served here: those of an installed operator are its own.
    """
    if not session.implementation.webhooks(real_settings().defaults):
        return
    webhooks = Webhooks(session, namespace, real_settings().defaults)
    webhooks.start()
    time.sleep(NOTICED_SECONDS)
    try:
        said = unreached(session.connections["user"], namespace)
    finally:
        webhooks.stop()
    if said:
        raise UnreachableWebhooksError(
            f"{session.plane.server} cannot call the admission webhooks that this machine "
            f"serves ({said}); run the suite on a machine, or in a network namespace, that the "
            "API server shares"
        )
