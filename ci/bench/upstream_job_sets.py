"""Run JobSet's own failure-policy tests, and Assay's scenarios on the same release, in one go.

    python ci/bench/upstream_job_sets.py                    print the tables; takes ten minutes
    python ci/bench/upstream_job_sets.py --write            and write them to docs/benchmarks.md
    python ci/bench/upstream_job_sets.py --release jobset-v0.10.1 --keep FOLDER

The tests are those of the release's Go module, test/integration/controller, as released. They run
on the etcd and kube-apiserver that `assay cluster build` built, or that are in KUBEBUILDER_ASSETS.
All programs are built before anything is timed. Everything runs one after the other, since Ginkgo
does. Exit code 1: a program could not be built, or a suite did not come to its end.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks_page import PAGE, write_section
from ginkgo_report import GinkgoError, Spec, specs
from our_runs import Run, runs_of
from upstream_cases import TAG, scenarios_of_cases

import conformance
from clusters.control_plane import binaries, builder, versions
from conformance.profiles import program
from conformance.profiles.profile import ImplementationProfile
from conformance.profiles.reading import read_profile
from conformance.suite import shipped_profiles

TREE = Path(__file__).resolve().parents[2]
COMMAND = "python ci/bench/upstream_job_sets.py --release {} --write"
HEADING = "Beside JobSet's own integration tests"
RELEASES = ("jobset-v0.10.1", "jobset-v0.12.0")
EDITION = "released"
PACKAGE = "test/integration/controller"
ENVTEST = ("etcd", "kube-apiserver")
PROGRAMS = (*ENVTEST, "kwok")
"""Those whose versions are shown; kube-apiserver has that of all of Kubernetes."""
JUDGED = (0, 1, 3)
"""Exit codes of `assay run` with a report."""


class Suite(NamedTuple):
    """A line of the table."""

    name: str
    real: str
    wall_seconds: float
    """Of the whole command: start of a cluster, all cases, the report."""
    case_seconds: tuple[float, ...]
    kept: int
    """Cases that passed, or in which no claim was violated."""
    faults: int | None = None
    judged: int | None = None
    violated: tuple[str, ...] = ()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--release", choices=RELEASES, default=RELEASES[-1])
    parser.add_argument("--write", action="store_true", help=f"also write docs/{PAGE.name}")
    parser.add_argument("--keep", type=Path, help="where the reports go and stay")
    arguments = parser.parse_args()
    imported = Path(conformance.__file__).parents[1]
    if imported != TREE:
        parser.error(f"would judge by the checkout {imported}; set PYTHONPATH={TREE}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        try:
            text = measured(arguments.release, folder)
        except (GinkgoError, builder.BuildError, binaries.BinariesMissingError) as error:
            print(f"upstream_job_sets: {error}", file=sys.stderr)
            return 1
    print(text)
    if arguments.write:
        write_section(HEADING, text)
        print(f"written: docs/{PAGE.name}")
    return 0


def measured(release: str, folder: Path) -> str:
    """All suites, one after the other, as the text of the section."""
    profile = read_profile(shipped_profiles()[release])
    tests = folder / "integration.test"
    module = build_tests(profile, tests)
    assay("profile", "build", release)
    assay("profile", "build", release, "--virtual-time")
    began, load = datetime.now(UTC), os.getloadavg()[0]
    found, upstream_seconds = upstream(tests, module, folder)
    covered = covering([spec.name for spec in found])
    matched = sorted({each for scenarios in covered.values() for each in scenarios})
    suites = [of_specs(found, upstream_seconds)]
    for name, real, words in ours(release, matched):
        out = folder / str(len(suites))
        seconds = timed(partial(assay, *words, "--out", out, codes=JUDGED))
        suites.append(of_runs(name, real, runs_of(out), seconds))
    return section(release, suites, covered, began, load)


def build_tests(profile: ImplementationProfile, to: Path) -> Path:
    """Build the program of the tests, and return the folder of the module."""
    wanted = profile.program.go_module
    assert wanted is not None, "releases of JobSet are Go modules"
    module = program.download(wanted, profile.implementation.version)
    command = [builder.go_toolchain(), "test", "-c", "-o", str(to), f"./{PACKAGE}"]
    environment = {**os.environ, **versions.BUILD_ENVIRONMENT}
    ended = subprocess.run(
        command, cwd=module.folder, env=environment, capture_output=True, text=True, check=False
    )
    if ended.returncode != 0:
        raise builder.BuildError(f"{' '.join(command)}:\n{ended.stderr[-2000:]}")
    return module.folder


def upstream(tests: Path, module: Path, folder: Path) -> tuple[list[Spec], float]:
    """The failure-policy cases, and the seconds of the whole command."""
    assets = folder / "assets"
    assets.mkdir(exist_ok=True)
    for name in ENVTEST:
        link = assets / name
        link.unlink(missing_ok=True)
        link.symlink_to(located(name))
    report = folder / "ginkgo.json"
    report.unlink(missing_ok=True)
    focus = TAG.strip().replace("[", r"\[").replace("]", r"\]")
    command = [
        *(str(tests), "--ginkgo.no-color"),
        *(f"--ginkgo.focus={focus}", f"--ginkgo.json-report={report}"),
    ]
    print(f"$ {' '.join(command)}", flush=True)
    environment = {**os.environ, "KUBEBUILDER_ASSETS": str(assets)}
    seconds = timed(
        partial(subprocess.run, command, cwd=module / PACKAGE, env=environment, check=False)
    )
    return specs(report), seconds


def located(name: str) -> Path:
    """A program of the control plane. BinariesMissingError if it is not there."""
    found = binaries.find(name)
    if found is None:
        raise binaries.BinariesMissingError(f"{name} is missing; {binaries.NEXT_ACTION}")
    return found.path


def version_told(name: str) -> str:
    """The version of a program of the control plane, as it prints it: `Kubernetes v1.36.3`."""
    command = [str(located(name)), "--version"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    first_line = told.stdout.splitlines()[0].replace(" Version:", "").replace(" version", "")
    return " ".join(first_line.split()[:2])


def covering(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The scenarios that cover each case, which the release has and this checkout knows."""
    known = scenarios_of_cases()
    cases = [name.removeprefix(TAG) for name in names]
    unknown = [case for case in cases if case not in known]
    if unknown:
        raise GinkgoError(
            f"{unknown[0]!r} is no case of upstream_cases.yaml; add it there, with a scenario "
            "that covers it"
        )
    return {case: known[case] for case in cases}


def ours(release: str, matched: Sequence[str]) -> Iterable[tuple[str, str, tuple[str, ...]]]:
    """Our suites: a name, what is real in it, and the words of `assay`."""
    program_real = "JobSet's program with its webhooks"
    all_simulated = "nothing: the controller is Assay's reference, and the cluster is simulated"
    judged = ("--edition", EDITION, "--jobs", "1", "--no-shrink", "--quiet")
    under_test = ("--implementation", release, *judged)
    yield (
        "Assay: the scenarios that cover them, control plane",
        f"{program_real}, etcd, kube-apiserver, kube-controller-manager, kube-scheduler; "
        "KWOK plays the kubelet",
        ("run", *matched, "--cluster", "control-plane", *under_test),
    )
    yield (
        "Assay: the scenarios that cover them, virtual time",
        f"{program_real}; the cluster is simulated",
        ("run", *matched, *under_test),
    )
    yield (
        "Assay: the scenarios that cover them, reference",
        all_simulated,
        ("run", *matched, *judged),
    )
    yield (
        "Assay: all scenarios of the suite, virtual time",
        f"{program_real}; the cluster is simulated",
        ("run", "jobset", *under_test),
    )
    yield (
        "Assay: all scenarios of the suite, reference",
        all_simulated,
        ("run", "jobset", *judged),
    )


def of_specs(found: Sequence[Spec], seconds: float) -> Suite:
    return Suite(
        "JobSet: its integration tests",
        "etcd, kube-apiserver, JobSet's reconcilers inside the test's process; no webhooks, Job "
        "controller, scheduler or kubelet: the tests write that a Job has failed",
        seconds,
        tuple(spec.seconds for spec in found),
        sum(spec.has_passed for spec in found),
    )


def of_runs(name: str, real: str, runs: Sequence[Run], seconds: float) -> Suite:
    return Suite(
        name,
        real,
        seconds,
        tuple(run.seconds for run in runs),
        sum(run.has_ended and not run.violated for run in runs),
        sum(run.faults for run in runs),
        sum(run.judged for run in runs),
        tuple(sorted({claim for run in runs for claim in run.violated})),
    )


def section(
    release: str,
    suites: Sequence[Suite],
    covered: dict[str, tuple[str, ...]],
    began: datetime,
    load: float,
) -> str:
    """The tables, with what it takes to repeat them."""
    version = release.removeprefix("jobset-")
    cases = "".join(
        f"| {case} | {', '.join(f'`{each}`' for each in scenarios)} |\n"
        for case, scenarios in covered.items()
    )
    violated = "".join(
        f"- {suite.name}: {', '.join(suite.violated)}\n" for suite in suites if suite.violated
    )
    return (
        f"Measured with `{COMMAND.format(release)}` on {began:%Y-%m-%d}, in one run, on "
        f"{len(os.sched_getaffinity(0))} cores ({platform.machine()}) with a load of {load:.1f} "
        f"when it began: JobSet {version}, "
        f"{', '.join(map(version_told, PROGRAMS))}, "
        f"{platform.python_implementation()} {platform.python_version()}.\n\n"
        f"JobSet's cases are those of `{PACKAGE}` that are named `{TAG.strip()}`. Assay's "
        f"scenarios are judged by the edition `{EDITION}`, and run with the feature gates of the "
        "profile, also those that cover a case without one. Everything runs one after the other; "
        "no build is timed. The seconds of all cases are those of the whole command, the start of "
        "its cluster included. A case of JobSet that expects a JobSet to stay active looks at it "
        "for 10 s, and most of its seconds are such waits. A fault of a scenario is mostly a pod "
        "that is made to fail.\n\n"
        "| suite | real | cases | without a failure | seconds, all | of a case, median | "
        "longest | faults per case | claims judged per case |\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|\n"
        f"{''.join(map(line, suites))}\n"
        + (
            "Claims that were violated ([known differences](findings/"
            f"{release}.md)):\n\n{violated}\n"
            if violated
            else ""
        )
        + "The cases, and the scenarios that cover the same behavior:\n\n"
        f"| case of JobSet {version} | scenarios |\n|---|---|\n{cases}"
    )


def line(suite: Suite) -> str:
    cases = len(suite.case_seconds)
    per_case = [
        "" if count is None else f"{count / cases:.1f}" for count in (suite.faults, suite.judged)
    ]
    cells = (
        suite.name,
        suite.real,
        str(cases),
        str(suite.kept),
        f"{suite.wall_seconds:.1f}",
        f"{statistics.median(suite.case_seconds):.2f}",
        f"{max(suite.case_seconds):.2f}",
        *per_case,
    )
    return f"| {' | '.join(cells)} |\n"


def timed(do: Callable[[], object]) -> float:
    """The seconds of a call, by the clock."""
    began = time.perf_counter()
    do()
    return time.perf_counter() - began


def assay(*words: object, codes: tuple[int, ...] = (0,)) -> int:
    """Run the command in the checkout and return its exit code; SystemExit if it is unexpected."""
    print(f"$ assay {' '.join(map(str, words))}", flush=True)
    command = [sys.executable, "-m", "conformance.cli", *map(str, words)]
    code = subprocess.run(command, cwd=TREE, check=False).returncode
    if code not in codes:
        sys.exit(f"assay {words[0]} ended with {code}")
    return code


if __name__ == "__main__":
    sys.exit(main())
