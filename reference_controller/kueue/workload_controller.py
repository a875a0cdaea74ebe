"""The controller of Workloads that have lost their job.

A job that is deleted with its dependents orphaned leaves a Workload without a controller. It
stands for nothing any more; what it stood for runs on outside of every queue.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from reference_controller.kueue.names import JOB_UID, OF_WORKLOAD, WORKLOAD
from reference_controller.kueue.office import Office
from reference_controller.kueue.release import LOOKS_AGAIN_US, leave
from reference_controller.kueue.workload import Workload
from reference_controller.runtime.controller import Key, key_of
from reference_controller.shared.reading import read
from vocabulary.clock import Micros
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, labels_of, namespace_of
from vocabulary.requests import Reconcile

if TYPE_CHECKING:
    from reference_controller.runtime.caches import Caches


class WorkloadController:
    """Looks at Workloads alone."""

    name: Final = "workload"
    watches: Final = (WORKLOAD, POD)

    def __init__(self, office: Office) -> None:
        self._office = office

    def keys_for(
        self, kind: Kind, obj: Object, old: Object | None, caches: Caches
    ) -> Iterable[Key]:
        del old
        if kind == POD:
            named = caches[WORKLOAD].get(namespace_of(obj), labels_of(obj).get(OF_WORKLOAD, ""))
            return () if named is None else self.keys_for(WORKLOAD, named, None, caches)
        return (key_of(obj),) if _is_orphaned(Workload(obj)) else ()

    def reconcile(self, key: Key, now_us: Micros) -> Reconcile:
        found = yield from read(WORKLOAD, *key, live=False)
        if found is None or not _is_orphaned(workload := Workload(found)):
            return None
        is_unseen = yield from leave(workload, self._office, is_orphaned=True)
        return now_us + LOOKS_AGAIN_US if is_unseen else None


def _is_orphaned(workload: Workload) -> bool:
    return workload.owner is None and JOB_UID in labels_of(workload.object)
