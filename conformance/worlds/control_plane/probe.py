"""Ask by dry runs whether the API server can call the webhooks of a role."""

from __future__ import annotations

from conformance.stored_objects.lookup import WEBHOOK_FAILED, Asked
from conformance.suite import load as suites
from vocabulary.errors import ApiError
from vocabulary.objects import name_of
from vocabulary.requests import Create


def unreached(connection: Asked, role: str, namespace: str) -> str:
    """Return the API server's error if it cannot call a webhook of that role; empty if it can, or
    if the suite has no probes for its kinds.

    Nothing is stored. A rejection by the webhook also shows that it was called.
    """
    for use in suites()[role].kinds:
        if use.probe is None:
            continue
        obj = use.probe(namespace)
        try:
            connection.handle(Create(use.kind, obj, namespace, name_of(obj), dry_run=True))
        except ApiError as error:
            if WEBHOOK_FAILED in error.message:
                return error.message
    return ""
