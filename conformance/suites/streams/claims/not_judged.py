"""ST-002, 003, 031, 043: sentences that no run can contradict, each with the reason."""

from __future__ import annotations

from functools import partial
from typing import Final

from conformance.norm.claim import not_judged
from conformance.suites.streams.sources import text

_not_judged: Final = partial(not_judged, "streams")

ST_002: Final = _not_judged(
    "ST-002",
    "any-prefix-may-be-left",
    text(2),
    "Each prefix of the writes of a submission, and each subset that is closed under their causes, "
    "MAY be what a crash leaves.",
    "It permits. `assay run streams --crash-points` reaches each of these states.",
)
ST_003: Final = _not_judged(
    "ST-003",
    "operators-are-restarted",
    text(3),
    "Kubernetes MUST start an operator anew that has ended.",
    "It is a promise of Kubernetes. The manifests have a Deployment, and in every scenario an "
    "operator comes back without any other help.",
)
ST_031: Final = _not_judged(
    "ST-031",
    "background-was-the-only-option",
    text(25),
    "Clients of Kubernetes MUST offer the propagation policy Foreground.",
    "It is history: kubectl and the Java client have offered it since 2019.",
)
ST_043: Final = _not_judged(
    "ST-043",
    "width-changes-are-recovered",
    text(6),
    "A change of a parallel region's width that is interrupted MUST be recovered, too.",
    "The reference has no width changes. The norm does not say what becomes of the new width, "
    "which only an object that is deleted knows.",
)
