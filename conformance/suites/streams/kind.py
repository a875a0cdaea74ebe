"""A Job and its parts, field by field: as recorded, as stored now, as worlds use them."""

from __future__ import annotations

from typing import Final

from conformance.stored_objects.state import ObjectState, number, value
from conformance.suite import KindUse
from conformance.suites.streams.api import (
    EXPORT,
    HOST_POOL,
    IMPORT,
    JOB,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
    RECOVERY,
    SUBMITTED,
)
from vocabulary.objects import Object, get_path


class JobState(ObjectState):
    """One state of a Job."""

    phase = value("spec.phase")
    id = value("spec.id")
    """None until its submission begins."""

    @property
    def size(self) -> int:
        """The number of its ProcessingElements: its user's wish, or else what its operator says."""
        told = get_path(self.object, "spec.statistics.processingElementCount", 0)
        return int(get_path(self.object, "spec.fusion.manual") or told)

    def wanted(self, statistic: str) -> int:
        """How many parts of a kind its submission makes, whatever its operator has counted."""
        spec = self.object.get("spec", {})
        listed = {
            "hostPoolCount": "hostPools",
            "exportCount": "exports",
            "importCount": "imports",
            "parallelRegionCount": "parallelRegions",
        }
        if statistic in listed:
            return len(spec.get(listed[statistic]) or ())
        return self.size + (statistic == "configMapCount")

    @property
    def is_submitted(self) -> bool:
        return bool(self.phase == SUBMITTED)


class ElementState(ObjectState):
    """One state of a ProcessingElement."""

    launches = number("spec.launchCount")
    connectivity = value("spec.connectivity")
    content = value("spec.contentId")


def _size(job: Object) -> int:
    return JobState(job).size


KINDS: Final = (
    KindUse(
        JOB,
        is_at_rest=lambda job: JobState(job).is_submitted,
        progress=lambda job: (JobState(job).phase, JobState(job).id),
        pods=_size,
    ),
    *(
        KindUse(kind, is_at_rest=lambda _: True, pods=lambda _: 0)
        for kind in (HOST_POOL, EXPORT, IMPORT, PARALLEL_REGION)
    ),
    KindUse(PROCESSING_ELEMENT, is_at_rest=lambda _: True, pods=lambda _: 0),
    KindUse(RECOVERY, is_at_rest=lambda _: False, pods=lambda _: 0),
)
