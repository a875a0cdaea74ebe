"""Runs a suite where Sonobuoy waits for its results, and hands in whatever came of it.

The suite is a process of its own: however it ends, and though it be killed for want of memory,
there is something to hand in, and Sonobuoy does not wait until its own time is up.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from conformance.report.sonobuoy import FILE_NAME, sonobuoy_yaml
from conformance.report.yaml_text import dump, read_report_at, report_path

ARCHIVE: Final = "assay.tar.gz"
DONE: Final = "done"
REPORT: Final = "report"
"""The report's folder, in the archive as beside it."""
_ASSAY: Final = (sys.executable, "-m", "conformance.cli")


def run_and_hand_in(arguments: Sequence[str], results: Path) -> int:
    """`assay run` with these arguments; its exit code. `results` is the folder that is shared.

    When it returns there are the archive and, after it, the file that names it there.
    """
    out = results / REPORT
    code = _run([*_ASSAY, "run", *arguments, "--out", str(out)])
    summary = results / FILE_NAME
    summary.write_text(_summary(out, code), encoding="utf-8")
    archive = results / ARCHIVE
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(summary, FILE_NAME)
        if out.is_dir():
            packed.add(out, REPORT)
    # Whoever waits for this file may read it as soon as it is there: it must be whole then.
    whole = results / f"{DONE}.part"
    whole.write_text(str(archive), encoding="utf-8")
    whole.replace(results / DONE)
    return code


def _run(command: Sequence[str]) -> int:
    with subprocess.Popen(command) as suite, _passing_on(signal.SIGTERM, suite):
        return suite.wait()


@contextmanager
def _passing_on(number: signal.Signals, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Forward this process's signals to the suite, which has to clean up the cluster."""
    before = signal.signal(number, lambda *_: process.send_signal(number))
    try:
        yield
    finally:
        signal.signal(number, before)


def _summary(out: Path, code: int) -> str:
    if report_path(out).is_file():
        return sonobuoy_yaml(read_report_at(out))
    error = f"the suite ended with code {code} and no report; the log of its container says why"
    return dump({"name": "assay", "status": "failed", "details": {"error": error}})
