"""The Lease by which operators elect a leader, taken away from the one that holds it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from chaos.choice import ObjectChoice, current, described
from chaos.fault import Fault, fault
from chaos.faults.editing import edit
from chaos.fields import Name, Span
from chaos.ground import Ground
from vocabulary.clock import SECOND
from vocabulary.kinds import LEASE
from vocabulary.objects import Object, get_path, uid_of

SOMEBODY_ELSE: Final = "assay.dev/somebody-else"
"""The holder while the Lease is taken: no candidate bears that name."""
HOLDS_US: Final = 15 * SECOND
"""As long as client-go's leaders ask for."""


@fault("take_lease")
class TakeLease(Fault):
    """Another holder writes itself into a Lease, and is never heard of again.

    That happens to a leader whose renewals come too late. It has to stop leading, and no other
    candidate leads before the Lease has run out.
    """

    lease: Name | ObjectChoice = ObjectChoice()
    holds: Span = HOLDS_US
    """How long it is valid without a renewal; written in whole seconds."""

    kind: ClassVar[str] = LEASE.kind

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        old = current(ground, LEASE, str(self.lease))
        return (ReturnLease(str(self.lease), dict(old.get("spec") or {}), uid_of(old)),)

    def inject(self, ground: Ground) -> None:
        def taken(lease: Object) -> Mapping[str, Any]:
            transitions = int(get_path(lease, "spec.leaseTransitions", 0))
            spec = {
                "holderIdentity": SOMEBODY_ELSE,
                "leaseDurationSeconds": -(-self.holds // SECOND),
                "leaseTransitions": transitions + 1,
            }
            return {"spec": spec}

        edit(ground, LEASE, str(self.lease), taken)

    def describe(self) -> str:
        return f"have somebody else take {described('Lease', self.lease)}"


@fault("return_lease")
class ReturnLease(Fault):
    """Give a Lease back to its former holder, unless a candidate has acquired it since."""

    lease: str
    spec: Mapping[str, Any]
    """The spec of the Lease before it was taken."""
    uid: str = ""
    """Only that very one, if it still exists."""

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        holder = get_path(current(ground, LEASE, self.lease), "spec.holderIdentity")
        return (TakeLease(self.lease),) if holder == SOMEBODY_ELSE else ()

    def inject(self, ground: Ground) -> None:
        def returned(lease: Object) -> Mapping[str, Any] | None:
            now = lease.get("spec") or {}
            if now.get("holderIdentity") != SOMEBODY_ELSE:
                return None
            return {"spec": {**dict.fromkeys(now), **self.spec}}

        edit(ground, LEASE, self.lease, returned, uid=self.uid)

    def describe(self) -> str:
        holder = self.spec.get("holderIdentity") or "nobody"
        return f"give Lease {self.lease} back to {holder}, unless somebody has acquired it since"
