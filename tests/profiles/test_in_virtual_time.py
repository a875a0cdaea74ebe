"""Programs that run on the simulated cluster, and the errors for those that cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.implementations.ours import UnknownImplementationError
from conformance.profiles.choosing import all_simulated, simulated
from conformance.profiles.profiled import Profiled
from conformance.profiles.program import ProgramMissingError, built_folder, program_of
from conformance.profiles.reading import read_profile
from conformance.suite import shipped_profiles

JOB_SET = "jobset-v0.12.0"


@pytest.fixture
def nothing_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))


@pytest.mark.usefixtures("nothing_built")
def test_a_program_that_is_not_built_is_told_with_the_command() -> None:
    with pytest.raises(ProgramMissingError) as missing:
        simulated(JOB_SET, "jobset")
    assert f"assay profile build {JOB_SET} --virtual-time" in str(missing.value)


def test_it_is_another_build_of_the_same_profile() -> None:
    profile = read_profile(shipped_profiles()[JOB_SET])
    assert built_folder(profile) != built_folder(profile, in_virtual_time=True)


def test_a_file_of_ones_own_cannot_be_given_virtual_time(tmp_path: Path) -> None:
    path = shipped_profiles()[JOB_SET]
    text = path.read_text()
    begin, end = text.index("  goModule:"), text.index("\nmanifests:")
    own = tmp_path / "own.yaml"
    own.write_text(f"{text[:begin]}  path: controller\n{text[end:]}")
    with pytest.raises(ProgramMissingError) as missing:
        program_of(read_profile(own), own, in_virtual_time=True)
    assert "--cluster control-plane" in str(missing.value)


def test_another_operators_program_is_refused() -> None:
    with pytest.raises(UnknownImplementationError, match="is an operator of jobset"):
        simulated(JOB_SET, "appwrapper")


def test_the_reference_beside_a_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch()
    monkeypatch.setattr(Profiled, "program", program)
    monkeypatch.setattr(Profiled, "_manifests", lambda *_: ())
    monkeypatch.setattr(Profiled, "require_valid_definitions", lambda _: None)
    found = all_simulated(f"jobset={JOB_SET}", ["appwrapper", "jobset"])
    assert found["jobset"].name == JOB_SET
    assert found["appwrapper"].name == "reference"
