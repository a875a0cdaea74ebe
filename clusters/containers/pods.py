"""Rewrite pod templates so that pods follow their behaviour annotations on real kubelets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final

from clusters import behaviour
from vocabulary.clock import Micros
from vocabulary.objects import Object, annotations_of
from vocabulary.quantities import parse_quantity

FOLDER: Final = "/assay"
WISHES_VOLUME: Final = "assay-wishes"
KEPT_VOLUME: Final = "assay-kept"
NEVER_VOLUME: Final = "assay-never"
GATE: Final = "assay-gate"
"""The init container that delays the pod."""
MISSING_IMAGE: Final = "localhost/assay.dev/there-is-no-such-image:1"
"""There is no such registry: pulling fails immediately, with or without a network."""
WISHES: Final = (
    behaviour.EXIT,
    behaviour.EXIT_TIMES,
    behaviour.REASON,
    behaviour.RUN_FOR,
    behaviour.READY_AFTER,
    behaviour.HOLD,
    behaviour.TERM_FOR,
    behaviour.TERM_EXIT,
    behaviour.STUCK_TERMINATING,
)
"""The annotations that the script reads."""
OUT_OF_MEMORY: Final = "OOMKilled"
SIGKILL_CODE: Final = "137"
FITS_CPU: Final = 8
"""A container that requests more is meant to be unschedulable."""
CPU: Final = "10m"
"""The request of all other containers: they are nearly idle, and real nodes may be small."""
MEMORY: Final = "64Mi"
"""The memory limit, which OOMKilled containers exceed."""
NOBODY: Final = 65532
CONFINED: Final = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
    "runAsNonRoot": True,
    "runAsUser": NOBODY,
}
"""The security context required by the Pod Security level `restricted`."""
IS_READY: Final = f'read -r hold < {FOLDER}/wishes/hold; [ "$hold" != {behaviour.HOLD_NOT_READY} ]'


@dataclass(frozen=True, slots=True)
class RealContainers:
    """Rewrites pods for real kubelets."""

    image: str
    """An image with a POSIX shell and `sleep`."""
    stuck_us: Micros
    """The grace period of a pod that cannot be stopped."""
    counts_requests: bool = False
    """Requests stay as they are written: quotas count them."""

    def play(self, pod: Object) -> dict[str, Any]:
        """Return the pod (template), with containers that follow its annotations.

        Names, restart policies, placement, devices and security contexts are kept; images,
        commands and, unless quotas count them, CPU and memory requests are replaced. Behaviour
        lines must have been expanded before. Raises BehaviourError for a behaviour that real
        kubelets do not support.
        """
        wishes = annotations_of(pod)
        if problem := why_not(wishes, runs=False):
            raise behaviour.BehaviourError(problem)
        spec = behaviour.with_time_to_stop(pod, self.stuck_us)["spec"]
        hold = wishes.get(behaviour.HOLD)
        confined = _confined(spec)
        containers = [self._container(each, "main", confined) for each in spec["containers"]]
        if hold == behaviour.HOLD_IMAGE:
            containers[0] |= {"image": MISSING_IMAGE}
        if hold == behaviour.HOLD_NOT_READY:
            probe = {"exec": {"command": ["sh", "-c", IS_READY]}, "periodSeconds": 1}
            containers = [{**each, "readinessProbe": probe} for each in containers]
        volumes = [*(spec.get("volumes") or ()), *_volumes()]
        if hold == behaviour.HOLD_PENDING:
            # Bound to a node but never started there: the volume cannot be mounted.
            volumes.append({"name": NEVER_VOLUME, "configMap": {"name": NEVER_VOLUME}})
            mount = {"name": NEVER_VOLUME, "mountPath": f"{FOLDER}/never"}
            containers[0]["volumeMounts"].append(mount)
        return {
            **pod,
            "spec": {
                "automountServiceAccountToken": False,
                "enableServiceLinks": False,
                **spec,
                **self._init_containers(wishes, spec, confined),
                "containers": containers,
                "volumes": volumes,
            },
        }

    def _container(self, container: Object, role: str, confined: Object) -> dict[str, Any]:
        return {
            "securityContext": confined,
            **container,
            "image": self.image,
            "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", script(), "assay", role, container["name"], FOLDER],
            **({} if self.counts_requests else _asked_little(container)),
            "volumeMounts": [
                *(container.get("volumeMounts") or ()),
                {"name": WISHES_VOLUME, "mountPath": f"{FOLDER}/wishes"},
                {"name": KEPT_VOLUME, "mountPath": f"{FOLDER}/kept"},
            ],
        }

    def _init_containers(
        self, wishes: Mapping[str, str], spec: Object, confined: Object
    ) -> dict[str, Any]:
        """The pod's own, preceded by one that delays the pod if an annotation asks for it."""
        own = [
            self._container(
                each, "sidecar" if each.get("restartPolicy") == "Always" else "init", confined
            )
            for each in spec.get("initContainers") or ()
        ]
        is_held = wishes.get(behaviour.HOLD) == behaviour.HOLD_INIT
        if is_held or behaviour.READY_AFTER in wishes:
            own.insert(0, self._container({"name": GATE}, "gate", confined))
        return {"initContainers": own} if own else {}


def why_not(wishes: Mapping[str, str | None], *, runs: bool) -> str:
    """Return why real kubelets do not support these annotations; empty if they do.

    `runs`: the annotations are patched onto an existing pod.
    """
    if wishes.get(behaviour.RESTART_AFTER):
        return f"{behaviour.RESTART_AFTER}: a real kubelet's back-off cannot be configured"
    ends_well = wishes.get(behaviour.EXIT) == "0"
    reason = wishes.get(behaviour.REASON)
    if reason == ("Completed" if ends_well else "Error"):
        reason = ""
    if reason and reason != OUT_OF_MEMORY:
        return (
            f"{behaviour.REASON}: {reason}: the container runtime sets its own reason; only "
            f"{OUT_OF_MEMORY} can be produced"
        )
    if reason and wishes.get(behaviour.EXIT) != SIGKILL_CODE:
        return f"{behaviour.REASON}: {reason} requires exit code {SIGKILL_CODE}"
    if runs and wishes.get(behaviour.HOLD):
        return f"{behaviour.HOLD}: a real pod can be held only when it is created"
    return ""


@lru_cache(maxsize=1)
def script() -> str:
    """The containers' script, without comments since every pod carries it."""
    text = resources.files(__package__).joinpath("entrypoint.sh").read_text("utf-8")
    lines = (line for line in text.splitlines() if line and not line.lstrip().startswith("#"))
    return "\n".join(lines) + "\n"


def _confined(spec: Object) -> dict[str, Any]:
    """The default security context of the pod's containers; the pod's own settings prevail."""
    said = set(spec.get("securityContext") or ())
    if said & {"runAsUser", "runAsNonRoot"}:
        said |= {"runAsUser", "runAsNonRoot"}  # either makes sense only with its other
    return {key: value for key, value in CONFINED.items() if key not in said}


def _volumes() -> list[dict[str, Any]]:
    items = [
        {
            "path": wish.removeprefix(behaviour.PREFIX),
            "fieldRef": {"fieldPath": f"metadata.annotations['{wish}']"},
        }
        for wish in WISHES
    ]
    return [
        {"name": WISHES_VOLUME, "downwardAPI": {"items": items}},
        {"name": KEPT_VOLUME, "emptyDir": {}},
    ]


def _asked_little(container: Object) -> dict[str, Any]:
    asked = container.get("resources") or {}
    requests = dict(asked.get("requests") or {})
    limits = dict(asked.get("limits") or {})
    cpu = requests.get("cpu", limits.get("cpu", "0"))
    if parse_quantity(cpu) <= FITS_CPU:
        requests["cpu"] = CPU
        limits.pop("cpu", None)
    requests["memory"] = limits["memory"] = MEMORY
    return {"resources": {**asked, "requests": requests, "limits": limits}}
