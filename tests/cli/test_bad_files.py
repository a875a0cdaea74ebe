"""Every command that is given files: each kind of bad one is named, with what to do about it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.cli.command import Ended
from tests.cli.conftest import Assay, Reports

NO_FOLDER = Path("/dev/null")
NOWHERE = NO_FOLDER / "out"
"""A path that cannot be created, even by root."""
RELEASED = Path(__file__).parents[2] / "reports/project-codeflare-appwrapper/v1-1-2-control-plane"
"""A report of the operator whose findings are asked for."""

READERS = {
    "check": ["check", "{}"],
    "check an audit log": ["check", "--operator-user", "operator", "--audit-log", "{}"],
    "replay": ["replay", "{}"],
    "verify": ["verify", "{}"],
    "html": ["report", "html", "{}"],
    "junit": ["report", "junit", "{}"],
    "sonobuoy": ["report", "sonobuoy", "{}"],
    "ai-conformance": ["report", "ai-conformance", "{}"],
    "rejudge": ["report", "rejudge", "{}", "--out", "again"],
    "submission": ["report", "submission", "{}"],
    "compare": ["compare", "{}", "{}"],
    "chaos": ["chaos", "{}"],
    "findings": ["profile", "findings", "appwrapper-v1.1.2", "{}"],
}
BAD = {
    "missing": None,
    "empty": b"",
    "binary": bytes(range(256)),
    "damaged gzip": gzip.compress(b"{}\n" * 2000, mtime=0)[:20] + b"\xff" * 40,
    "gzip cut short": gzip.compress(bytes(range(256)) * 40, mtime=0)[:30],
    "half of YAML": b"kind: [ConformanceReport",
    "half of JSON": b'{"kind": "Event", "apiV',
    "something else": b"apiVersion: v1\nkind: Pod\n",
}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """The command's argument, created first."""
    return tmp_path / "given.yaml"


def tells(ended: Ended, path: Path) -> None:
    """One line that names the file and the next action, and no number of the system's."""
    assert ended.code in (2, 4), ended
    assert ended.err.startswith("assay: "), ended.err
    assert ended.err.count("\n") == 1
    assert str(path) in ended.err
    assert any(mark in ended.err for mark in ("; ", "expected", "?")), ended.err
    assert "[Errno" not in ended.err
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("command", READERS)
def test_a_file_that_is_none_of_its_kind_is_named(
    assay: Assay, command: str, bad: str, given: Path
) -> None:
    if (content := BAD[bad]) is not None:
        given.write_bytes(content)
    tells(assay(*(word.format(given) for word in READERS[command])), given)


@pytest.mark.parametrize("command", READERS)
def test_a_folder_that_holds_nothing_is_named(assay: Assay, command: str, given: Path) -> None:
    given.mkdir()
    tells(assay(*(word.format(given) for word in READERS[command])), given)


WRITERS = {
    "html": ["report", "html", "{report}", "--out", "{out}"],
    "junit": ["report", "junit", "{report}", "--out", "{out}"],
    "sonobuoy": ["report", "sonobuoy", "{report}", "--out", "{out}"],
    "ai-conformance": ["report", "ai-conformance", "{report}", "--out", "{out}"],
    "rejudge": ["report", "rejudge", "{report}", "--out", "{out}"],
    "submission": ["report", "submission", "{report}", "--out", "{out}"],
    "compare as Markdown": ["compare", "{report}", "{report}", "--markdown", "{out}"],
    "compare as JSON": ["compare", "{report}", "{report}", "--json", "{out}"],
    "the page of a check": ["check", "{history}", "--page", "{out}"],
    "findings": ["profile", "findings", "appwrapper-v1.1.2", "{released}", "--out", "{out}"],
    "the page of a replay": ["replay", "{plan}", "--page", "{out}"],
    "the history of a replay": ["replay", "{plan}", "--history", "{out}"],
    "run": ["run", "slow-pods-hold-their-quota", "--out", "{out}"],
}


@pytest.mark.parametrize("command", WRITERS)
def test_a_place_that_cannot_be_written_is_named(
    assay: Assay, command: str, reports: Reports
) -> None:
    files = {
        "report": reports.bad,
        "history": next((reports.bad / "histories").iterdir()),
        "plan": next(reports.bad.glob("aw-*.yaml")),
        "released": RELEASED,
        "out": NOWHERE,
    }
    ended = assay(*(word.format_map(files) for word in WRITERS[command]))
    tells(ended, NO_FOLDER)


def test_a_run_finds_out_before_it_begins_that_its_report_cannot_be_written(assay: Assay) -> None:
    ended = assay("run", "slow-pods-hold-their-quota", "--out", NOWHERE)
    assert (ended.code, ended.out) == (4, "")
    assert f"{NOWHERE}: nothing can be written there: Not a directory; " in ended.err


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(BAD["damaged gzip"], "is not a readable gzip file", id="damaged"),
        pytest.param(gzip.compress(b'{"kind": ""}')[:14], "was cut short in its first", id="cut"),
    ],
)
def test_a_damaged_audit_log_is_not_called_one_without_writes(
    assay: Assay, content: bytes, complaint: str, given: Path
) -> None:
    given.write_bytes(content)
    ended = assay("check", "--audit-log", given)
    assert ended.code == 2
    assert f"{given}: {complaint}" in ended.err
    assert "fetch the file again" in ended.err


def test_a_history_that_was_cut_short_in_its_header_is_not_called_empty(
    assay: Assay, given: Path
) -> None:
    given.write_bytes(b'{"type":"header","for')
    ended = assay("check", given)
    assert ended.code == 2
    assert "was cut short in line 1, its header" in ended.err


def test_of_a_report_that_is_cut_off_it_is_said_wherever_that_shows(
    assay: Assay, reports: Reports, given: Path
) -> None:
    whole = (reports.bad / "report.yaml").read_bytes()
    last_line = whole.rindex(b"\nwallSeconds: ") + 1
    # Within its second line, in text in quotes, after a field's name, before its last field.
    for length in (30, whole.index(b'"') + 5, whole.index(b"document:") + 9, last_line):
        given.write_bytes(whole[:length])
        ended = assay("compare", reports.good, given)
        tells(ended, given)
        assert "; the file may be cut off, " in ended.err
        assert "copy it again from where it was written" in ended.err


def test_a_whole_report_with_a_wrong_field_is_not_called_cut_off(
    assay: Assay, reports: Reports, given: Path
) -> None:
    whole = (reports.bad / "report.yaml").read_bytes()
    given.write_bytes(whole.replace(b"\nprofiles:", b"\nprofils:", 1))
    ended = assay("compare", reports.good, given)
    tells(ended, given)
    assert "profils" in ended.err
    assert "cut off" not in ended.err
