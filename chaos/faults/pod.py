"""Pods that die, are evicted or deleted, and pods that get stuck on their way in or out.

How a pod behaves is written on it as annotations which the simulated kubelet, the KWOK
stages and the entry point of a real container all follow, so one fault works everywhere.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final, Literal, TypeAlias

from msgspec import Meta

from chaos.choice import PodChoice, current, described
from chaos.fault import Fault, fault
from chaos.faults.edit_object import EditObject
from chaos.faults.editing import edit, inverse_patch
from chaos.fields import Name
from chaos.ground import Ground
from vocabulary.kinds import POD
from vocabulary.objects import uid_of
from vocabulary.requests import Create, Delete

EXIT: Final = "assay.dev/exit"
REASON: Final = "assay.dev/reason"
HOLD: Final = "assay.dev/hold"
STUCK_TERMINATING: Final = "assay.dev/stuck-terminating"

GraceSeconds: TypeAlias = Annotated[int, Meta(ge=0, le=86_400)]


@dataclass(frozen=True, slots=True)
class _OnPods(Fault):
    """A fault that strikes a pod by its name, or each pod of a choice."""

    pod: Name | PodChoice


@dataclass(frozen=True, slots=True)
class _PodAnnotations(_OnPods):
    """A fault that annotates a pod by one merge patch, and its inverse."""

    @abstractmethod
    def annotations(self) -> Mapping[str, str]:
        """The annotations that the patch writes."""

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:
        name = str(self.pod)
        old = current(ground, POD, name)
        undo = inverse_patch(old, {"metadata": {"annotations": self.annotations()}})
        return (EditObject("Pod", name, undo, actor="chaos", uid=uid_of(old)),)

    def inject(self, ground: Ground) -> None:
        patch = {"metadata": {"annotations": self.annotations()}}
        edit(ground, POD, str(self.pod), lambda _: patch)


@fault("kill_pod")
class KillPod(_PodAnnotations):
    """End a pod's container with an exit code, as a crash or the kernel would."""

    exit_code: Annotated[int, Meta(ge=0, le=255)] = 1
    reason: str = ""
    """The reason that the kubelet gives, for example OOMKilled; empty: its own words."""

    def annotations(self) -> Mapping[str, str]:
        reason = {REASON: self.reason} if self.reason else {}
        return {EXIT: str(self.exit_code), **reason}

    def describe(self) -> str:
        reason = f" ({self.reason})" if self.reason else ""
        return f"kill {described('pod', self.pod)} with exit code {self.exit_code}{reason}"


@fault("stick_pod")
class StickPod(_PodAnnotations):
    """Keep a pod where it is: terminating, pending, in its init or image pull, or not ready."""

    state: Literal["terminating", "pending", "init", "image", "not_ready"] = "terminating"

    def annotations(self) -> Mapping[str, str]:
        if self.state == "terminating":
            return {STUCK_TERMINATING: "true"}
        return {HOLD: self.state.replace("_", "")}

    def describe(self) -> str:
        stuck = {
            "terminating": "terminating, once it is deleted",
            "pending": "pending",
            "init": "in its init container",
            "image": "in its image pull",
            "not_ready": "not ready",
        }
        return f"make {described('pod', self.pod)} stick {stuck[self.state]}"


@dataclass(frozen=True, slots=True)
class _PodRemoval(_OnPods):
    """A fault that ends a pod for good, with a grace period: there is no way back."""

    grace_period_seconds: GraceSeconds | None = None
    """None: the pod's own."""

    leaves_nothing: ClassVar[bool] = True

    def inverse(self, ground: Ground) -> tuple[Fault, ...]:  # noqa: ARG002  # see leaves_nothing
        return ()

    def _described(self, verb: str) -> str:
        grace = self.grace_period_seconds
        with_grace = "" if grace is None else f" with grace period {grace}s"
        return f"{verb} {described('pod', self.pod)}{with_grace}"


@fault("evict_pod")
class EvictPod(_PodRemoval):
    """Evict a pod through the Eviction API: it gets the condition DisruptionTarget."""

    def inject(self, ground: Ground) -> None:
        name = str(self.pod)
        eviction: dict[str, Any] = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": ground.namespace},
        }
        if self.grace_period_seconds is not None:
            eviction["deleteOptions"] = {"gracePeriodSeconds": self.grace_period_seconds}
        ground.call(Create(POD, eviction, ground.namespace, name, subresource="eviction"))

    def describe(self) -> str:
        return self._described("evict")


@fault("delete_pod")
class DeletePod(_PodRemoval):
    """Delete a pod, gracefully unless the grace period is 0."""

    def inject(self, ground: Ground) -> None:
        ground.call(
            Delete(
                POD,
                ground.namespace,
                str(self.pod),
                grace_period_seconds=self.grace_period_seconds,
            )
        )

    def describe(self) -> str:
        return self._described("delete")
