"""A suite without a reference: a profile fills its role, and a bare run leaves it out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.suites.conftest import TOY, Assay, beside_toy, install

PROFILE = """\
apiVersion: assay.dev/v1
kind: ImplementationProfile
name: crews
suite: toy
implementation: {organization: Example, project: crews, url: https://example.com, version: v1}
program: {path: crews}
manifests: {crds: [crd.yaml], rbac: [rbac.yaml]}
process: {command: ["{program}", "{kubeconfig}", "{health_port}"]}
configuration: {}
detection: {latency: 2s}
"""


def write_profile(folder: Path) -> None:
    """A profile of the toy's operator, a program in an environment of its own."""
    install(folder / "elsewhere")
    program = folder / "crews"
    program.write_text(
        f"#!/bin/sh\nPYTHONPATH='{beside_toy(folder / 'elsewhere')}' exec {sys.executable} "
        '-m conformance.cli controller run toy --kubeconfig "$1" --health-port "$2"\n'
    )
    program.chmod(0o755)
    for name in ("crd.yaml", "rbac.yaml"):
        shutil.copy(TOY / "assay_toy" / "manifests" / name, folder)
    (folder / "mine.yaml").write_text(PROFILE)


@pytest.mark.control_plane
def test_a_profile_fills_its_role(without_reference: Assay, tmp_path: Path) -> None:
    write_profile(tmp_path)
    ran = without_reference(
        *("run", "toy/lost-pods-come-back", "toy/a-crew-changes-its-size", "--quiet"),
        *("--cluster", "control-plane", "--implementation", "mine.yaml"),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 runs" in ran.stdout
    verified = without_reference("verify", ".assay")
    assert verified.returncode == 0, verified.stdout + verified.stderr


def test_a_profile_is_asked_for_its_program_and_no_reference_for_anything(
    without_reference: Assay, tmp_path: Path
) -> None:
    write_profile(tmp_path)
    assert without_reference("profile", "check", "mine.yaml").returncode == 0
    ran = without_reference("run", "toy", "--implementation", "mine.yaml", "--quiet")
    assert ran.returncode == 4
    assert "names no program.goModule" in ran.stderr


@pytest.mark.parametrize("named", ["reference", "mutant:lost-pods-stay-lost", "toy=reference"])
def test_where_nothing_fills_it_the_message_says_what_to_write(
    without_reference: Assay, named: str
) -> None:
    ran = without_reference("run", "toy", "--implementation", named)
    assert ran.returncode == 2
    assert "toy has no reference controller" in ran.stderr
    assert "write the profile of an operator, --implementation toy=mine.yaml" in ran.stderr
    assert "or register a reference as toy in the entry points assay.programs" in ran.stderr


SELECTION = """
from conformance.cli.selection import with_operators
words, said = with_operators((), "reference")
print(*words)
print(said)
print(*with_operators(("toy",), "reference"))
print(*with_operators((), "toy=mutant:lazy"), sep="")
"""


def test_everything_leaves_it_out_in_one_line(tmp_path: Path, without_reference: Assay) -> None:
    del without_reference  # it installs the toy
    ran = subprocess.run(
        [sys.executable, "-c", SELECTION],
        env={**os.environ, "PYTHONPATH": beside_toy(tmp_path / "bare")},
        capture_output=True,
        text=True,
        check=True,
    )
    words, said, by_name, named = ran.stdout.splitlines()
    assert words == "appwrapper jobset kueue mlbatch quota streams"
    assert said == (
        "not run: 4 scenarios of toy, since toy has no reference controller; name an operator: "
        "assay run toy --implementation mine.yaml"
    )
    assert by_name == "('toy',) ", "what is asked for by name is not left out"
    assert named == "()", "nor is what an implementation is named for"
