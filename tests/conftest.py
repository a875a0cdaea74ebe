"""Shared by all tests: no test depends on a clock, and many wait in parallel."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import settings

from clusters import parent_bound
from clusters.control_plane.binaries import BinariesMissingError, locate
from tests.durations import Durations
from tests.order import in_shares

DURATIONS = pytest.StashKey[Durations]()

settings.register_profile("assay", deadline=None, print_blob=True)
settings.load_profile("assay")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases",
        type=int,
        metavar="N",
        help="run the first N cases of each parametrized test",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Bind test processes to the process that runs them, and a worker to its session."""
    if hasattr(config, "workerinput"):
        parent_bound.die_with_parent(os.getppid())
    else:
        parent_bound.bind_to_environment()
    os.environ[parent_bound.ENDS_WITH] = str(os.getpid())
    config.stash[DURATIONS] = Durations(config)
    config.pluginmanager.register(config.stash[DURATIONS])


def pytest_xdist_auto_num_workers() -> int:
    """With `-n auto`: tests on a real control plane wait more than they work, others hardly do."""
    processors = len(os.sched_getaffinity(0))
    return 3 * processors if _has_control_plane() else processors + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Order tests by duration, longest first, so that no long one starts last."""
    limit = config.getoption("cases")
    if limit is not None:
        _deselect_further_cases(config, items, limit)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = in_shares(items, config.stash[DURATIONS].seconds, workers)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skipped, with what to do, where the control plane that it needs has not been built."""
    if item.get_closest_marker("control_plane") is not None:
        try:
            locate()
        except BinariesMissingError as missing:
            pytest.skip(str(missing))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, also what is started: a shell has its background commands ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _deselect_further_cases(config: pytest.Config, items: list[pytest.Item], limit: int) -> None:
    cases: Counter[str] = Counter()
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        test = item.nodeid.partition("[")[0]
        (kept if cases[test] < limit else left_out).append(item)
        cases[test] += 1
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def _has_control_plane() -> bool:
    try:
        locate()
    except BinariesMissingError:
        return False
    return True


@pytest.fixture(autouse=True)
def folder_for_temporary_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Hide leftovers of another test's killed harness from this test's `assay clean`.

    With a `MonkeyPatch` of its own: one that is shared is undone after all fixtures that came
    later, and what a test changes by it is to be as before when they end.
    """
    folder = str(tmp_path_factory.mktemp("temporary"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)
        patch.setattr("tempfile.tempdir", folder)
        yield
