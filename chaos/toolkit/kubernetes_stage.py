"""The stage of an ordinary `chaos run`: a namespace of the cluster that a kubeconfig names.

Configuration of an experiment, all of it optional:

| key | meaning |
|---|---|
| `kubeconfig`, `kube_context` | which cluster; else the one that kubectl would use |
| `namespace` | for activities without `ns`; else `default` |
| `operator_namespace`, `operator_deployment` | where the controller under test is deployed |
| `operator_command` | or a command line: the experiment then runs it itself |
| `operator_log` | where that one logs; else in a temporary folder |
| `operator_config` | its configuration as data, where it differs from the defaults |
| `seed` | for faults that choose at random |
| `undo_journal` | a file that remembers how to undo faults, should the run be killed |

An `operator_deployment` of `none` means that it runs elsewhere: no fault acts on its process.
"""

from __future__ import annotations

import atexit
import logging
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from chaoslib.exceptions import ActivityFailed

from chaos.ground import Processes
from chaos.injector import Injector
from chaos.subject_kind import registered
from chaos.toolkit.kubernetes_ground import DeployedOperator, KubernetesGround, OperatorDeployment
from chaos.toolkit.local_operator import LocalOperator
from chaos.toolkit.stage import Stage
from chaos.toolkit.watch_recorder import WatchRecorder
from chaos.undo_journal import UndoJournal
from reference_controller.runtime.connection import Connection, connect
from reference_controller.runtime.options import OptionsError
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError
from vocabulary.fault_effect import FaultEffect
from vocabulary.history import (
    Capabilities,
    Entry,
    Header,
    OperatorUnderTest,
    WorldFacts,
)
from vocabulary.kinds import DEPLOYMENT
from vocabulary.objects import meta
from vocabulary.requests import Get

USER_AGENT: Final = "assay chaos-toolkit"
TIMEOUT_US: Final = 30 * SECOND
ELSEWHERE: Final = "none"
OPERATOR_LOG: Final = "operator.log"

logger = logging.getLogger("chaostoolkit")


class KubernetesStage(Stage):
    """One namespace, recorded from the first activity on."""

    def __init__(
        self,
        ground: KubernetesGround,
        recorder: WatchRecorder,
        header: Header,
        journal: UndoJournal | None,
    ) -> None:
        super().__init__(ground)
        self._recorder = recorder
        self._header = header
        self._injector = Injector(ground, self._record, journal=journal)

    @property
    def injector(self) -> Injector:
        return self._injector

    def wait(self, span_us: Micros) -> None:
        time.sleep(span_us / SECOND)

    def prepare(self, obj: Mapping[str, Any]) -> dict[str, Any]:
        return {**obj, "metadata": {**meta(obj), "namespace": self.ground.namespace}}

    def history(self) -> tuple[Header, Sequence[Entry]]:
        entries = self._recorder.entries()
        seen = msgspec.structs.replace(
            self._header.capabilities, versions=self._recorder.has_every_version
        )
        return msgspec.structs.replace(self._header, capabilities=seen), entries

    def _record(self, action: Any, data: dict[str, Any], text: str, effect: FaultEffect) -> None:
        self.note(action, data, text, effect)
        self._recorder.fault(action, data, text, effect)


_stages: dict[tuple[str, str, str], KubernetesStage] = {}
"""One per cluster and namespace: what one activity injects, another one undoes."""


def kubernetes_stage(configuration: Mapping[str, Any], ns: str) -> KubernetesStage:
    """The stage for this configuration, recording since it was first asked for."""
    kubeconfig = str(configuration.get("kubeconfig") or "")
    context = str(configuration.get("kube_context") or "")
    key = (kubeconfig, context, ns)
    if key not in _stages:
        _stages[key] = _open(kubeconfig, context, ns, configuration)
    return _stages[key]


def _open(
    kubeconfig: str, context: str, ns: str, configuration: Mapping[str, Any]
) -> KubernetesStage:
    try:
        connection = connect(
            Path(kubeconfig) if kubeconfig else None,
            context or None,
            user_agent=USER_AGENT,
            timeout_us=TIMEOUT_US,
            pool_size=32,
        )
    except OptionsError as error:
        raise ActivityFailed(str(error)) from error
    seed = int(configuration.get("seed", 0))
    recorder = WatchRecorder(connection, ns)
    recorder.start()
    atexit.register(recorder.stop)
    processes = operator_processes(connection, recorder, configuration)
    ground = KubernetesGround(connection, ns, processes, seed, usual_deployment().role)
    journal = configuration.get("undo_journal")
    return KubernetesStage(
        ground,
        recorder,
        _header(connection, recorder, seed, configuration),
        UndoJournal(Path(str(journal)), ns) if journal else None,
    )


def operator_processes(
    connection: Connection, recorder: WatchRecorder, configuration: Mapping[str, Any]
) -> Processes:
    """The operator: run by the experiment itself if it has a command, else as deployed."""
    command = configuration.get("operator_command")
    if not command:
        usual = usual_deployment()
        deployment = OperatorDeployment(
            str(configuration.get("operator_namespace") or usual.namespace),
            str(configuration.get("operator_deployment") or usual.name),
            usual.role,
        )
        if deployment.name != ELSEWHERE:
            _require(connection, deployment)
        return DeployedOperator(connection, deployment)
    log = operator_log(str(configuration.get("operator_log") or ""))
    operator = LocalOperator(str(command), log, recorder, usual_deployment().role)
    atexit.register(operator.close)
    operator.start(usual_deployment().role)
    return operator


def usual_deployment() -> OperatorDeployment:
    """The Deployment of the first suite's operator, as its project installs it."""
    found = next(each for each in registered() if each.deployment)
    assert found.deployment is not None
    return OperatorDeployment(*found.deployment, role=found.role)


def _require(connection: Connection, operator: OperatorDeployment) -> None:
    """Without an operator every activity would wait until its own time is up."""
    try:
        connection.handle(Get(DEPLOYMENT, operator.namespace, operator.name, live=True))
    except ApiError as error:
        if not error.is_not_found:
            raise ActivityFailed(f"the operator's Deployment: {error.message}") from error
        raise ActivityFailed(
            f"no operator found: there is no Deployment {operator.namespace}/{operator.name}. Name "
            "yours with ASSAY_OPERATOR_NAMESPACE and ASSAY_OPERATOR_DEPLOYMENT "
            f"({ELSEWHERE}: it runs elsewhere), or let the experiment start one: "
            "ASSAY_OPERATOR_COMMAND='assay controller run NAME --health-port {health_port}'"
        ) from error


def operator_log(named: str) -> Path:
    """The log file of the operator: the one that was named, or a temporary one."""
    if named:
        return Path(named)
    log = Path(tempfile.mkdtemp(prefix="assay-operator-")) / OPERATOR_LOG
    logger.info("the operator logs to %s", log)
    return log


def _header(
    connection: Connection, recorder: WatchRecorder, seed: int, configuration: Mapping[str, Any]
) -> Header:
    return Header(
        scenario="chaos-toolkit",
        seed=seed,
        cluster="existing",
        clock="wall",
        began_us=recorder.began_us,
        kubernetes_version=str(connection.get("/version")["gitVersion"]),
        capabilities=Capabilities(writers=False, options=False, exact_times=False),
        operators={
            usual_deployment().role: OperatorUnderTest(
                suite=usual_deployment().role,
                implementation=str(configuration.get("implementation", "unknown")),
                parameters=dict(configuration.get("operator_config") or {}),
            )
        },
        facts=WorldFacts(slack_us=2 * SECOND),
    )
