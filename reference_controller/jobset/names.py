"""The names of the API that is served: labels, annotations, conditions, reasons, actions.

They are those of the norm and of the released controller. What is our own says so.
"""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

GROUP: Final = "jobset.x-k8s.io"
JOB_SET: Final = Kind(GROUP, "v1alpha2", "JobSet", "jobsets")
DOMAIN: Final = "jobset.sigs.k8s.io"

CONTROLLER_NAME: Final = f"{DOMAIN}/jobset-controller"
"""The value of `spec.managedBy` that means us; absent means us too."""

NAME: Final = f"{DOMAIN}/jobset-name"
UID: Final = f"{DOMAIN}/jobset-uid"
REPLICATED_JOB: Final = f"{DOMAIN}/replicatedjob-name"
REPLICAS: Final = f"{DOMAIN}/replicatedjob-replicas"
GLOBAL_REPLICAS: Final = f"{DOMAIN}/global-replicas"
INDEX: Final = f"{DOMAIN}/job-index"
GLOBAL_INDEX: Final = f"{DOMAIN}/job-global-index"
JOB_KEY: Final = f"{DOMAIN}/job-key"
"""A digest of the Job's namespace and name: exclusive topology tells Jobs apart by it."""
GROUP_NAME: Final = f"{DOMAIN}/group-name"
GROUP_REPLICAS: Final = f"{DOMAIN}/group-replicas"
GROUP_INDEX: Final = f"{DOMAIN}/job-group-index"
RESTART_ATTEMPT: Final = f"{DOMAIN}/restart-attempt"
"""How many counted restarts there had been when the Job was created."""
COORDINATOR: Final = f"{DOMAIN}/coordinator"
RESTART: Final = f"{DOMAIN}/restart"
"""An annotation: the Job has to be restarted, and that does not count."""
ALPHA: Final = f"alpha.{DOMAIN}/"
"""Begins the annotations by which users ask for features that may change."""
EXCLUSIVE_TOPOLOGY: Final = f"{ALPHA}exclusive-topology"

RESTARTS: Final = f"{DOMAIN}/restarts"
"""Our own, a label of Jobs: `status.restarts` when the Job was created."""
PARTIAL_RESTARTS: Final = f"{DOMAIN}/partial-restarts"
"""Our own, a label of Jobs: how many partial restarts had concerned the Job until then."""


class Action:
    """`spec.failurePolicy.rules[].action`."""

    FAIL_JOB_SET: Final = "FailJobSet"
    RESTART_JOB_SET: Final = "RestartJobSet"
    RESTART_UNCOUNTED: Final = "RestartJobSetAndIgnoreMaxRestarts"
    RESTART_REPLICATED_JOB: Final = "RestartReplicatedJob"
    RESTART_JOB: Final = "RestartJob"
    FAIL_JOB: Final = "FailJob"


class Condition:
    """`status.conditions[].type`."""

    COMPLETED: Final = "Completed"
    FAILED: Final = "Failed"
    SUSPENDED: Final = "Suspended"
    STARTING: Final = "StartupPolicyInProgress"
    STARTED: Final = "StartupPolicyCompleted"


class Reason:
    """`status.conditions[].reason` and `Event.reason`."""

    FAILED_JOBS: Final = "FailedJobs"
    REACHED_MAX_RESTARTS: Final = "ReachedMaxRestarts"
    FAIL_JOB_SET: Final = "FailJobSetFailurePolicyAction"
    ALL_JOBS_COMPLETED: Final = "AllJobsCompleted"
    SUSPENDED_JOBS: Final = "SuspendedJobs"
    RESUMED_JOBS: Final = "ResumeJobs"
    INVALID: Final = "InvalidJobSet"
    """Our own, of an Event: no webhook has refused what cannot be run."""
    JOB_CREATION_FAILED: Final = "JobCreationFailed"
    SERVICE_CREATION_FAILED: Final = "HeadlessServiceCreationFailed"
    IN_ORDER_STARTING: Final = "InOrderStartupPolicyInProgress"
    IN_ORDER_STARTED: Final = "InOrderStartupPolicyCompleted"
    SUCCESS_OUT_OF_REACH: Final = "SuccessPolicyOutOfReach"
    """Our own: Jobs that were left failed are too many for the success policy (JS-072)."""
