"""A stranger's files: none is waited for, none lies outside of its folder, and each is named."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Assay, Reports
from tests.cli.test_bad_files import READERS


def _socket(path: Path) -> None:
    # By a short name, as addresses are: the folder's own may be too long for one.
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(f"/proc/self/fd/{folder}/{path.name[:20]}")
        (path.parent / path.name[:20]).rename(path)
    finally:
        os.close(folder)


IRREGULAR: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pipe": (os.mkfifo, "is a pipe; save its output as a file"),
    "a socket": (_socket, ""),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "is a device; save its output"),
    "a loop": (lambda path: path.symlink_to(path), "symbolic links"),
}


@pytest.mark.parametrize("kind", IRREGULAR)
@pytest.mark.parametrize("command", READERS)
def test_what_is_no_regular_file_is_refused_at_once(
    assay: Assay, command: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, _ = IRREGULAR[kind]
    path = tmp_path / "given"
    make(path)
    ended = assay(*(word.format(path) for word in READERS[command]))
    assert ended.code in (2, 4), ended
    assert str(path) in ended.err
    assert "Traceback" not in ended.err


@pytest.fixture
def folder(reports: Reports, tmp_path: Path) -> Path:
    """A report of a run, to be spoiled."""
    copied = tmp_path / "stranger"
    shutil.copytree(reports.good, copied)
    return copied


def _replace_history(folder: Path, make: Callable[[Path], None]) -> None:
    history = next((folder / "histories").glob("*.jsonl.gz"))
    history.unlink()
    make(history)


def _rename_history(folder: Path, name: str) -> None:
    history = next((folder / "histories").glob("*.jsonl.gz"))
    report = folder / "report.yaml"
    text = report.read_text(encoding="utf-8")
    report.write_text(text.replace(f"histories/{history.name}", name), encoding="utf-8")


def _not_utf_8(folder: Path) -> None:
    history = next((folder / "histories").glob("*.jsonl.gz"))
    from conformance.cli.recordings import of_history
    from vocabulary.history import to_lines

    run = of_history(history).run
    history.write_bytes(to_lines(run.header, run.entries).replace(b'"uid":"', b'"uid":"\xff', 1))


SPOILED: dict[str, tuple[Callable[[Path], None], int, str]] = {
    **{
        f"{kind} as a history": (
            lambda folder, make=make: _replace_history(folder, make),  # type: ignore[misc]
            1,
            told,
        )
        for kind, (make, told) in IRREGULAR.items()
    },
    "a history elsewhere": (
        lambda folder: _replace_history(folder, lambda path: path.symlink_to("/etc/passwd")),
        1,
        "is outside of the directory",
    ),
    "all histories elsewhere": (
        lambda folder: (
            shutil.rmtree(folder / "histories"),
            (folder / "histories").symlink_to("/etc"),
        )[1],
        1,
        "is outside of the directory",
    ),
    "a name with a NUL": (
        lambda folder: _rename_history(folder, '"histories/a\\0b"'),
        1,
        "invalid file name",
    ),
    "a name with half a surrogate pair": (
        lambda folder: _rename_history(folder, '"histories/\\ud800"'),
        2,
        "report.yaml",
    ),
    "a name beyond all limits": (
        lambda folder: _rename_history(folder, f"histories/{'x' * 1000}"),
        1,
        "File name too long",
    ),
    "a path upwards": (
        lambda folder: _rename_history(folder, "histories/../../../../etc/passwd"),
        1,
        "is outside of the directory",
    ),
    "a device as a history": (
        lambda folder: _rename_history(folder, "/dev/zero"),
        1,
        "is outside of the directory",
    ),
    "bytes that are no UTF-8": (_not_utf_8, 1, ""),
    "a report that is no UTF-8": (
        lambda folder: (folder / "report.yaml").write_bytes(b"kind: \xff"),  # type: ignore[return-value]
        2,
        "is not UTF-8",
    ),
}


@pytest.mark.parametrize("how", SPOILED)
def test_a_strangers_folder_is_judged_or_refused_and_nothing_else(
    assay: Assay, how: str, folder: Path
) -> None:
    spoil, code, told = SPOILED[how]
    spoil(folder)
    ended = assay("verify", folder)
    assert ended.code == code, ended
    assert told in ended.out + ended.err
    assert "Traceback" not in ended.err
    for command in ("html", "junit", "submission"):
        out = folder.parent / "made"
        ended = assay("report", command, folder, *(("--out", out) if command != "junit" else ()))
        assert ended.code in (0, 1, 2), (command, ended)
        assert not (out.is_dir() and any(path.is_symlink() for path in out.rglob("*")))


def test_a_file_name_that_is_no_text_is_told_with_its_bytes_escaped(
    assay: Assay, folder: Path
) -> None:
    name = os.fsencode(folder / "histories") + b"/\xff.jsonl.gz"
    Path(os.fsdecode(name)).write_bytes(b"")
    ended = assay("verify", folder)
    assert ended.code == 1
    assert "\\udcff.jsonl.gz: is stored, but no row of the report refers to it" in ended.out
