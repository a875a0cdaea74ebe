"""The pytest plugin: options, and the fixture that makes runs on the chosen cluster.

On kind the cluster is pytest-kind's: its options say what it is like, its fixture ends it. Only
its beginning is ours, since that fixture would make a cluster without nodes to lend, and
without an audit log; it takes one that is there by the name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from conformance.cli.exit_code import ExitCode
from conformance.cli.problems import exit_code_for
from conformance.running.run_options import DEFAULT_SEED

if TYPE_CHECKING:
    from conformance.as_tests.cluster import AssayCluster
    from conformance.implementations.under_test import UnderTest
    from conformance.report.run_result import RunResult
    from conformance.scenario_type import Scenario
    from conformance.worlds.control_plane.session import Session

RunScenario: TypeAlias = "Callable[[Scenario], RunResult]"
StartCluster: TypeAlias = "Callable[..., AssayCluster]"

CLUSTER_MARKER: Final = "assay_cluster"
BEGUN: Final = pytest.StashKey[list["AssayCluster"]]()
"""The clusters of a test."""

CLUSTERS = ("simulated", "control-plane", "kind")
SCENARIO_TESTS: Final = "conformance.as_tests.test_scenarios"
ENDED_WITH: Final = "assay-exit-code"
"""The property of a failed scenario's report that has the exit code of its failure."""


class ExitStatus:
    """The exit code of a session in which nothing but scenarios failed: pytest would end with 1
    for each of them, which means a violated claim."""

    def __init__(self) -> None:
        self._codes: list[ExitCode] = []
        self._is_ours = True

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.failed:
            return
        codes = [
            ExitCode(int(str(value)))
            for name, value in report.user_properties
            if name == ENDED_WITH
        ]
        self._codes += codes
        self._is_ours = self._is_ours and bool(codes)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        failed = session.exitstatus == pytest.ExitCode.TESTS_FAILED
        if failed and self._is_ours and self._codes and ExitCode.VIOLATED not in self._codes:
            session.exitstatus = max(self._codes)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Notes of a scenario that failed, which exit code that stands for."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's, not typed as sent
    is_ours = getattr(getattr(item, "module", None), "__name__", "") == SCENARIO_TESTS
    if report.failed and call.excinfo is not None and is_ours:
        report.user_properties.append((ENDED_WITH, int(_exit_code(call.excinfo.value))))
    if report.failed and call.when == "call":
        for cluster in item.stash.get(BEGUN, []):
            report.sections += [(f"output of {k}", v) for k, v in cluster.outputs.items()]


def _exit_code(error: BaseException) -> ExitCode:
    from conformance.as_tests.judging import ClaimViolatedError

    if isinstance(error, ClaimViolatedError):
        return ExitCode.VIOLATED
    if isinstance(error, AssertionError):
        return ExitCode.INCONCLUSIVE
    return ExitCode.ENVIRONMENT if isinstance(error, MemoryError) else exit_code_for(error)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ExitStatus())
    config.addinivalue_line(
        "markers",
        "assay_cluster(crds, load, nodes, gpus, controllers, reaction, services, seed): options of "
        "the fixture assay_cluster, see docs/pytest.md",
    )


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("assay", "conformance under faults")
    group.addoption(
        "--assay-cluster",
        "--cluster",
        choices=CLUSTERS,
        default="simulated",
        help="Where scenarios run (default: simulated).",
    )
    group.addoption(
        "--assay-implementation",
        default="reference",
        metavar="NAME",
        help="The controller under test: reference, or mutant:NAME.",
    )
    group.addoption(
        "--assay-pod-image",
        default="",
        metavar="NAME",
        help="On kind: an image with a shell, for pods (default: one that the nodes have).",
    )
    group.addoption(
        "--assay-seed",
        type=int,
        default=DEFAULT_SEED,
        metavar="N",
        help=f"Decides every random choice of the runs (default: {DEFAULT_SEED}).",
    )


@pytest.fixture
def assay_clusters(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StartCluster]:
    """Starts clusters for this test, for instance one without faults to compare another with.

    The options are those of the marker `assay_cluster`, and go before them.
    """
    from conformance.as_tests.cluster import clusters

    marker = request.node.get_closest_marker(CLUSTER_MARKER)
    marked = {} if marker is None else marker.kwargs
    if marker is not None and marker.args:
        raise pytest.UsageError(f"{request.node.nodeid}: assay_cluster takes named options only")

    def folder() -> Path:
        return tmp_path_factory.mktemp("assay")

    with clusters(folder, request.node.name, request.path.parent) as start:

        def begin(**options: Any) -> AssayCluster:
            begun = start(**{**marked, **options})
            request.node.stash.setdefault(BEGUN, []).append(begun)
            return begun

        yield begin


@pytest.fixture
def assay_cluster(assay_clusters: StartCluster) -> AssayCluster:
    """A simulated Kubernetes cluster in virtual time, for this test alone; see docs/pytest.md."""
    return assay_clusters()


@pytest.fixture(scope="session")
def run_scenario(request: pytest.FixtureRequest) -> Iterator[RunScenario]:
    """Runs a scenario on the cluster that the options name, and judges it."""
    from conformance.profiles.choosing import all_simulated, all_under_test, unfilled
    from conformance.running.rearming import STRETCHES, unarmed
    from conformance.running.runner import run_one, run_really
    from conformance.scenarios import SCENARIOS

    seed = request.config.getoption("--assay-seed")
    name = request.config.getoption("--assay-implementation")
    cluster = request.config.getoption("--assay-cluster")
    if cluster == "simulated":
        yield lambda scenario: run_one(scenario, all_simulated(name, scenario.roles), seed)
        return
    roles = sorted({role for scenario in SCENARIOS.values() for role in scenario.roles})
    missing = unfilled(name, roles)
    under_test = all_under_test(name, [role for role in roles if role not in missing])
    with ExitStack() as until_end:
        # One run at a time, so each may have the cluster to itself.
        session = (
            _on_kind(under_test, request, until_end)
            if cluster == "kind"
            else _on_control_plane(under_test)
        )
        until_end.enter_context(session)

        def run(scenario: Scenario) -> RunResult:
            result = run_really(session, scenario, seed)
            for stretch in STRETCHES:
                if unarmed([result]):
                    result = run_really(session, scenario, seed, stretch=stretch)
            return result

        yield run


def _on_control_plane(under_test: Mapping[str, UnderTest]) -> Session:
    from conformance.scenarios import all_crds
    from conformance.worlds.control_plane.plane_session import ALONE, ControlPlaneSession

    return ControlPlaneSession(under_test, all_crds(), settings=ALONE)


def _on_kind(
    under_test: Mapping[str, UnderTest], request: pytest.FixtureRequest, until_end: ExitStack
) -> Session:
    from conformance.scenarios import all_crds
    from conformance.worlds.kind import cluster
    from conformance.worlds.kind.options import KindOptions
    from conformance.worlds.kind.programs import KindError
    from conformance.worlds.kind.session import KindSession

    config = request.config
    kubeconfig = config.getoption("kubeconfig")
    asked_for = KindOptions(
        cluster_name=config.getoption("cluster_name"),
        kind_bin=config.getoption("kind_bin") or "",
        kind_image=config.getoption("kind_image") or "",
        kubeconfig=None if kubeconfig is None else Path(kubeconfig),
        keep_cluster=config.getoption("keep_cluster"),
        fixture_deletes=True,
    )
    try:
        found = until_end.enter_context(cluster.provided(asked_for))
    except KindError as error:
        pytest.exit(f"no kind cluster: {error}", ExitCode.ENVIRONMENT)
    config.option.kind_bin = str(found.kind)
    request.getfixturevalue("kind_cluster")
    undertaking = cluster.undertaking(
        found, under_test, pod_image=config.getoption("--assay-pod-image")
    )
    if undertaking.problems:
        pytest.exit("; ".join(undertaking.problems), ExitCode.ENVIRONMENT)
    return KindSession(under_test, undertaking, found.nodes, all_crds())
