"""A session on a kind cluster of the suite's own: borrowed nodes, and all of it may be stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

from chaos.ground import FaultRefusedError
from conformance.implementations.under_test import UnderTest
from conformance.worlds.control_plane.component import MANAGER, Component
from conformance.worlds.existing.preflight import Undertaking
from conformance.worlds.existing.session import ExistingSession
from conformance.worlds.kind.collector_probe import await_collector
from conformance.worlds.kind.component import components, signal_component
from conformance.worlds.kind.kubelets import Kubelets
from conformance.worlds.kind.node_containers import NodeContainers
from conformance.worlds.kind.pod_processes import PodProcesses, signal_containers
from conformance.worlds.kind.programs import KindError
from conformance.worlds.names import ClusterName
from vocabulary.objects import Object


class KindSession(ExistingSession):
    """Runs side by side, each on nodes lent to it; those that stop more come one by one."""

    cluster: ClassVar[ClusterName] = "kind"

    def __init__(
        self,
        implementations: Mapping[str, UnderTest],
        undertaking: Undertaking,
        nodes: NodeContainers,
        extra_crds: Iterable[Object] = (),
        out: Path | None = None,
        at_a_time: int = 1,
    ) -> None:
        """`nodes` are those of the cluster that was examined for `undertaking`."""
        super().__init__(implementations, undertaking, extra_crds, out, at_a_time)
        self._containers = nodes
        self._kubelets = Kubelets(nodes)
        self._pod_processes = PodProcesses(nodes)
        self.signal = self._signal

    def _open(self, begun: ExitStack) -> None:
        begun.callback(self._kubelets.stop)
        begun.callback(self._pod_processes.stop)
        super()._open(begun)
        self.recorder.listeners += [self._kubelets.heard, self._pod_processes.heard]

    def components(
        self, zones: Mapping[str, str], record: Callable[[str, Any], None]
    ) -> dict[str, Component]:
        return components(self._containers, zones, record)

    def _signal(self, pod: Object, signal: str) -> None:
        try:
            signal_containers(self._containers, pod, signal)
        except KindError as error:
            raise FaultRefusedError(str(error)) from error

    def _let_controllers_notice(self) -> None:
        """Start the controller manager anew, and it asks what there is, instead of waiting
        until it would have asked."""
        signal_component(self._containers, MANAGER, "KILL")
        self._await_prepared(self.name)
        await_collector(self.connections["harness"], self.implementations, self.name)
