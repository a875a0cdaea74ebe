"""An operator as a child process, and what tests ask of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LIMIT_SECONDS = 60.0


def eventually(
    holds: Callable[[], Any],
    limit_seconds: float = LIMIT_SECONDS,
    instead: Callable[[], Any] = lambda: "",
) -> Any:
    """Waits until the function returns something true, and returns that.

    If it never does, `instead` is asked for what there is instead, for the failure's message.
    """
    deadline = time.monotonic() + limit_seconds
    while True:
        value = holds()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {limit_seconds} s; {instead()}"
        time.sleep(0.02)


class ChildProcess:
    """One child process; its log is a file of JSON lines."""

    def __init__(self, script: str, options: dict[str, Any], log: Path) -> None:
        """Runs a script of this folder with the options as JSON in its first argument."""
        self._log = log
        with log.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name(script)), json.dumps(options)],
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stderr=stderr,
            )

    def log(self, message: str = "") -> list[dict[str, Any]]:
        """The log's lines so far, those with one message if one is given."""
        lines = [json.loads(line) for line in self._log.read_text().splitlines()]
        return [line for line in lines if not message or line["message"] == message]

    def page(self, path: str) -> tuple[int, str]:
        """Status and text of one of its HTTP pages."""
        port = next(line["port"] for line in self.log("listening") if path in line["pages"])
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def wait_ready(self) -> None:
        eventually(lambda: self.process.poll() is not None or self.log("listening"))
        assert self.process.poll() is None, self._log.read_text()
        eventually(lambda: self.page("/readyz")[0] == 200)

    def terminate(self) -> int:
        """SIGTERM; returns the exit code."""
        self.process.terminate()
        return self.process.wait(LIMIT_SECONDS)

    def kill(self) -> None:
        """SIGKILL, if it still runs."""
        self.process.kill()
        self.process.wait()
