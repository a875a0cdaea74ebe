"""The size of a campaign's report, and what it takes to write, verify and compare it.

```
python ci/bench/reports.py appwrapper --runs 100000
```

The suite's scenarios are run once. The other runs are copies of them with names, seeds and digests
of their own: their report has the rows that a campaign's has in which all claims hold, and is made
by the same code. `assay verify` and `assay compare` run as processes of their own.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import msgspec

from conformance.cli.judging import claims_of
from conformance.report.build import build_report
from conformance.report.folder import write_folder
from conformance.report.run_result import RunResult, SuiteResult, test_name
from conformance.report.suite_version import git_commit, version
from conformance.report.uneventful import Uneventful
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from conformance.running.suite import run_suite

MIB = 1024 * 1024


class Used(NamedTuple):
    """Time and memory of a command."""

    seconds: float
    peak_mib: float
    code: int


def copied(run: RunResult, number: int) -> RunResult:
    """A run of a campaign that ended as this one did."""
    made = msgspec.structs.replace(
        run, variant=f"random plan {number}", seed=number, entries=(), error=""
    )
    digest = hashlib.sha256(f"{test_name(made)}\t{number}".encode()).hexdigest()
    return msgspec.structs.replace(made, history_sha256=digest)


def campaign(suite: SuiteResult, count: int) -> SuiteResult:
    """The suite with so many runs more, of which nothing has to be reported."""
    uneventful = Uneventful()
    sources = [run for run in suite.runs if Uneventful.is_one(copied(run, 1))]
    for n in range(count):
        run = copied(sources[n % len(sources)], n // len(sources) + 1)
        uneventful.add(run, shares_seed=False)
    return msgspec.structs.replace(
        suite, uneventful=uneventful, plans=len(suite.runs) + count, random_plans=count
    )


def measured(words: Sequence[str]) -> Used:
    """An `assay` command as a process of its own."""
    began = time.monotonic()
    command = [sys.executable, "-m", "conformance.cli", *words]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    return Used(seconds, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status))


def resident_mib() -> float:
    """The memory of this process now."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / MIB


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suites", nargs="+", help="Suites, scenarios or claims.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--out", type=Path, help="Keep the report there.")
    asked = parser.parse_args()
    options = RunOptions(
        seed=DEFAULT_SEED,
        command=f"assay run {' '.join(asked.suites)} --seed {DEFAULT_SEED} --random-plans 1",
    )
    once = run_suite(asked.suites, options, lambda _progress: None)
    before = resident_mib()
    whole = campaign(once, asked.runs)
    print(f"runs: {whole.count:,}; counting them took {resident_mib() - before:.0f} MiB of memory")
    with TemporaryDirectory() as scratch:
        folder = asked.out or Path(scratch) / "report"
        claims = claims_of(whole.standing)
        report = build_report(
            whole, claims, version=version(), git_commit=git_commit(), date="2026-01-01T00:00:00Z"
        )
        files = write_folder(folder, whole, report, claims)
        for path in (files.report, files.junit, files.index, folder / "runs.tsv.gz"):
            print(f"{path.name}: {path.stat().st_size / MIB:.2f} MiB")
        for words in (("verify", str(folder)), ("compare", str(folder), str(folder))):
            used = measured(words)
            print(
                f"assay {words[0]}: {used.seconds:.1f} s, {used.peak_mib:.0f} MiB, "
                f"exit code {used.code}"
            )


if __name__ == "__main__":
    main()
