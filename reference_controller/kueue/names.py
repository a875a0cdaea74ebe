"""The names of the API that is served: kinds, labels, conditions, reasons, settings.

They are those of the norm and of the released controller. What is our own says so.
"""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

GROUP: Final = "kueue.x-k8s.io"
VERSION: Final = "v1beta1"
WORKLOAD: Final = Kind(GROUP, VERSION, "Workload", "workloads")
LOCAL_QUEUE: Final = Kind(GROUP, VERSION, "LocalQueue", "localqueues")
CLUSTER_QUEUE: Final = Kind(GROUP, VERSION, "ClusterQueue", "clusterqueues", namespaced=False)
RESOURCE_FLAVOR: Final = Kind(GROUP, VERSION, "ResourceFlavor", "resourceflavors", namespaced=False)
PRIORITY_CLASS: Final = Kind(
    GROUP, VERSION, "WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False
)
KINDS: Final = (WORKLOAD, LOCAL_QUEUE, CLUSTER_QUEUE, RESOURCE_FLAVOR, PRIORITY_CLASS)

JOB_SET: Final = Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
APP_WRAPPER: Final = Kind("workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers")

QUEUE: Final = f"{GROUP}/queue-name"
"""A label: the LocalQueue that a job waits in."""
PRIORITY: Final = f"{GROUP}/priority-class"
"""A label: the WorkloadPriorityClass of a job."""
MANAGED: Final = f"{GROUP}/managed"
"""A label of pods: they wait for quota themselves."""
ADMISSION_GATE: Final = f"{GROUP}/admission"
"""The scheduling gate of a pod that waits for quota."""
GROUP_NAME: Final = f"{GROUP}/pod-group-name"
"""A label of pods that are admitted together, and of their Workload."""
GROUP_TOTAL: Final = f"{GROUP}/pod-group-total-count"
"""An annotation of these: how many pods the group has."""
FAST_ADMISSION: Final = f"{GROUP}/pod-group-fast-admission"
"""An annotation of these: all pods are alike, so the first stands for all."""
GROUP_SERVING: Final = f"{GROUP}/pod-group-serving"
"""An annotation of these: the group never ends."""
RETRIABLE: Final = f"{GROUP}/retriable-in-group"
"""An annotation of these: false if the pod is not replaced once it has failed."""
JOB_UID: Final = f"{GROUP}/job-uid"
"""A label of Workloads: the uid of the job that it stands for."""
OF_WORKLOAD: Final = f"{GROUP}/workload"
"""Our own, a label of pods: the Workload under whose quota they run."""
POD_SET: Final = f"{GROUP}/podset"
"""A label of pods: the pod set of that Workload that they belong to."""
IN_USE: Final = f"{GROUP}/resource-in-use"
"""The finalizer that keeps a Workload while its quota is held, and a queue or flavor while it is
used."""


class Condition:
    """`status.conditions[].type` of a Workload, and of a queue."""

    QUOTA_RESERVED: Final = "QuotaReserved"
    ADMITTED: Final = "Admitted"
    PODS_READY: Final = "PodsReady"
    EVICTED: Final = "Evicted"
    PREEMPTED: Final = "Preempted"
    FINISHED: Final = "Finished"
    DEACTIVATION_TARGET: Final = "DeactivationTarget"
    ACTIVE: Final = "Active"


class Reason:
    """`status.conditions[].reason`."""

    QUOTA_RESERVED: Final = "QuotaReserved"
    ADMITTED: Final = "Admitted"
    PENDING: Final = "Pending"
    AWAITS_PREEMPTED: Final = "WaitingForPreemptedWorkloads"
    NO_RESERVATION: Final = "NoReservation"
    PODS_READY: Final = "PodsReady"
    PODS_READY_TIMEOUT: Final = "PodsReadyTimeout"
    INACTIVE: Final = "WorkloadInactive"
    REQUEUING_LIMIT: Final = "RequeuingLimitExceeded"
    JOB_FINISHED: Final = "JobFinished"
    PREEMPTED: Final = "Preempted"
    IN_CLUSTER_QUEUE: Final = "InClusterQueue"
    IN_COHORT: Final = "InCohortReclamation"
    WHILE_BORROWING: Final = "InCohortReclaimWhileBorrowing"
    CLUSTER_QUEUE_STOPPED: Final = "ClusterQueueStopped"
    LOCAL_QUEUE_STOPPED: Final = "LocalQueueStopped"
    WAIT_FOR_RECOVERY: Final = "WaitForRecovery"
    READY: Final = "Ready"
    STOPPED: Final = "Stopped"
    TERMINATING: Final = "Terminating"
    FLAVOR_NOT_FOUND: Final = "FlavorNotFound"
    NO_CLUSTER_QUEUE: Final = "ClusterQueueDoesNotExist"
    CLUSTER_QUEUE_INACTIVE: Final = "ClusterQueueIsInactive"


class Timestamp:
    """`requeuingStrategy.timestamp`."""

    EVICTION: Final = "Eviction"
    CREATION: Final = "Creation"


class Release:
    """`integrations.quotaReleaseStrategy`, by framework."""

    ON_QUOTA_RELEASED: Final = "OnQuotaReleased"
    ON_TERMINAL: Final = "OnTerminal"


class Strategy:
    """`queueingStrategy` of a ClusterQueue."""

    BEST_EFFORT_FIFO: Final = "BestEffortFIFO"
    STRICT_FIFO: Final = "StrictFIFO"


class StopPolicy:
    """`stopPolicy` of a ClusterQueue or LocalQueue."""

    NONE: Final = "None"
    HOLD: Final = "Hold"
    HOLD_AND_DRAIN: Final = "HoldAndDrain"


class Preemption:
    """The policies of `preemption` of a ClusterQueue."""

    NEVER: Final = "Never"
    LOWER: Final = "LowerPriority"
    LOWER_OR_NEWER: Final = "LowerOrNewerEqualPriority"
    ANY: Final = "Any"
