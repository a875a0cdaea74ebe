"""Requirements of a kind cluster are found, or named with the next step; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.worlds.kind.programs import KindError, Programs, find, require_watches

from .machine import asked, program

DOCKER = {"version": "20.10", "image inspect": "sha256:1", "images kindest/node": ""}


def found(path: Path, *, kind_bin: str = "", image: str = "", download: bool = False) -> Programs:
    environment = {"PATH": str(path)}
    return find(kind_bin=kind_bin, image=image, download=download, environment=environment)


def test_without_docker_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(KindError, match=r"docker is not in the PATH; install Docker"):
        found(tmp_path)


def test_a_daemon_that_does_not_answer_is_told_from_a_program_that_is_missing(
    tmp_path: Path,
) -> None:
    program(tmp_path, "docker", {"version": None})
    with pytest.raises(KindError, match=r"no Docker daemon answers .* name it by DOCKER_HOST"):
        found(tmp_path)


def test_without_kind_it_names_the_options_that_help(tmp_path: Path) -> None:
    program(tmp_path, "docker", DOCKER)
    with pytest.raises(KindError, match=r"kind is not in the PATH.*--kind-bin.*--download"):
        found(tmp_path)


def test_a_kind_that_was_named_and_is_not_there_is_not_replaced_by_another(tmp_path: Path) -> None:
    program(tmp_path, "docker", DOCKER)
    program(tmp_path, "kind", {})
    with pytest.raises(KindError, match=r"elsewhere/kind: there is no such program"):
        found(tmp_path, kind_bin="elsewhere/kind", download=True)


def test_an_image_that_docker_does_not_have_is_not_pulled(tmp_path: Path) -> None:
    program(tmp_path, "docker", {**DOCKER, "image inspect": None})
    program(tmp_path, "kind", {})
    with pytest.raises(KindError, match=r"docker pull kindest/node:v1.36.0, or let kind do that"):
        found(tmp_path, image="kindest/node:v1.36.0")
    assert not any(words.startswith("pull") for words in asked(tmp_path, "docker"))


def test_without_any_node_image_it_says_how_to_name_one(tmp_path: Path) -> None:
    program(tmp_path, "docker", DOCKER)
    program(tmp_path, "kind", {})
    with pytest.raises(KindError, match=r"--kind-image or the variable KIND_IMAGE"):
        found(tmp_path)


def test_the_newest_image_of_kinds_own_is_taken_if_none_is_named(tmp_path: Path) -> None:
    listed = "kindest/node:<none>\nkindest/node:v1.36.0\nkindest/node:v1.30.0"
    program(tmp_path, "docker", {**DOCKER, "images kindest/node": listed})
    kind = program(tmp_path, "kind", {})
    assert found(tmp_path) == Programs(str(tmp_path / "docker"), kind, "kindest/node:v1.36.0")


def test_variables_name_what_options_do_not(tmp_path: Path) -> None:
    program(tmp_path, "docker", DOCKER)
    kind = program(tmp_path, "my-kind", {})
    environment = {"PATH": str(tmp_path), "KIND": str(kind), "KIND_IMAGE": "mine:1"}
    assert find(environment=environment) == Programs(str(tmp_path / "docker"), kind, "mine:1")
    assert find(image="other:2", environment=environment).image == "other:2"


def test_only_a_download_that_was_asked_for_leaves_things_to_be_fetched(tmp_path: Path) -> None:
    program(tmp_path, "docker", DOCKER)
    assert found(tmp_path, download=True) == Programs(str(tmp_path / "docker"), None, "")


def test_nodes_that_the_kernel_would_starve_are_refused_with_the_remedy(tmp_path: Path) -> None:
    limit = tmp_path / "max_user_instances"
    limit.write_text("128\n")
    require_watches(9, limit)
    with pytest.raises(KindError, match=r"--workers, or raise it: sudo sysctl fs.inotify"):
        require_watches(10, limit)
    require_watches(10, tmp_path / "not-linux")
