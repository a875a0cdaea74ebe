"""The pod that runs a suite: its command line, and a container that may do nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from conformance.worlds.existing.well_known import CONTROL_PLANE
from reference_controller.runtime.options import OptionsError
from vocabulary.implementations import named_roles
from vocabulary.selectors import Requirement, requirements

CONTAINER: Final = "assay"
USER: Final = 65532
"""An unprivileged user id; the image has it, too."""
UNPRIVILEGED: Final[dict[str, Any]] = {
    "runAsNonRoot": True,
    "runAsUser": USER,
    "runAsGroup": USER,
    "fsGroup": USER,
    "seccompProfile": {"type": "RuntimeDefault"},
}
"""The security context of a pod."""
POD_ADDRESS: Final = "POD_IP"
"""The variable with the address at which the API server calls the webhooks."""
USABLE: Final = "assay.dev/usable"
"""The label of the nodes that runs may break, unless others are chosen."""
END_SECONDS: Final = 180
"""The time that an interrupted suite may take to clean up."""
TMP: Final = "/tmp"
_OPPOSITE: Final = {
    "In": "NotIn",
    "NotIn": "In",
    "Exists": "DoesNotExist",
    "DoesNotExist": "Exists",
}

_IMAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,511}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteRun:
    """The arguments of a suite in a cluster, and its image.

    Raises OptionsError for a malformed image name or selector.
    """

    image: str
    selection: tuple[str, ...]
    implementation: str
    node_selector: str
    """Chooses the nodes that runs may break."""
    time_limit: str
    """A duration such as 2h."""
    object_limit: int
    pod_image: str
    """For the pods of runs; empty where kubelets are fake."""
    operator_image: str
    """Of the operators under test; empty: they are processes in the suite's pod."""

    def __post_init__(self) -> None:
        operators = named_roles(self.operator_image).values() or (self.operator_image,)
        for image in (self.image, *filter(None, (self.pod_image, *operators))):
            if not _IMAGE.fullmatch(image):
                raise OptionsError(
                    f"image {image!r} is no image's name; give one such as "
                    "registry.example.org/assay:1.0"
                )
        try:
            requirements(self.node_selector)
        except ValueError as error:
            raise OptionsError(
                f"node selector {self.node_selector!r}: {error}; give one such as {USABLE}=true"
            ) from error

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of `assay run`; the pod's service account determines the user."""
        return (
            *self.selection,
            *("--cluster", "existing", "--yes"),
            *("--implementation", self.implementation),
            *("--webhook-host", f"$({POD_ADDRESS})"),
            *("--node-selector", self.node_selector),
            *("--time-limit", self.time_limit),
            *("--object-limit", str(self.object_limit)),
            *(("--pod-image", self.pod_image) if self.pod_image else ()),
            *(("--operator-image", self.operator_image) if self.operator_image else ()),
        )


def container(image: str, command: tuple[str, ...], results: str) -> dict[str, Any]:
    """The container, with the volumes `results` (mounted there) and `tmp`."""
    return {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "args": list(command),
        "env": [
            {"name": POD_ADDRESS, "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        ],
        # What a suite says last, a failure's reason or the verdicts, is then in the pod's status.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "resources": {
            "requests": {"cpu": "500m", "memory": "512Mi"},
            "limits": {"memory": "2Gi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "tmp", "mountPath": TMP},
            {"name": "results", "mountPath": results},
        ],
    }


def pod_spec(service_account: str, node_selector: str) -> dict[str, Any]:
    """All of the pod but its containers and volumes.

    It keeps off the nodes that the selector chooses, if there are others: runs break these, and
    would lack one that has a guest.
    """
    elsewhere = [
        {"weight": 100, "preference": {"matchExpressions": [expression]}}
        for demand in requirements(node_selector)
        for expression in _unmet(demand)
    ]
    return {
        "serviceAccountName": service_account,
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": END_SECONDS,
        "nodeSelector": {"kubernetes.io/os": "linux"},
        "tolerations": [{"key": CONTROL_PLANE, "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": elsewhere}
        },
        "securityContext": UNPRIVILEGED,
    }


def _unmet(demand: Requirement) -> Iterator[dict[str, Any]]:
    """Selectors that together match exactly the nodes that do not meet the requirement."""
    key, operator, values = demand
    if operator in _OPPOSITE:
        expression: dict[str, Any] = {"key": key, "operator": _OPPOSITE[operator]}
        yield {**expression, "values": sorted(values)} if values else expression
        return
    beyond, bound = operator == "Gt", int(next(iter(values)))
    yield {"key": key, "operator": "DoesNotExist"}
    yield {
        "key": key,
        "operator": "Lt" if beyond else "Gt",
        "values": [str(bound + 1 if beyond else bound - 1)],
    }
