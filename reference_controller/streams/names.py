"""The names of the API: kinds, labels, annotations, phases.

They are those of the norm, in a group of its own: the released operator's is not touched.
"""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind

GROUP: Final = "streams.conformance.dev"
VERSION: Final = "v1alpha1"
JOB: Final = Kind(GROUP, VERSION, "Job", "jobs")
HOST_POOL: Final = Kind(GROUP, VERSION, "HostPool", "hostpools")
EXPORT: Final = Kind(GROUP, VERSION, "Export", "exports")
IMPORT: Final = Kind(GROUP, VERSION, "Import", "imports")
PARALLEL_REGION: Final = Kind(GROUP, VERSION, "ParallelRegion", "parallelregions")
PROCESSING_ELEMENT: Final = Kind(GROUP, VERSION, "ProcessingElement", "processingelements")
RECOVERY: Final = Kind(GROUP, VERSION, "JobRecovery", "jobrecoveries")
"""Ours: the durable record of an interrupted Job that is being replaced."""
KINDS: Final = (JOB, HOST_POOL, EXPORT, IMPORT, PARALLEL_REGION, PROCESSING_ELEMENT, RECOVERY)
PARTS: Final = (
    CONFIG_MAP,
    SERVICE,
    HOST_POOL,
    EXPORT,
    IMPORT,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
)
"""The kinds that a Job owns, in the order in which they are created."""
TREE: Final = (*PARTS, POD)
"""With the pods, which their ProcessingElements own."""

OF_JOB: Final = f"{GROUP}/job"
OF_PE: Final = f"{GROUP}/pe"
GENERATION: Final = f"{GROUP}/generation"
LAUNCH_COUNT: Final = f"{GROUP}/launch-count"
JOB_UID: Final = f"{GROUP}/job-uid"
"""A label, ours: the uid of the Job that an object belongs to. Names come again, uids do not."""
ATTEMPT: Final = f"{GROUP}/attempt"
"""A label, ours, of parts and recovered Jobs: 1 for the first submission."""
CONTENT_ID: Final = f"{GROUP}/contentId"
"""An annotation of a ConfigMap and of a pod: the digest of what the pod runs."""
BYPASS: Final = f"{GROUP}/bypass"
"""A label of pods, of approach 1 alone: this one is deleted for a recovery."""
TAKEN_OVER: Final = f"{GROUP}/taken-over"
"""An annotation of Jobs, of rejected designs alone: another process goes on with it."""
RECOVERED: Final = f"{GROUP}/recovered"
"""A finalizer, ours, of a Job that replaces an interrupted one, until the record of that is gone:
a user who deletes the Job in between does not get it back."""


class Phase:
    """`spec.phase` of a Job. One that has another value, or none, was not submitted."""

    SUBMISSION: Final = "Submission"
    SUBMITTED: Final = "Submitted"


OPERATORS_FIELDS: Final = ("phase", "id", "generationId", "statistics", "bundleRevision")
"""Fields of a Job's spec that the operator writes; the others are its user's."""
