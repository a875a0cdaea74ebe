"""`pip install .` alone: each command runs, or says in one line what to install."""

from __future__ import annotations

import ast
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from typer.main import get_command

from conformance.cli.app import app
from conformance.cli.problems import _EXTRAS
from tests.cli.conftest import Reports

ROOT = Path(__file__).parents[2]
ROOMS = ("vocabulary", "reference_controller", "conformance", "chaos", "clusters", "mlbatch_tools")
OF_JOBSET = ROOT / "reports" / "kubernetes-sigs-jobset" / "v0-12-0-control-plane"

CASES: tuple[tuple[str, str], ...] = (
    ("run slow-pods-hold-their-quota --quiet", ""),
    ("run slow-pods-hold-their-quota --cluster control-plane", "cluster"),
    ("run slow-pods-hold-their-quota --cluster existing --kubeconfig kubeconfig", "cluster"),
    ("run slow-pods-hold-their-quota --cluster kind", "cluster"),
    ("replay {bad}/aw-015.yaml", ""),
    ("replay {bad}/aw-015.yaml --cluster control-plane", "cluster"),
    ("mutants quota-released-on-failed -j 1", ""),
    ("mutants appwrapper --generic 1", "mutation"),
    ("compare {bad} {good}", ""),
    ("verify {good}", ""),
    ("explore jobset --workload workload.yaml", ""),
    ("serve", "cluster"),
    ("clean", "cluster"),
    ("chaos {root}/chaos/experiments/pod-kill.yaml", "chaos"),
    ("check {good}/histories/{history}", ""),
    ("claims list", ""),
    ("claims show AW-015", ""),
    ("claims scenarios AW-015", ""),
    ("claims catalogue catalogue.yaml --runs {good}", ""),
    ("report html {good} --out html", ""),
    ("report junit {good} --out junit.xml", ""),
    ("report sonobuoy {good} --out results", ""),
    ("report ai-conformance {good} --out product.yaml", ""),
    ("report rejudge {good} --out again", ""),
    ("report merge {good} --out merged", ""),
    ("report submission {good} --out handed-in", ""),
    ("tools cluster-checker {root}/tests/tools/manifests/guide-cluster.yaml", ""),
    ("tools cluster-checker", "cluster"),
    ("tools appwrapper-packager -i {root}/tests/tools/manifests/sample-pod.yaml", ""),
    ("tools pytorch-generator -f {root}/tests/tools/manifests/hello-values.yaml", ""),
    ("tools team platform --gpus 8", ""),
    ("explain streams --out explained", ""),
    ("cluster build", "cluster"),
    ("cluster up", "cluster"),
    ("cluster down", "cluster"),
    ("cluster status", "cluster"),
    ("profile list", "cluster"),
    ("profile check jobset-v0.12.0", "cluster"),
    ("profile build jobset-v0.12.0", "cluster"),
    ("profile findings jobset-v0.12.0 {jobset}", ""),
    ("profile track-record {jobset}", ""),
    ("profile schema", ""),
    ("controller run jobset", "cluster"),
    ("controller manifests jobset", "cluster"),
    ("in-cluster manifests", "cluster"),
    ("campaign manifests --shards 2 --claim reports -- appwrapper", ""),
    ("in-cluster sonobuoy-plugin", "cluster"),
    ("in-cluster sonobuoy-run --results . -- slow-pods-hold-their-quota", ""),
)
"""Arguments, and the extra that they need; empty if they need none."""


def _brought_by(distribution: str, seen: set[str]) -> set[str]:
    """Collect the distributions that pip installs for one without its extras."""
    if distribution not in seen:
        seen.add(distribution)
        for requirement in map(Requirement, metadata.requires(distribution) or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                _brought_by(requirement.name, seen)
    return seen


def _parts(distribution: str) -> Iterator[Path]:
    """The files and folders of a distribution below site-packages."""
    found = metadata.distribution(distribution)
    for name in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
        yield Path(str(found.locate_file(name)))


@pytest.fixture(scope="module")
def without_extras(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment in which Assay has been installed without extras."""
    folder = tmp_path_factory.mktemp("without-extras")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    for distribution in _brought_by("assay", set()):
        for part in _parts(distribution):
            (site / part.name).symlink_to(part)
    return folder / "bin" / "python"


@pytest.mark.parametrize(("arguments", "extra"), CASES, ids=[case for case, _ in CASES])
def test_a_command_runs_or_says_what_to_install(
    arguments: str, extra: str, without_extras: Path, reports: Reports, tmp_path: Path
) -> None:
    (history,) = (reports.good / "histories").iterdir()
    told = arguments.format(
        good=reports.good, bad=reports.bad, history=history.name, root=ROOT, jobset=OF_JOBSET
    )
    ended = subprocess.run(
        [without_extras, "-m", "conformance.cli", *told.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    if extra:
        assert (ended.returncode, ended.stdout) == (4, "")
        assert ended.stderr.startswith("assay: No module named ")
        assert ended.stderr.endswith(f"; install it with: pip install 'assay[{extra}]'\n")
        assert ended.stderr.count("\n") == 1
    else:
        # 2: the catalogue is of all runs, and these are few.
        assert ended.returncode in (0, 1, 2), ended.stderr
        assert "--help tells" not in ended.stderr
        assert ended.stderr.count("\n") == (ended.returncode == 2)


def _commands(command: Any, path: str = "") -> Iterator[str]:
    if not hasattr(command, "commands"):
        yield path
    for name, inner in getattr(command, "commands", {}).items():
        yield from _commands(inner, f"{path}{name} ")


def test_each_command_is_tried() -> None:
    missing = [
        command
        for command in _commands(get_command(app))
        if not any(f"{arguments} ".startswith(command) for arguments, _ in CASES)
    ]
    assert not missing, f"add these to CASES: {missing}"


def test_each_package_that_may_be_missing_has_its_extra() -> None:
    trees = [ast.parse(file.read_text()) for room in ROOMS for file in ROOT.glob(f"{room}/**/*.py")]
    imported = {
        name.partition(".")[0]
        for tree in trees
        for node in ast.walk(tree)
        for name in _imported_by(node)
    }
    always = {part.name for each in _brought_by("assay", set()) for part in _parts(each)}
    # It is put in front of programs under test, and not on Assay's own path.
    shipped = {*ROOMS, "assay_virtual_time"}
    assert imported - always - {*shipped, *sys.stdlib_module_names} <= set(_EXTRAS)


def _imported_by(node: ast.AST) -> list[str]:
    match node:
        case ast.Import():
            return [alias.name for alias in node.names]
        case ast.ImportFrom(module=str() as module, level=0):
            return [module]
    return []
