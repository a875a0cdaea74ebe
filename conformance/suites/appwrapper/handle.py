"""An AppWrapper as scenarios handle it: its phase, its resets, its pods, its parameters."""

from __future__ import annotations

from typing import Any, ClassVar

from conformance.handle import Handle
from conformance.manifests.pod_templates import with_annotations
from conformance.suites.appwrapper.api import APPWRAPPER, APPWRAPPER_LABEL, PARAMETER_PREFIX
from conformance.world import Condition
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, condition_status, get_path, is_terminating, name_of


class AppWrapper(Handle):
    """One AppWrapper of a scenario: its state now, and what a user can do to it."""

    kind: ClassVar[Kind] = APPWRAPPER

    @classmethod
    def asked(cls, manifest: Object, **parameters: str | int) -> Object:
        """With parameter annotations: `retryLimit=0`, `failureGracePeriodDuration="10m"`."""
        if not parameters:
            return manifest
        return with_annotations(
            manifest, {PARAMETER_PREFIX + key: str(value) for key, value in parameters.items()}
        )

    @property
    def phase(self) -> str:
        return str(get_path(self.now, "status.phase", ""))

    @property
    def resets(self) -> int:
        """The retry counter; absent means 0."""
        return int(get_path(self.now, "status.resettingCount", 0))

    @property
    def pods(self) -> list[Object]:
        """Its pods in order of their names, terminating ones included."""
        selector = f"{APPWRAPPER_LABEL}={self.name}"
        found = self.world.list(POD, selector, namespace=self.namespace)
        return sorted(found, key=name_of)

    # Conditions to wait for.

    def is_in(self, *phases: str) -> Condition:
        """It is in one of these phases."""
        return Condition(f"{self} is {' or '.join(phases)}", lambda: self.phase in phases)

    def has_reset(self, times: int) -> Condition:
        """Its retry counter has reached this number."""
        return Condition(f"{self} was reset {times} times", lambda: self.resets >= times)

    def shows(self, type_: str, status: str = "True") -> Condition:
        """It shows a condition with that status."""
        return Condition(
            f"{self} shows {type_}={status}",
            lambda: condition_status(self.now, type_) == status,
        )

    def wait_for_its_ttl(self, sign: Condition | None = None) -> None:
        """Wait for a sign that the TTL of its success is over; by default, its resources are
        gone."""
        world = self.world
        bound_us = world.patience_us + world.durations.success_ttl_us
        world.until(sign or self.shows("ResourcesDeployed", "False"), bound_us)

    def has_pods(self, count: int, *phases: str) -> Condition:
        """Exactly so many of its pods are in one of the phases (any phase if none is named)."""

        def holds() -> bool:
            alive = [pod for pod in self.pods if not is_terminating(pod)]
            return (
                sum(not phases or get_path(pod, "status.phase") in phases for pod in alive) == count
            )

        return Condition(f"{self} has {count} {'/'.join(phases) or ''} pods", holds)

    # What a user can do to it.

    def suspend(self, value: bool = True) -> None:
        """Set `spec.suspend`, as Kueue does when it evicts (True) or admits (False)."""
        self.patch({"spec": {"suspend": value}})

    def resume(self) -> None:
        self.suspend(False)

    def annotate(self, **parameters: str | int | None) -> None:
        """Set parameter annotations; None removes one."""
        body = {
            PARAMETER_PREFIX + key: None if value is None else str(value)
            for key, value in parameters.items()
        }
        self.patch({"metadata": {"annotations": body}})


def renamed(manifest: Object, name: str) -> dict[str, Any]:
    """The AppWrapper under another name, its components renamed alike."""

    def component(entry: Object) -> dict[str, Any]:
        template = entry["template"]
        old = name_of(template)
        renamed = {**template["metadata"], "name": f"{name}-{old.partition('-')[2] or old}"}
        return {**entry, "template": {**template, "metadata": renamed}}

    spec = manifest["spec"]
    return {
        **manifest,
        "metadata": {**manifest["metadata"], "name": name},
        "spec": {**spec, "components": [component(entry) for entry in spec["components"]]},
    }
