"""Keeps a PersistentVolumeClaim that is being deleted while a pod uses it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.store import Change
from vocabulary.kinds import PERSISTENT_VOLUME_CLAIM, POD
from vocabulary.objects import Object, finalizers_of, is_terminating, name_of, namespace_of
from vocabulary.requests import Patch

PROTECTION: Final = "kubernetes.io/pvc-protection"


class PvcProtection(Controller):
    """`persistentvolumeclaim-protection-controller` of the real controller manager."""

    name = "pvc-protection"

    def listen(self) -> None:
        self.on(PERSISTENT_VOLUME_CLAIM, self._claim_changed)
        self.on(POD, self._pod_changed)

    def everything(self) -> Iterable[Hashable]:
        for claim in self.informers.all_of(PERSISTENT_VOLUME_CLAIM):
            yield namespace_of(claim), name_of(claim)

    def _claim_changed(self, change: Change) -> None:
        if change.event != "DELETED" and (
            is_terminating(change.object) or PROTECTION not in finalizers_of(change.object)
        ):
            self.enqueue((change.key.namespace, change.key.name))

    def _pod_changed(self, change: Change) -> None:
        if change.event == "DELETED":
            for name in _claims_of(change.object):
                self.enqueue((change.key.namespace, name))

    def sync(self, key: Any) -> Work:
        claim = self.informers.get(PERSISTENT_VOLUME_CLAIM, *key)
        if claim is None:
            return None
        protected = PROTECTION in finalizers_of(claim)
        finalizers: list[str] | None
        if not is_terminating(claim):
            if protected:
                return None
            finalizers = [*finalizers_of(claim), PROTECTION]
        else:
            if not protected or self._is_used(*key):
                return None
            finalizers = [name for name in finalizers_of(claim) if name != PROTECTION] or None
        body = {"metadata": {"finalizers": finalizers}}
        yield Patch(PERSISTENT_VOLUME_CLAIM, key[0], key[1], body)
        return None

    def _is_used(self, namespace: str, claim: str) -> bool:
        """True if a pod bound to a node uses the claim."""
        return any(
            pod["spec"].get("nodeName") and claim in _claims_of(pod)
            for pod in self.informers.all_of(POD, namespace)
        )


def _claims_of(pod: Object) -> list[str]:
    return [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in pod["spec"].get("volumes") or ()
        if "persistentVolumeClaim" in volume
    ]
