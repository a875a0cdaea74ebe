"""Histories as files: what is written can be read, also what older versions wrote."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import BinaryIO

import pytest

from vocabulary import unpacking
from vocabulary.history import Header, HistoryError, Write, read_history, to_lines, write_history

HEADER = Header(
    scenario="by hand",
    seed=1,
    cluster="simulated",
    implementation="reference",
    clock="virtual",
    began_us=0,
    kubernetes_version="v1.36.0",
)


def write(**more: object) -> Write:
    return Write(n=0, t=0, actor="user", verb="create", kind="Pod", name="p", **more)  # type: ignore[arg-type]


def test_what_was_submitted_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl.gz"
    asked = {"kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}}
    entry = write(event="ADDED", object={"kind": "Pod"}, submitted=asked)
    write_history(path, HEADER, [entry])
    assert read_history(path) == (HEADER, [entry], True)


def test_a_history_from_before_submissions_were_kept_is_read_and_written_as_it_was(
    tmp_path: Path,
) -> None:
    old = (
        b'{"type":"header","format":1,"scenario":"by hand","seed":1,"cluster":"simulated",'
        b'"implementation":"reference","clock":"virtual","began_us":0,'
        b'"kubernetes_version":"v1.36.0",'
        b'"capabilities":{"writers":true,"options":true,"exact_times":true},'
        b'"parameters":{},"facts":{}}\n'
        b'{"type":"write","n":0,"t":0,"actor":"user","verb":"create","kind":"Pod","name":"p",'
        b'"event":"ADDED","object":{"kind":"Pod"}}\n'
    )
    path = tmp_path / "old.jsonl"
    path.write_bytes(old)
    header, entries, whole = read_history(path)
    assert (header, entries, whole) == (
        HEADER,
        [write(event="ADDED", object={"kind": "Pod"})],
        True,
    )
    assert to_lines(header, entries) == old


def test_a_history_that_may_not_be_read_says_what_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "history.jsonl"

    def refuse(path: Path) -> BinaryIO:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    # Rights stop nobody who runs as root, as tests in containers do.
    monkeypatch.setattr(unpacking, "open_regular", refuse)
    with pytest.raises(HistoryError) as told:
        read_history(path)
    assert str(told.value) == (
        f"{path}: cannot be read: Permission denied; change its rights, or those of its folder"
    )
