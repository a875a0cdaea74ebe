"""Histories as files: what is written can be read, also what older versions wrote."""

from __future__ import annotations

import errno
import hashlib
from pathlib import Path
from typing import BinaryIO

import msgspec
import pytest

from tests.headers import header_of
from vocabulary import unpacking
from vocabulary.history import (
    HistoryError,
    Mark,
    Process,
    Write,
    history_digest,
    read_history,
    write_history,
)

HEADER = header_of(implementation="reference")


def write(**more: object) -> Write:
    return Write(n=0, t=0, actor="user", verb="create", kind="Pod", name="p", **more)  # type: ignore[arg-type]


def test_what_was_submitted_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl.gz"
    asked = {"kind": "Pod", "metadata": {"name": "p", "labels": {"a": "b"}}}
    entry = write(event="ADDED", object={"kind": "Pod"}, submitted=asked)
    write_history(path, HEADER, [entry])
    assert read_history(path) == (HEADER, [entry], True, history_digest(HEADER, [entry]))


def test_a_history_of_format_1_is_read_as_one_of_format_2(tmp_path: Path) -> None:
    old = (
        b'{"type":"header","format":1,"scenario":"by hand","seed":1,"cluster":"simulated",'
        b'"implementation":"reference","clock":"virtual","began_us":0,'
        b'"kubernetes_version":"v1.36.0",'
        b'"capabilities":{"writers":true,"options":true,"exact_times":true},'
        b'"parameters":{"a":1},"facts":{"poll_us":5,"slack_us":7}}\n'
        b'{"type":"write","n":0,"t":0,"actor":"user","verb":"create","kind":"Pod","name":"p",'
        b'"event":"ADDED","object":{"kind":"Pod"}}\n'
        b'{"type":"write","n":1,"t":0,"actor":"operator","verb":"delete","kind":"Pod"}\n'
        b'{"type":"process","n":2,"t":0,"process":"operator/1","change":"started"}\n'
        b'{"type":"mark","n":3,"t":0,"mark":"reconfigured","parameters":{"a":2}}\n'
    )
    path = tmp_path / "old.jsonl"
    path.write_bytes(old)
    header, entries, whole, digest = read_history(path)
    told = {"parameters": {"a": 1}, "facts": {"poll_us": 5, "slack_us": 7}}
    assert header == header_of(implementation="reference", **told)
    assert entries == [
        write(event="ADDED", object={"kind": "Pod"}),
        Write(n=1, t=0, actor="appwrapper", verb="delete", kind="Pod"),
        Process(n=2, t=0, process="appwrapper/1", change="started"),
        Mark(n=3, t=0, mark="reconfigured", role="appwrapper", parameters={"a": 2}),
    ]
    assert whole
    assert digest == hashlib.sha256(old).hexdigest(), "a report names it by what is in the file"


def test_a_fact_that_is_no_span_names_its_field(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl.gz"
    write_history(path, header_of(facts={"poll_us": -1}), [])
    with pytest.raises(HistoryError, match=r"line 1: .*>= 0.*operators.*facts\.poll_us"):
        read_history(path)


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


@pytest.mark.parametrize(
    "line", [b"[]", b'{"type":"fault","n":0,"t":0,"fault":5}', b'{"type":"write","actor":5}']
)
def test_a_damaged_line_of_format_1_is_named_with_its_number(tmp_path: Path, line: bytes) -> None:
    header = (
        b'{"type":"header","format":1,"scenario":"s","seed":1,"cluster":"simulated",'
        b'"implementation":"reference","clock":"virtual","began_us":0,"kubernetes_version":"v1"}\n'
    )
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(header + line + b"\n" + line + b"\n")
    with pytest.raises(HistoryError, match=r"line 2: .*expected one record of a history per line"):
        read_history(path)
    path.write_bytes(header.replace(b'"implementation":"reference",', b""))
    with pytest.raises(HistoryError, match="line 1: "):
        read_history(path)


def test_a_header_without_operators_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl.gz"
    write_history(path, msgspec.structs.replace(HEADER, operators={}), [])
    with pytest.raises(HistoryError, match="operators is empty"):
        read_history(path)
