"""The kinds whose objects histories of real clusters tell of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from conformance.left_behind.clean import defined_kind
from vocabulary.kinds import BUILT_IN_KINDS, EVENT, LEASE, PRIORITY_CLASS, RUNTIME_CLASS, Kind
from vocabulary.objects import Object

_LEFT_OUT: Final = (EVENT, LEASE, PRIORITY_CLASS, RUNTIME_CLASS)
"""Events are no evidence, Leases are renewed every other second, and classes belong to no run."""


def followed_kinds(crds: Iterable[Object]) -> tuple[Kind, ...]:
    """Kubernetes' own kinds that workloads are made of, and those that definitions bring; each
    once, in the version that its definition stores."""
    own = (kind for kind in BUILT_IN_KINDS if kind not in _LEFT_OUT)
    return tuple({str(kind): kind for kind in (*own, *map(defined_kind, crds))}.values())
