"""The conditions that are reported, for a cluster or one of its objects."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Condition(Enum):
    """A reason for a finding; the values are part of the JSON output."""

    NO_CONFIGURATION = "NoConfiguration"
    NO_SLACK_QUEUE = "NoSlackQueue"
    NOMINAL_ABOVE_SCHEDULABLE = "NominalAboveSchedulable"
    QUOTA_ABOVE_CLUSTER = "QuotaAboveCluster"
    QUOTA_BELOW_CLUSTER = "QuotaBelowCluster"
    NO_QUEUE_NAME = "NoQueueName"
    UNKNOWN_QUEUE = "UnknownQueue"
    OTHER_PRIORITY = "OtherPriority"
    PODS_NOT_READY = "PodsNotReady"
    EVICTED = "Evicted"
    BEYOND_NODE = "BeyondNode"
    OUT_OF_PROPORTION = "OutOfProportion"
    GDR_ON_SINGLE_POD = "GdrOnSinglePod"
    DEFAULT_SCHEDULER = "DefaultScheduler"
    GPUS_OUTSIDE_QUEUES = "GpusOutsideQueues"

    @property
    def is_note(self) -> bool:
        """True if it is for information only; notes do not change the exit code."""
        return self in (Condition.NO_CONFIGURATION, Condition.OTHER_PRIORITY)


@dataclass(frozen=True, slots=True)
class Finding:
    """A condition that holds at present."""

    condition: Condition
    subject: str
    """The object's kind, namespace and name; empty for the cluster."""
    text: str

    def __str__(self) -> str:
        level = "NOTE" if self.condition.is_note else "WARNING"
        return f"{level}: {f'{self.subject}: ' if self.subject else ''}{self.text}"
