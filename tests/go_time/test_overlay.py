"""The overlay is made from the installed Go, or refused with the patch that does not apply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clusters.control_plane.builder import BuildError, build_into, go_toolchain
from clusters.go_time.lockstep_patches import PATCHES
from clusters.go_time.overlay import OverlayError, Patch, digest, write_overlay
from conformance.profiles.program import Downloaded
from tests.go_programs import require_go

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _with_go() -> None:
    require_go()


def test_it_replaces_files_of_the_runtime_and_of_the_network_alone(tmp_path: Path) -> None:
    replaced = json.loads(write_overlay(tmp_path, PATCHES, go_toolchain()).read_text())["Replace"]
    assert {"/".join(Path(file).parts[-2:]) for file in replaced} == set(PATCHES)
    assert {Path(file).parent.name for file in replaced} == {"runtime", "net"}


@pytest.mark.parametrize(("text", "count"), [("no such text\n", 0), ("func ", None)])
def test_a_patch_that_does_not_apply_is_named(tmp_path: Path, text: str, count: int | None) -> None:
    with pytest.raises(OverlayError) as refused:
        write_overlay(tmp_path, {"runtime/proc.go": (Patch(text, ""),)}, go_toolchain())
    said = str(refused.value)
    assert "runtime/proc.go" in said
    assert text.strip() in said
    assert "--cluster control-plane" in said
    assert count is None or f"occurs {count} times" in said


def test_other_patches_make_another_program() -> None:
    assert digest(PATCHES) == digest(dict(PATCHES))
    assert digest(PATCHES) != digest({**PATCHES, "runtime/proc.go": (Patch("a", "b"),)})


def test_a_module_that_asks_for_another_go_is_not_built_with_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its runtime would have other files: the program would run in real time."""
    monkeypatch.setenv("GOTOOLCHAIN", "auto")
    module = tmp_path / "newer"
    module.mkdir()
    (module / "go.mod").write_text("module newer\n\ngo 1.99\n")
    (module / "main.go").write_text("package main\n\nfunc main() {}\n")
    overlay = write_overlay(tmp_path / "overlay", PATCHES, go_toolchain())
    wanted = {"program": "."}
    with pytest.raises(BuildError, match=r"requires go >= 1\.99 .*GOTOOLCHAIN=local"):
        build_into(
            Downloaded("newer", module), wanted, tmp_path, lambda _step: None, overlay=overlay
        )
