"""Exit code 1 means a violated claim; all other ends of a command have other codes."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.cli import app, judging
from conformance.cli.exit_code import ExitCode
from tests.cli.conftest import Assay
from tests.report.sample_run import failing_run
from vocabulary.history import to_lines

COMMAND = [sys.executable, "-m", "conformance.cli"]
LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["claims", "list"],
        ["claims", "show", "AW-015"],
        ["mutants", "--list"],
        ["run", "AW-015", "--all"],
        ["controller", "manifests", "appwrapper"],
        ["profile", "list"],
    ],
    ids=" ".join,
)
def test_output_that_nobody_reads_ends_a_command_as_sigpipe_does(
    arguments: list[str], tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [*COMMAND, *arguments],
            cwd=tmp_path,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert (ended.returncode, ended.stderr) == (ExitCode.UNREAD, "")


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
@pytest.mark.parametrize("arguments", [["nowhere"], ["check", "nowhere"]], ids=" ".join)
def test_bad_input_stays_bad_input_where_nobody_reads_why(
    arguments: list[str], unbuffered: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    try:
        ended = subprocess.run([*COMMAND, *arguments], env=environment, stderr=writing, check=False)
    finally:
        os.close(writing)
    assert ended.returncode == ExitCode.BAD_INPUT


def test_a_disk_without_room_for_the_output_is_the_environments_failure() -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*COMMAND, "claims", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == ExitCode.ENVIRONMENT
    assert "No space left on device" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp037"])
def test_characters_that_the_encoding_lacks_do_not_change_the_verdict(
    encoding: str, tmp_path: Path
) -> None:
    mutant = ["--implementation", "mutant:quota-released-on-failed"]
    ended = subprocess.run(
        [*COMMAND, "run", "slow-pods-hold-their-quota", *mutant],
        cwd=tmp_path,
        env={**os.environ, **LOCALE, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (ExitCode.VIOLATED, b"")
    assert "\\u2717".encode(encoding) in ended.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["claims", "list"], ["mutants", "--list"]])
def test_characters_that_the_encoding_lacks_are_no_failure(
    arguments: list[str], tmp_path: Path
) -> None:
    ended = subprocess.run(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env={**os.environ, **LOCALE, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_path_that_is_no_text_is_told_with_its_bytes_escaped(tmp_path: Path) -> None:
    nowhere = os.fsencode(tmp_path) + b"/\xff"
    ended = subprocess.run(
        [*map(os.fsencode, COMMAND), b"check", nowhere], capture_output=True, check=False
    )
    assert ended.returncode == ExitCode.BAD_INPUT
    assert b"\\udcff" in ended.stderr


def _exhausted(*_: object) -> None:
    raise MemoryError


def test_a_command_that_runs_out_of_memory_judges_nothing(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "all_claims", _exhausted)
    ended = assay("claims", "list")
    assert ended.code == ExitCode.ENVIRONMENT


def test_memory_that_runs_out_is_told_in_one_line(tmp_path: Path) -> None:
    def limited() -> None:
        # Without the stack, as RLIMIT_AS has it: one that cannot grow is a segmentation fault.
        resource.setrlimit(resource.RLIMIT_DATA, (120 * 1024**2, 120 * 1024**2))

    run = failing_run()
    header, *_ = to_lines(run.header, run.entries).splitlines(keepends=True)
    entry = b'{"type":"mark","n":%d,"t":1,"mark":"step","text":"' + b"x" * 99 + b'"}\n'
    path = tmp_path / "long.jsonl"
    path.write_bytes(header + b"".join(entry % n for n in range(400_000)))
    ended = subprocess.run(
        [*COMMAND, "check", str(path)],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == ExitCode.ENVIRONMENT, ended
    assert ended.stderr.startswith("assay: memory ran out; ")
    assert ended.stderr.count("\n") == 1


def test_an_error_while_a_problem_is_told_is_no_verdict(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(app, "report_problem", broken)
    assert assay("check", "nowhere").code == ExitCode.BUG
