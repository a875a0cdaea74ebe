"""Four claims that are like those of the catalogue, and stay what they are when that changes."""

from __future__ import annotations

from typing import Any

from conformance.norm.claim import Claim, Decision, Level, Source


def _claim(id_: str, name: str, level: Level, text: str, sentence: int, **more: Any) -> Claim:
    """A claim that is not registered: the catalogue stays what it is."""
    claim = Claim.__new__(Claim)
    values = {
        "id": id_,
        "name": name,
        "level": level,
        "suite": "appwrapper",
        "text": text,
        "source": Source("appwrapper-fault-tolerance", "Progress Guarantees", sentence),
        "decision": None,
        "since": "0.1.0",
        "editions": (),
        "not_judged": "",
        "judge": None,
        **more,
    }
    for key, value in values.items():
        setattr(claim, key, value)
    return claim


QUOTA = _claim(
    "AW-015",
    "quota-released-after-last-pod",
    Level.CORE,
    "Quota MUST NOT be released before every pod and resource of the failed attempt is gone.",
    5,
    decision=Decision(
        "A4",
        "ResourcesDeployed=False during the retry pause does not mean that quota is released.",
        "the page says that quota is kept during that pause.",
    ),
)
PAUSE = _claim(
    "AW-049",
    "retry-pause-lasts",
    Level.EXTENDED,
    "Between the end of deletion and the new instances the RetryPausePeriod MUST pass.",
    14,
)
FORCE = _claim(
    "AW-012",
    "everything-left-is-forced",
    Level.CORE,
    "What remains after the ForcefulDeletionGracePeriod MUST be deleted with a grace period of 0.",
    3,
)
TTL = _claim(
    "AW-063",
    "deleted-after-success-ttl",
    Level.CORE,
    "The child resources of a succeeded AppWrapper MUST be deleted SuccessTTL after it succeeded.",
    22,
    not_judged="",
)
CLAIMS = {claim.id: claim for claim in (QUOTA, PAUSE, FORCE, TTL)}
