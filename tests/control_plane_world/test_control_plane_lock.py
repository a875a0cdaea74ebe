"""A control plane that stays: one tenant at a time, who finds it clean and leaves it clean."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane, users
from conformance.implementations.ours import implementation
from conformance.left_behind.clean import RUN_LABEL
from conformance.worlds.control_plane.control_plane_lock import (
    ControlPlaneLock,
    LockError,
)
from vocabulary.errors import ApiError

CRDS = implementation("reference", "appwrapper").crds()


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with ControlPlane(tmp_path_factory.mktemp("stays")) as plane:
        yield plane


def leave_namespace(plane: ControlPlane, name: str) -> None:
    metadata = {"name": name, "labels": {RUN_LABEL: name}}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    plane.api().post("/api/v1/namespaces", manifest)


def has_namespace(plane: ControlPlane, name: str) -> bool:
    try:
        plane.api().get(f"/api/v1/namespaces/{name}")
    except ApiError as error:
        assert error.is_not_found
        return False
    return True


def test_where_nothing_runs_the_command_says_how_to_start_something(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance.cli", "run", "AW-005", "--out", str(tmp_path)]
    where = ["--cluster", "control-plane", "--cluster-folder", str(tmp_path / "none")]
    ended = subprocess.run(
        [*command, *where], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 4
    assert "no control plane runs there; start one with: assay cluster up --folder" in ended.stderr


@pytest.mark.control_plane
def test_what_another_tenant_left_is_gone_at_the_beginning_and_ones_own_at_the_end(
    plane: ControlPlane,
) -> None:
    leave_namespace(plane, "left-by-another")
    with ControlPlaneLock(plane.layout.folder):
        assert not has_namespace(plane, "left-by-another")
        leave_namespace(plane, "ones-own")
    assert not has_namespace(plane, "ones-own")


@pytest.mark.control_plane
def test_one_that_does_not_know_the_users_of_this_version_is_to_be_started_anew(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "ALL", (*users.ALL, users.User("somebody-new")))
    with pytest.raises(LockError, match="users somebody-new; start anew with: assay cluster"):
        ControlPlaneLock(plane.layout.folder)


@pytest.mark.control_plane
def test_there_is_one_tenant_at_a_time(plane: ControlPlane) -> None:
    with (
        ControlPlaneLock(plane.layout.folder),
        pytest.raises(LockError, match="another run uses this control plane"),
        ControlPlaneLock(plane.layout.folder),
    ):
        pass
    with ControlPlaneLock(plane.layout.folder):
        pass


@pytest.mark.control_plane
def test_definitions_that_are_missing_are_named_and_never_added_late(plane: ControlPlane) -> None:
    with (
        ControlPlaneLock(plane.layout.folder) as lock,
        pytest.raises(LockError, match=r"appwrappers\.workload\.codeflare\.dev is not defined"),
    ):
        lock.require(CRDS, "reference")


@pytest.mark.control_plane
def test_a_definition_of_another_implementation_is_no_substitute(plane: ControlPlane) -> None:
    (ours,) = CRDS
    names = {**ours["spec"]["names"], "shortNames": ["other"]}
    theirs = {**ours, "spec": {**ours["spec"], "names": names}}
    plane.install_crds(CRDS)
    with ControlPlaneLock(plane.layout.folder) as lock:
        lock.require(CRDS, "reference")
        with pytest.raises(LockError, match=r"not as mine\.yaml defines it.* --impl\w+ mine"):
            lock.require([theirs], "mine.yaml")


@pytest.mark.control_plane
def test_a_control_plane_of_which_a_part_has_ended_is_refused(plane: ControlPlane) -> None:
    plane.kill("kube-scheduler")
    try:
        with pytest.raises(LockError, match="kube-scheduler of the control plane is not ready"):
            ControlPlaneLock(plane.layout.folder)
    finally:
        plane.restart("kube-scheduler")
