"""The resource quota controller: keeps what a quota's status says is used in step.

Admission counts for itself (see `clusters.simulated.quota`), so nothing is let in or refused
by what stands here; it is for those who look.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from clusters.simulated.controllers.base import Controller, Work
from clusters.simulated.quota import used_of
from clusters.simulated.store import Change
from vocabulary.kinds import RESOURCE_QUOTA
from vocabulary.objects import name_of, namespace_of
from vocabulary.requests import Update


class ResourceQuotaController(Controller):
    """`resourcequota-controller` of the real controller manager."""

    name = "resourcequota-controller"
    _counting = False

    def listen(self) -> None:
        self.on(RESOURCE_QUOTA, self._quota_changed)

    def everything(self) -> Iterable[Hashable]:
        for quota in self.informers.all_of(RESOURCE_QUOTA):
            yield namespace_of(quota), name_of(quota)

    def _quota_changed(self, change: Change) -> None:
        if not self._counting:
            # Where there is no quota, nobody has to hear of every object.
            self._counting = True
            self.informers.on_any(self._anything_changed)
        if change.event != "DELETED":
            self.enqueue((change.key.namespace, change.key.name))

    def _anything_changed(self, change: Change) -> None:
        """The quotas of its namespace may count what has come, gone or ended."""
        if not self.running or change.key.kind == str(RESOURCE_QUOTA):
            return
        if self.hears_later(self._anything_changed, change):
            return
        for quota in self.informers.all_of(RESOURCE_QUOTA, change.key.namespace):
            self.enqueue((change.key.namespace, name_of(quota)))

    def sync(self, key: Any) -> Work:
        quota = self.informers.get(RESOURCE_QUOTA, *key)
        if quota is None:
            return None
        hard = quota["spec"].get("hard")
        if not hard:
            return None
        status = {"hard": hard, "used": used_of(self.api.store, quota, self.api.kinds.values())}
        if status != quota.get("status"):
            yield Update(RESOURCE_QUOTA, {**quota, "status": status}, subresource="status")
        return None
