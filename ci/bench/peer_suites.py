"""The controller and webhook suites of released operators, run unpatched against `assay serve`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import yaml
from benchmarks_page import write_section
from ginkgo_report import GinkgoError, specs

from clusters.control_plane import builder, versions
from conformance.profiles import program
from conformance.profiles.reading import read_profile
from conformance.suite import shipped_profiles

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "envtest.md"
HEADING = "Suites of released operators"
CAUSES = Path(__file__).with_name("peer_failures.yaml")
_INTRODUCTION = (
    "`ci/peers suites` builds the controller and webhook suites of JobSet v0.12.0, AppWrapper "
    "v1.2.0 and Kueue v0.19.2 from their Go modules, unchanged, and runs each against a "
    "cluster of its own. Words choose some of them (`ci/peers suites jobset`), `--checkout "
    "RELEASE=DIR` takes other sources, and `--write` writes the results of those that were run "
    "into this section. Kueue's need make, and kubectl for kustomize. It exits with 1 if a spec "
    "fails without a cause in `ci/bench/peer_failures.yaml`, or passes in spite of one. `.ci/run` "
    "runs JobSet's webhook suite."
)
_ROW = re.compile(r"^\| (\S+ \| `\S+`) \| (\d+ \| .*)$", re.MULTILINE)
SUITE_MINUTES = 30
"""Ginkgo ends a suite after this long; it writes its report then, too."""


class Suite(NamedTuple):
    """One package of tests of a release."""

    release: str
    """The profile that names the Go module."""
    package: str
    targets: tuple[str, ...] = ()
    """Of the release's Makefile, those that copy the CRDs of other operators to a directory."""

    @property
    def name(self) -> str:
        return f"{self.release} {self.package}"


_KUEUE_JOBS = (
    *("mpi-operator-crd", "jobset-operator-crd", "leaderworkerset-operator-crd"),
    *("ray-operator-crd", "kf-training-operator-crd", "appwrapper-crd", "kf-trainer-crd"),
    "spark-operator-crd",
)
SUITES = (
    Suite("jobset-v0.12.0", "test/integration/controller"),
    Suite("jobset-v0.12.0", "test/integration/webhook"),
    Suite("appwrapper-v1.2.0", "internal/controller/appwrapper"),
    Suite("appwrapper-v1.2.0", "internal/webhook"),
    Suite("kueue-v0.19.2", "test/integration/singlecluster/webhook/core"),
    Suite("kueue-v0.19.2", "test/integration/singlecluster/webhook/jobs", _KUEUE_JOBS),
    Suite("kueue-v0.19.2", "test/integration/singlecluster/scheduler"),
    Suite("kueue-v0.19.2", "test/integration/singlecluster/controller/core"),
    Suite("kueue-v0.19.2", "test/integration/singlecluster/controller/jobs/job"),
)


class Result(NamedTuple):
    """The outcome of one suite."""

    suite: Suite
    specs: int
    failed: tuple[str, ...]
    seconds: float
    aborted: str = ""
    """Why no spec ran."""


def run(words: Sequence[str], checkouts: Mapping[str, Path], *, write: bool) -> int:
    """Run the suites whose names contain a word, or all; 1 if the failing specs are others than
    those that peer_failures.yaml explains, else 4 if a suite cannot be built or run here."""
    chosen = [each for each in SUITES if not words or any(word in each.name for word in words)]
    if not chosen:
        print(f"peers: no suite has {' or '.join(words)} in its name; the suites are:")
        print("\n".join(f"  {each.name}" for each in SUITES))
        return 2
    causes = yaml.safe_load(CAUSES.read_text()) or {}
    results, unexplained, not_shown = [], 0, 0
    for suite in chosen:
        try:
            result = _run(suite, checkouts.get(suite.release))
        except (builder.BuildError, GinkgoError, OSError) as error:
            print(f"{suite.name}: NOT SHOWN: {error}")
            not_shown = 4
            continue
        results.append(result)
        unexplained += told(result, causes.get(suite.name) or {})
    if write and results:
        write_section(HEADING, section(results, causes, PAGE.read_text(encoding="utf-8")), PAGE)
        print(f"written: {PAGE.relative_to(ROOT)}")
    return 1 if unexplained else not_shown


def told(result: Result, causes: Mapping[str, str]) -> int:
    """Print a result; return the number of specs that fail or pass without it being expected."""
    if result.aborted:
        is_known = "BeforeSuite" in causes
        print(f"{result.suite.name}: no spec ran: {result.aborted}")
        return 0 if is_known else 1
    passed = result.specs - len(result.failed)
    print(f"{result.suite.name}: {passed} of {result.specs} specs pass, {result.seconds:.0f} s")
    new = [name for name in result.failed if name not in causes]
    fixed = [name for name in causes if name not in result.failed]
    for name in new:
        print(f"  fails, and {CAUSES.name} has no cause for it: {name}")
    for name in fixed:
        print(f"  passes; remove it from {CAUSES.name}: {name}")
    return len(new) + len(fixed)


def section(
    results: Collection[Result], causes: Mapping[str, Mapping[str, str]], before: str
) -> str:
    """The tables of the page; `before` is the page, of which rows of other suites are kept."""
    rows: dict[str, str] = dict(_ROW.findall(before))
    failing = {each.name: dict(causes.get(each.name) or {}) for each in SUITES}
    for suite, specs_run, failed, seconds, aborted in results:
        known = failing[suite.name]
        names = ("BeforeSuite",) if aborted else failed
        failing[suite.name] = {name: known.get(name, "") for name in names}
        figures = f"{specs_run - len(failed)} | {specs_run} | {seconds:.0f}"
        rows[_cells(suite)] = f"{figures} | {datetime.now(UTC):%Y-%m-%d} |"
    shown = [each for each in SUITES if _cells(each) in rows]
    table = "".join(f"| {_cells(each)} | {rows[_cells(each)]}\n" for each in shown)
    explained = "".join(
        f"| {each.release} | {name} | {cause} |\n"
        for each in shown
        for name, cause in failing[each.name].items()
    )
    return (
        f"{_INTRODUCTION}\n\nNo build is timed.\n\n"
        "| release | package | specs that pass | specs | seconds | run on |\n"
        f"|---|---|---:|---:|---:|---|\n{table}\n"
        + (f"| release | failing spec | cause |\n|---|---|---|\n{explained}" if explained else "")
    )


def _cells(suite: Suite) -> str:
    return f"{suite.release} | `{suite.package}`"


def _run(suite: Suite, checkout: Path | None) -> Result:
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        source = checkout or _module(suite.release)
        tests = directory / "suite.test"
        _build(source, suite.package, tests)
        report = directory / "ginkgo.json"
        command = [
            *(str(tests), "--ginkgo.no-color", "--ginkgo.silence-skips"),
            *(f"--ginkgo.timeout={SUITE_MINUTES}m", f"--ginkgo.json-report={report}"),
        ]
        with _served(directory) as kubeconfig, (directory / "output").open("wb") as output:
            environment = {
                **os.environ,
                **_project(source, suite.targets, directory / "project"),
                "USE_EXISTING_CLUSTER": "true",
                "KUBECONFIG": str(kubeconfig),
            }
            began = time.perf_counter()
            subprocess.run(
                command,
                cwd=source / suite.package,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
            seconds = time.perf_counter() - began
        try:
            found = specs(report)
        except GinkgoError:
            if not report.exists():
                last = (directory / "output").read_text(errors="replace").splitlines()[-3:]
                raise GinkgoError(f"the suite did not come to its end: {' '.join(last)}") from None
            return Result(suite, 0, (), seconds, "BeforeSuite failed")
        failed = tuple(spec.name for spec in found if not spec.has_passed)
        return Result(suite, len(found), failed, seconds)


def _module(release: str) -> Path:
    profile = read_profile(shipped_profiles()[release])
    wanted = profile.program.go_module
    assert wanted is not None, "the releases here are Go modules"
    return program.download(wanted, profile.implementation.version).folder


def _build(source: Path, package: str, to: Path) -> None:
    if not (source / package).is_dir():
        raise builder.BuildError(f"{source / package} is not there; name a checkout of the release")
    command = [builder.go_toolchain(), "test", "-c", "-vet=off", "-o", str(to), f"./{package}"]
    environment = {**os.environ, **versions.BUILD_ENVIRONMENT}
    ended = subprocess.run(
        command, cwd=source, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise builder.BuildError(f"{' '.join(command)}: {ended.stderr[-2000:]}")


def _project(source: Path, targets: Sequence[str], project: Path) -> dict[str, str]:
    """A directory with what Kueue's Makefile makes before its suites run, and the variable that
    names it; nothing for a release whose suites read its sources only."""
    if "crd/_output" not in (source / "Makefile").read_text():
        return {}
    components = Path("config/components")
    output = project / components / "crd/_output"
    output.mkdir(parents=True)
    made = _output("kubectl", "kustomize", str(source / components / "crd"))
    (output / "crds-with-webhooks.yaml").write_text(made)
    for each in ("hack", str(components / "webhook")):
        (project / each).symlink_to(source / each)
    if targets:
        copied = (f"EXTERNAL_CRDS_DIR={project / 'dep-crds'}", f"GO_CMD={builder.go_toolchain()}")
        # Go downloads by itself, and the script of that target is not executable in a module's zip.
        _output("make", "-o", "gomod-download", "-C", str(source), *targets, *copied)
    return {"PROJECT_DIR": str(project / "Makefile")}


def _output(*command: str) -> str:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise builder.BuildError(f"{command[0]} is not installed; install it") from None
    if ended.returncode != 0:
        raise builder.BuildError(f"{' '.join(command)}: {ended.stderr[-2000:]}")
    return ended.stdout


@contextmanager
def _served(directory: Path) -> Iterator[Path]:
    """A cluster like envtest's: an API server without controllers and nodes."""
    path = directory / "kubeconfig"
    command = [sys.executable, "-m", "conformance.cli", "serve", "--no-controllers"]
    with subprocess.Popen(
        [*command, "--nodes", "0", "--kubeconfig", str(path)], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        server.stdout.readline(), server.stdout.readline()
        if not path.exists():
            raise OSError("assay serve did not start; its output above says why")
        try:
            yield path
        finally:
            server.terminate()
