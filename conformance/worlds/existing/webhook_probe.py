"""Whether the API server reaches the webhooks that this machine serves, asked once in advance.

If it does not, it refuses every AppWrapper, and all that a suite could say is inconclusive.
"""

from __future__ import annotations

import time
from typing import Final

from conformance.parameters import DEFAULT_CONFIG
from conformance.worlds.control_plane.session import Session
from conformance.worlds.control_plane.webhooks import Webhooks
from vocabulary.errors import ApiError
from vocabulary.kinds import APPWRAPPER
from vocabulary.requests import Create

NOTICED_SECONDS: Final = 1.0
"""After which an API server heeds a webhook configuration."""
FAILED: Final = "failed calling webhook"


class UnreachableWebhooksError(Exception):
    """The API server cannot call this machine; the message says what it tried."""


def require_reachable(session: Session, namespace: str) -> None:
    """Have an AppWrapper admitted, and stored nowhere; raises UnreachableWebhooksError."""
    webhooks = Webhooks(session, namespace, DEFAULT_CONFIG)
    webhooks.start()
    time.sleep(NOTICED_SECONDS)
    name = "probe"
    manifest = {
        "apiVersion": APPWRAPPER.api_version,
        "kind": APPWRAPPER.kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"components": []},
    }
    try:
        session.connections["user"].handle(
            Create(APPWRAPPER, manifest, namespace, name, dry_run=True)
        )
    except ApiError as error:
        if FAILED in error.message:
            raise UnreachableWebhooksError(
                f"{session.plane.server} cannot call the admission webhooks that this machine "
                f"serves ({error.message}); run the suite on a machine, or in a network "
                "namespace, that the API server shares"
            ) from error
    finally:
        webhooks.stop()
