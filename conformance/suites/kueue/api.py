"""The names of the API under test, as claims, scenarios and faults use them."""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

GROUP: Final = "kueue.x-k8s.io"
VERSION: Final = "v1beta1"
"""Every release serves it; identities are those of group and kind."""
WORKLOAD: Final = Kind(GROUP, VERSION, "Workload", "workloads")
LOCAL_QUEUE: Final = Kind(GROUP, VERSION, "LocalQueue", "localqueues")
CLUSTER_QUEUE: Final = Kind(GROUP, VERSION, "ClusterQueue", "clusterqueues", namespaced=False)
RESOURCE_FLAVOR: Final = Kind(GROUP, VERSION, "ResourceFlavor", "resourceflavors", namespaced=False)
JOB_SET: Final = Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
APP_WRAPPER: Final = Kind("workload.codeflare.dev", "v1beta2", "AppWrapper", "appwrappers")
IN_USE: Final = f"{GROUP}/resource-in-use"
"""The finalizer that keeps what holds or gives quota."""
GROUP_NAME: Final = f"{GROUP}/pod-group-name"
"""A label of pods that wait together."""
GROUP_TOTAL: Final = f"{GROUP}/pod-group-total-count"
"""An annotation of these: how many they are."""
GROUP_SERVING: Final = f"{GROUP}/pod-group-serving"
"""The same: "true" if each of them is replaced when it ends."""
POD_SET: Final = f"{GROUP}/podset"
"""A label of admitted pods: their pod set."""
RETRIABLE: Final = f"{GROUP}/retriable-in-group"
"""Another: false for those that are not replaced once they have failed."""
PRIORITY_CLASS: Final = Kind(
    GROUP, VERSION, "WorkloadPriorityClass", "workloadpriorityclasses", namespaced=False
)
PRIORITY_LABEL: Final = f"{GROUP}/priority-class"
QUEUE_LABEL: Final = f"{GROUP}/queue-name"

KEP: Final = "kep"
"""The edition that is the norm, to the letter."""
RELEASED: Final = "released"
"""The edition of what released controllers promise instead."""

PODS_READY_TIMEOUT: Final = "PodsReadyTimeout"
"""The reason of an eviction since pods were not ready in time."""
INACTIVE_REASONS: Final = {
    KEP: ("WorkloadInactive",),
    RELEASED: (
        "InactiveWorkload",
        "Deactivated",
        "DeactivatedDueToRequeuingLimitExceeded",
    ),
}
"""The reasons of the eviction of a deactivated Workload, by edition."""

FRAMEWORKS: Final = {
    "Job.batch": "batch/job",
    "Pod": "pod",
    "StatefulSet.apps": "pod",
    "PyTorchJob.kubeflow.org": "kubeflow.org/pytorchjob",
    "RayCluster.ray.io": "ray.io/raycluster",
    "RayJob.ray.io": "ray.io/rayjob",
    str(JOB_SET): "jobset.x-k8s.io/jobset",
    str(APP_WRAPPER): "workload.codeflare.dev/appwrapper",
}
"""The names of kinds of jobs in the configuration."""
ON_TERMINAL: Final = "OnTerminal"
"""The strategy of quota that is held until its pods are terminal."""
EVICTION: Final = "Eviction"
CREATION: Final = "Creation"
"""The values of `requeuingStrategy.timestamp`."""
STOPPED_REASONS: Final = ("ClusterQueueStopped", "LocalQueueStopped")
"""The reasons of evictions from queues that are drained."""
