"""The audit log is read from the beginning of a line, wherever its writer is."""

from __future__ import annotations

from pathlib import Path

from clusters.control_plane import audit


def test_a_line_that_is_being_written_is_read_whole_once_it_is_there(tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    assert audit.end(log) == 0
    log.write_bytes(b"")
    assert audit.end(log) == 0
    log.write_bytes(b'{"verb": "create"}\n{"verb": "del')
    begin = audit.end(log)
    with log.open("ab") as stream:
        stream.write(b'ete"}\n')
    assert audit.read(log, begin) == ([{"verb": "delete"}], log.stat().st_size)
