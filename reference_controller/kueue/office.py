"""The settings, decisions, books and metrics that the controllers of one process share."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from reference_controller.kueue.books import Books
from reference_controller.kueue.config import KueueConfig
from reference_controller.kueue.integrations import Integration
from reference_controller.kueue.metrics import Metrics
from reference_controller.kueue.names import JOB_UID, QUEUE
from reference_controller.kueue.rules import Rules
from reference_controller.kueue.workload import Workload
from reference_controller.shared.reading import read
from vocabulary.kinds import NAMESPACE, Kind
from vocabulary.objects import (
    Object,
    controller_of,
    is_terminating,
    labels_of,
    namespace_of,
    uid_of,
)
from vocabulary.requests import Request


@dataclass(frozen=True, slots=True, eq=False)
class Office:
    """Shared by all of them, with the kinds of jobs that there are."""

    integrations: tuple[Integration, ...]
    config: KueueConfig
    rules: Rules
    books: Books
    metrics: Metrics

    def kind_of_owner(self, obj: Object) -> Kind | None:
        """The kind of its controller, if that may be a job."""
        owner = controller_of(obj) or {}
        known = owner.get("apiVersion"), owner.get("kind")
        for each in self.integrations:
            if (each.kind.api_version, each.kind.kind) == known:
                return each.kind
        return None

    def is_managed(self, job: Object) -> Generator[Request, Any, bool]:
        """True for a job that waits, unless it is part of one that does."""
        manages = yield from self._manages(namespace_of(job))
        if not manages and QUEUE not in labels_of(job):
            return False
        part = job
        while (kind := self.kind_of_owner(part)) is not None:
            owner = controller_of(part) or {}
            place = namespace_of(job), str(owner["name"])
            found = yield from read(kind, *place, live=False)
            if self.rules.looks_live(found is None or uid_of(found) != owner.get("uid")):
                found = yield from read(kind, *place, live=True)
            if found is None or uid_of(found) != owner.get("uid"):
                break
            if self.rules.is_managed_by(manages or QUEUE in labels_of(found)):
                return False
            part = found
        return True

    def _manages(self, namespace: str) -> Generator[Request, Any, bool]:
        """True if jobs of a namespace wait that name no queue."""
        if not self.config.manages_unqueued:
            return False
        found = yield from read(NAMESPACE, "", namespace, live=False)
        if found is None:
            found = yield from read(NAMESPACE, "", namespace, live=True)
        labels = self.rules.selected_by(labels_of(found or {}))
        return self.rules.waits_unqueued(self.config.manages(labels))

    def has_job(self, workload: Workload) -> Generator[Request, Any, bool]:
        """True unless the job of a Workload is known to be gone, or about to go."""
        kind = self.kind_of_owner(workload.object)
        if kind is None:
            return JOB_UID not in labels_of(workload.object)
        owner = controller_of(workload.object) or {}
        for live in (False, True):  # the cache may be behind
            found = yield from read(kind, workload.key.namespace, str(owner["name"]), live=live)
            stands = found is not None and uid_of(found) == workload.owner_uid
            if stands:
                break
        return self.rules.may_reserve(stands and not is_terminating(found or {}))
