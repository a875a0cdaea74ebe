"""The editions of the ledger: the moment of release that is asked for, and how it is configured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

STRICT: Final = "strict"
"""Quota is held until the last pod is terminal, whatever took it away; the default."""
MLBATCH: Final = "mlbatch"
"""As `strict`. How a queue preempts is its own: MLBatch's policies are in suite `mlbatch`."""
KEP: Final = "kep"
"""By the signal of each kind of jobs: its pods may still be terminating."""
RELEASED: Final = "released"
"""The same of released controllers."""
EDITIONS: Final = (STRICT, MLBATCH, KEP, RELEASED)

_HELD: Final[Mapping[str, Any]] = {
    "quotaHeldUntilTerminal": True,
    "integrations": {
        "quotaReleaseStrategy": {
            "batch/job": "OnTerminal",
            "jobset.x-k8s.io/jobset": "OnTerminal",
            "pod": "OnTerminal",
        }
    },
}
BY_EDITION: Final[Mapping[str, Mapping[str, Mapping[str, Any]]]] = {
    STRICT: {"kueue": _HELD},
    MLBATCH: {"kueue": _HELD},
}
"""By edition and role: the settings that ask an operator for it."""


_BY_SIGNAL: Final = ("kubeflow.org/pytorchjob", "ray.io/raycluster", "ray.io/rayjob")
"""The frameworks whose quota is released by the word of the job in every edition."""


def holds_until_terminal(edition: str, framework: str) -> bool:
    """True if quota of jobs of a framework is to be held until the last pod is terminal."""
    return edition in (STRICT, MLBATCH) and framework not in _BY_SIGNAL
