"""Adapt manifests to a run's cluster: namespace, nodes, and pod behavior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from chaos.ground import FaultRefusedError
from clusters.behaviour import expand, with_time_to_stop
from clusters.containers.pods import RealContainers, why_not
from conformance.left_behind.clean import RUN_LABEL
from conformance.manifests.pod_templates import map_pods
from conformance.suite import Durations
from vocabulary.kinds import POD, Kind
from vocabulary.objects import Object, get_path, labels_of, meta
from vocabulary.requests import Patch, Request

STUCK_ATTEMPTS: Final = 2
"""Pods that cannot be stopped withstand their kubelet for so many attempts."""


@dataclass(frozen=True, slots=True)
class ManifestForRun:
    """One run's."""

    namespace: str
    containers: RealContainers | None
    """Where kubelets are real; None: fake ones read the annotations themselves."""

    @staticmethod
    def of(
        namespace: str, image: str, durations: Durations, *, counts_requests: bool
    ) -> ManifestForRun:
        """For a run with these durations; without an image no kubelet is real."""
        stuck_us = STUCK_ATTEMPTS * durations.attempt_bound_us
        containers = RealContainers(image, stuck_us, counts_requests) if image else None
        return ManifestForRun(namespace, containers)

    def tailored(self, obj: Object, kind: Kind) -> dict[str, Any]:
        """The object as it is to be created, of that kind."""
        pods = map_pods(expand(obj), self._pod)
        if kind.namespaced:
            metadata = {"namespace": self.namespace, **meta(pods)}
        else:
            metadata = {**meta(pods), "labels": {**labels_of(pods), RUN_LABEL: self.namespace}}
        return {**pods, "metadata": metadata}

    def require_possible(self, request: Request) -> None:
        """FaultRefusedError if a fault asks of a pod what its real kubelet cannot do."""
        if self.containers is None or not isinstance(request, Patch) or request.kind != POD:
            return
        wishes = get_path(request.body, "metadata.annotations") or {}
        if problem := why_not(wishes, runs=True):
            raise FaultRefusedError(problem)

    def _pod(self, pod: Object) -> dict[str, Any]:
        containers = self.containers
        played = with_time_to_stop(pod) if containers is None else containers.play(pod)
        spec = played["spec"]
        selector = {**(spec.get("nodeSelector") or {}), RUN_LABEL: self.namespace}
        return {**played, "spec": {**spec, "nodeSelector": selector}}
