"""Programs are taken from KUBEBUILDER_ASSETS, then PATH, then the cache."""

from __future__ import annotations

from pathlib import Path

import pytest

from clusters.control_plane import binaries, versions
from clusters.control_plane.binaries import BinariesMissingError, locate


class Places:
    """Three empty folders, searched instead of the machine's."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.assets = folder / "assets"
        self.path = folder / "path"
        monkeypatch.setenv("KUBEBUILDER_ASSETS", str(self.assets))
        monkeypatch.setenv("PATH", str(self.path))
        monkeypatch.setenv("ASSAY_CACHE", str(folder / "cache"))
        self.cache = binaries.cache_dir()
        for place in (self.assets, self.path, self.cache):
            place.mkdir(parents=True)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return Places(tmp_path, monkeypatch)


def put(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)


def test_the_first_place_that_has_a_program_wins(places: Places) -> None:
    put(places.cache, *binaries.REQUIRED)
    put(places.path, "etcd", "kwok")
    put(places.assets, "etcd")
    found = locate()
    assert (found.etcd.source, found.etcd.path) == ("KUBEBUILDER_ASSETS", places.assets / "etcd")
    assert (found.kwok.source, found.kwok.path) == ("PATH", places.path / "kwok")
    assert found.kube_apiserver.source == "cache"
    assert found.kubectl is None


def test_what_is_missing_is_named_with_the_next_action(places: Places) -> None:
    put(places.cache, "etcd", "kube-apiserver", "kube-controller-manager")
    with pytest.raises(BinariesMissingError, match="assay cluster build") as error:
        locate()
    assert "not found: kube-scheduler, kwok (" in str(error.value)
    assert str(places.cache) in str(error.value)


def test_a_file_that_cannot_be_executed_is_no_program(places: Places) -> None:
    put(places.assets, "etcd")
    (places.assets / "etcd").chmod(0o644)
    assert binaries.find("etcd") is None


def test_the_cache_follows_the_users_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.delenv("ASSAY_CACHE", raising=False)
    assert binaries.cache_root() == Path("/xdg/assay")
    monkeypatch.setenv("ASSAY_CACHE", "/chosen")
    expected = Path("/chosen/control-plane") / versions.key() / "bin"
    assert binaries.cache_dir() == expected


def test_the_cache_is_named_after_the_versions_in_the_go_modules() -> None:
    for module in versions.MODULES:
        assert f"{module.name}-{versions.version_of(module)}" in versions.key()
    assert f"gitVersion={versions.version_of(versions.KUBERNETES)}" in versions.linker_flags(
        versions.KUBERNETES
    )
