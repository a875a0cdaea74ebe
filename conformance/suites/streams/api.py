"""The names of the API under test, as claims, scenarios and faults use them."""

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
COUNTED: Final = {
    CONFIG_MAP: "configMapCount",
    SERVICE: "serviceCount",
    HOST_POOL: "hostPoolCount",
    EXPORT: "exportCount",
    IMPORT: "importCount",
    PARALLEL_REGION: "parallelRegionCount",
    PROCESSING_ELEMENT: "processingElementCount",
}
"""The statistics of a Job: how many parts of each kind its submission makes."""
TREE: Final = (*COUNTED, POD)

OF_JOB: Final = f"{GROUP}/job"
JOB_UID: Final = f"{GROUP}/job-uid"
ATTEMPT: Final = f"{GROUP}/attempt"
GENERATION: Final = f"{GROUP}/generation"
LAUNCH_COUNT: Final = f"{GROUP}/launch-count"
OF_PE: Final = f"{GROUP}/pe"
CONTENT_ID: Final = f"{GROUP}/contentId"
"""An annotation of a ConfigMap and of a pod: the digest of what the pod runs."""
SUBMISSION: Final = "Submission"
SUBMITTED: Final = "Submitted"

STRICT: Final = "strict"
SEED: Final = "seed"
OPERATORS_FIELDS: Final = ("phase", "id", "generationId", "statistics", "bundleRevision")
"""Fields of a Job's spec that the operator writes; the others are its user's."""
