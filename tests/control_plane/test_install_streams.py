"""The Streams controller's manifests on a real API server: at work, and with no right to spare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from clusters.control_plane import ControlPlane, wait_until
from conformance.suites.streams.handle import job
from reference_controller.streams.names import JOB, OF_JOB, TREE
from vocabulary.kinds import POD
from vocabulary.objects import get_path, name_of, uid_of

from .installation import LIMIT_SECONDS, Installation, InstalledOperator, refused, used

pytestmark = pytest.mark.control_plane

HERE: Final = Installation("streams")
TEAM: Final = "team"
NEVER_REQUESTED: Final = {
    # Asked for where blocking owner references need a right.
    *((JOB.group, f"{plural}/finalizers", "update") for plural in ("jobs", "processingelements")),
    # Read where the name of a part is taken, and deleted where a pod has failed.
    *((kind.group, kind.plural, "get") for kind in TREE),
    ("", "pods", "delete"),
}


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with HERE.on_a_plane(tmp_path_factory.mktemp("installation")) as control_plane:
        control_plane.api().post("/api/v1/namespaces", {"metadata": {"name": TEAM}})
        yield control_plane


@pytest.fixture
def operators(plane: ControlPlane, tmp_path: Path) -> Callable[[str], InstalledOperator]:
    pod = HERE.running_pod(plane)
    return lambda name: InstalledOperator(HERE, plane, pod, tmp_path / name)


def test_the_service_account_needs_every_right_it_has_and_is_refused_nothing(
    plane: ControlPlane, operators: Callable[[str], InstalledOperator]
) -> None:
    """A Job is submitted, interrupted and recovered; a pod is restarted, and one fails."""
    api = plane.api()

    def until(is_so: Callable[[], bool], what: str) -> None:
        wait_until(lambda: bool(refused(plane)) or is_so(), what, limit_seconds=LIMIT_SECONDS)
        assert refused(plane) == []

    def stored() -> dict[str, Any]:
        found = api.get(JOB.path(TEAM))["items"]
        return dict(found[0]) if found else {}

    def phase() -> str:
        return str(get_path(stored(), "spec.phase", ""))

    def pods() -> list[dict[str, Any]]:
        return list(api.get(f"{POD.path(TEAM)}?labelSelector={OF_JOB}=a")["items"])

    with operators("first") as first:
        api.post(JOB.path(TEAM), job("a"))
        until(lambda: phase() == "Submitted", "the Job is submitted")
        api.delete(POD.path(TEAM, name_of(pods()[0])))
        until(lambda: len(pods()) == 5, "the pod is restarted")
        interrupted = uid_of(stored())
        api.patch(JOB.path(TEAM, "a"), {"spec": {"phase": "Submission"}})
        first.terminate()
    with operators("second"):
        until(lambda: phase() == "Submitted" and uid_of(stored()) != interrupted, "it is replaced")
        wait_until(
            lambda: HERE.rights(plane) - used(plane) <= NEVER_REQUESTED,
            "all rights are used",
            limit_seconds=LIMIT_SECONDS,
        )
