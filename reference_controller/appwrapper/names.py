"""The names of the API that is served: labels, annotations, conditions, reasons, phases.

They are those of the released operator, so that a manifest, a dashboard or Kueue cannot tell
the two apart. What is our own says so.
"""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

DOMAIN: Final = "workload.codeflare.dev"
APPWRAPPER: Final = Kind(DOMAIN, "v1beta2", "AppWrapper", "appwrappers")
ANNOTATION_PREFIX: Final = f"{DOMAIN}.appwrapper/"
"""Yes, a dot before `appwrapper`: that is how the released operator spells it."""

CONTROLLER_NAME: Final = f"{DOMAIN}/appwrapper-controller"
"""The value of `spec.managedBy` that means us; absent means us too."""
FINALIZER: Final = f"{DOMAIN}/finalizer"

APPWRAPPER_LABEL: Final = f"{DOMAIN}/appwrapper"
USER_LABEL: Final = f"{DOMAIN}/user"
USER_ID_LABEL: Final = f"{DOMAIN}/userid"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"

OWNER_UID_LABEL: Final = f"{ANNOTATION_PREFIX}owner-uid"
"""Our own, on pods: whose pod it is. A name says less, since names are used again."""
ATTEMPT_LABEL: Final = f"{ANNOTATION_PREFIX}attempt"
"""Our own, a label of pods and an annotation of components: which attempt created it."""
COMPONENT_LABEL: Final = f"{ANNOTATION_PREFIX}component"
"""Our own, on pods: the index of the component that it belongs to."""


class Phase:
    """`status.phase`."""

    EMPTY: Final = ""
    SUSPENDED: Final = "Suspended"
    RESUMING: Final = "Resuming"
    RUNNING: Final = "Running"
    RESETTING: Final = "Resetting"
    SUSPENDING: Final = "Suspending"
    SUCCEEDED: Final = "Succeeded"
    FAILED: Final = "Failed"
    TERMINATING: Final = "Terminating"


class Condition:
    """`status.conditions[].type`."""

    QUOTA_RESERVED: Final = "QuotaReserved"
    RESOURCES_DEPLOYED: Final = "ResourcesDeployed"
    PODS_READY: Final = "PodsReady"
    UNHEALTHY: Final = "Unhealthy"
    DELETING_RESOURCES: Final = "DeletingResources"


class Reason:
    """`status.conditions[].reason`, beyond those that are named like a phase."""

    CREATE_FAILED: Final = "CreateFailed"
    MISSING_COMPONENT: Final = "MissingComponent"
    FAILED_COMPONENT: Final = "FailedComponent"
    FOUND_FAILED_PODS: Final = "FoundFailedPods"
    FOUND_NO_FAILED_PODS: Final = "FoundNoFailedPods"
    AUTOPILOT_NO_EXECUTE: Final = "AutopilotNoExecute"
    INSUFFICIENT_PODS_READY: Final = "InsufficientPodsReady"
    SUFFICIENT_PODS_READY: Final = "SufficientPodsReady"
    DELETION_INITIATED: Final = "DeletionInitiated"
    DELETION_COMPLETE: Final = "DeletionComplete"
    CREATION_INITIATED: Final = "ComponentCreationInitiated"
    CREATED: Final = "ComponentCreatedSuccessfully"
    COMPONENT_DELETED: Final = "CompononetDeleted"
    """Misspelled as in the released API; clients match on it."""


class Stamp:
    """Our own explicit timestamps (MicroTime) in status, one per timer.

    A condition's lastTransitionTime moves only when its status flips, and has whole seconds:
    no timer hangs on one.
    """

    ATTEMPT_STARTED: Final = "attemptStartedAt"
    DEPLOYED: Final = "deployedAt"
    """All components of the attempt exist: admission and warm-up count from here."""
    UNHEALTHY_SINCE: Final = "unhealthySince"
    DELETION_STARTED: Final = "deletionStartedAt"
    """The first ordinary delete of this deletion was accepted: force counts from here."""
    PAUSE_STARTED: Final = "pauseStartedAt"
    """The deletion of a reset was complete: the retry pause counts from here."""
    FAILED: Final = "failedAt"
    SUCCEEDED: Final = "succeededAt"
