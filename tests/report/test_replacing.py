"""A report survives: whenever the next run is killed, or its disk is full, one report is whole."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from threading import Thread

import pytest

from conformance.report import folder as report_folder
from conformance.report.build import build_report
from conformance.report.folder import check_folder, write_folder
from conformance.report.replacing import left_over, replacing, report_at, write_whole
from conformance.report.submission import reports_below, write_submission
from conformance.report.yaml_text import read_report_at
from tests.cli.command import assay
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite
from vocabulary.history import read_history
from vocabulary.safe_yaml import YamlError

CHANGES = {"open", "os.mkdir", "os.rename", "os.remove", "os.link", "os.rmdir", "shutil.rmtree"}
"""Events of the interpreter before a file is changed, and before one is read."""
OLD, NEW = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


SUITE = sample_suite()


def _write(folder: Path, date: str) -> None:
    report = build_report(SUITE, CLAIMS, version="0.1.0", git_commit="", date=date)
    write_folder(folder, SUITE, report, CLAIMS)


def _is_killed(step: int, folder: Path, act: Callable[[], None]) -> bool:
    """True if a process of its own, which does this, was killed before the change of that number
    below a folder; False if it made fewer."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    numbers = iter(range(10_000))

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in CHANGES and str(folder) in str(arguments[0]) and next(numbers) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)
    act()
    os._exit(0)


def _require_whole(folder: Path) -> str:
    """The date of the folder's report, all of whose files can be read."""
    report = read_report_at(folder)
    for claim in report.claims:
        for test in claim.tests:
            assert read_history(report_at(folder) / test.history)[2]
    for name in ("index.html", "junit.xml", "aw-015.html", "aw-015.yaml"):
        assert (report_at(folder) / name).stat().st_size
    return report.date


def test_one_report_is_whole_whenever_its_writer_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    (folder / "cluster").mkdir(parents=True)
    step, dates, left = 0, [], 0
    while True:
        _write(folder, OLD)
        if not _is_killed(step, folder, lambda: _write(folder, NEW)):
            break
        dates.append(_require_whole(folder))
        left += bool(left_over(folder))
        check_folder(folder)
        step += 3  # many are alike: a link and a rename for each file that is put in place
    assert _require_whole(folder) == NEW
    # First the earlier report stands, from one step on the new one.
    assert dates == sorted(dates)
    assert set(dates) == {OLD, NEW}
    assert left > 10
    _write(folder, OLD)
    assert not left_over(folder)
    assert (folder / "cluster").is_dir()
    assert not list(folder.glob(".*"))


def test_a_submission_that_is_replaced_is_whole_whenever_that_is_killed(tmp_path: Path) -> None:
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "out"
    _write(old, OLD)
    _write(new, NEW)
    handed_in = write_submission(old, out).folder
    step, dates = 0, []
    while _is_killed(step, out, lambda: write_submission(new, out, replace=True)):
        report = read_report_at(handed_in)
        dates.append(report.date)
        for claim in report.claims:
            for test in claim.tests:
                assert read_history(report_at(handed_in) / test.history)[2]
        assert reports_below(out) == [handed_in]
        step += 3
        write_submission(old, out, replace=True)
        assert not left_over(handed_in)
    assert set(dates) == {OLD, NEW}


def test_a_full_disk_leaves_the_earlier_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path, OLD)

    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(report_folder, "junit_xml", full)
    with pytest.raises(OSError, match="No space left"):
        _write(tmp_path, NEW)
    assert _require_whole(tmp_path) == OLD
    assert not list(tmp_path.glob(".*"))


def test_verify_names_what_a_killed_run_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _write(tmp_path, OLD)
    assert _is_killed(20, tmp_path, lambda: _write(tmp_path, NEW))
    (left,) = left_over(tmp_path)
    ended = assay(monkeypatch, capsys, "verify", tmp_path)
    assert f"note: a run was killed while it wrote {left}; the next run removes that" in ended.out


def test_a_first_report_that_was_cut_off_is_no_report(tmp_path: Path) -> None:
    for step in range(100):
        folder = tmp_path / f"out-{step}"
        assert _is_killed(step, folder, partial(_write, folder, NEW))
        if left_over(folder):
            break
    with pytest.raises(
        YamlError, match=r"no such file; a run was killed while it wrote .*\.report-"
    ):
        read_report_at(folder)
    check_folder(folder)
    _write(folder, NEW)
    assert _require_whole(folder) == NEW


def test_a_writer_waits_for_another_and_what_that_writes_is_not_left_over(tmp_path: Path) -> None:
    other = Thread(target=_write, args=(tmp_path, NEW))
    with replacing(tmp_path, list):
        assert left_over(tmp_path) == []
        other.start()
        other.join(0.5)  # it would be over by then
        assert other.is_alive()
    other.join()
    assert _require_whole(tmp_path) == NEW


def test_no_file_is_missing_while_its_successor_is_put_in_place(tmp_path: Path) -> None:
    _write(tmp_path, OLD)
    step = 0
    while _is_killed(step, tmp_path, lambda: _write(tmp_path, NEW)):
        for name in ("report.yaml", "index.html", "junit.xml", "aw-015.html", "aw-015.yaml"):
            assert (tmp_path / name).stat().st_size
        step += 5


def test_one_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("old")
    link = tmp_path / "link.md"
    link.symlink_to(page)
    assert _is_killed(1, tmp_path, lambda: write_whole(page, "new"))
    assert page.read_text() == "old"
    write_whole(link, "new")
    assert page.read_text() == "new"
    assert link.is_symlink()
    write_whole(Path("/dev/null"), "new")
    assert not Path("/dev/null").is_file()
