"""What a run's cluster needs changed in manifests: namespace, nodes, and how pods are played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.clean import RUN_LABEL
from conformance.pod_templates import map_pods
from fixtures.behaviour import expand
from fixtures.containers.pods import RealContainers
from vocabulary.objects import Object, meta


@dataclass(frozen=True, slots=True)
class Tailor:
    """One run's."""

    namespace: str
    containers: RealContainers | None
    """Where kubelets are real; None: fake ones read the annotations themselves."""

    def tailored(self, obj: Object) -> dict[str, Any]:
        """The object as it is to be created."""
        pods = map_pods(expand(obj), self._pod)
        return {**pods, "metadata": {"namespace": self.namespace, **meta(pods)}}

    def _pod(self, pod: Object) -> dict[str, Any]:
        played = pod if self.containers is None else self.containers.play(pod)
        spec = played["spec"]
        selector = {**(spec.get("nodeSelector") or {}), RUN_LABEL: self.namespace}
        return {**played, "spec": {**spec, "nodeSelector": selector}}
