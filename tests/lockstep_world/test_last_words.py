"""The end of a program's log is the same in each run, wherever it is cut off."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.worlds.lockstep.program_process import ProgramProcess

LINE = "I0101 00:00:45.120638 {pid} server.go:68] listens at 127.0.0.1:{port}, files in {folder}\n"


def last_words(folder: Path, pid: int, port: int, cut: int) -> str:
    log = folder / "operator.log"
    log.write_text(20 * LINE.format(pid=pid, port=port, folder=folder) + cut * ".")
    process: Any = SimpleNamespace(
        _log=log, _log_begins=0, url="http://127.0.0.1:1", _host="127.0.0.1", port=1, _ports=(port,)
    )
    return cast("Any", ProgramProcess.last_words).fget(process)


@pytest.mark.parametrize("cut", range(0, 100, 7))
def test_what_differs_between_runs_is_not_in_it(tmp_path: Path, cut: int) -> None:
    long = tmp_path / "a-longer-name"
    long.mkdir()
    found = last_words(tmp_path, 7, 80, cut)
    assert found == last_words(long, 27752, 65535, cut)
    assert "PID" in found
