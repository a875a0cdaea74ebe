"""Structured logs: one JSON object per line on stderr, for people with `jq` and for machines."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO

import msgspec

LEVELS: Final = ("debug", "info", "warning", "error")

LOG: Final = logging.getLogger("reference_controller")
"""Give details as `LOG.info("…", extra=fields(key=key, …))`."""


def fields(**values: Any) -> dict[str, Any]:
    """The `extra` argument of a log call: fields that stand beside the message."""
    return {"fields": {name: _plain(value) for name, value in values.items()}}


def set_up(level: str, stream: TextIO | None = None) -> None:
    """Send this package's logs to the stream (stderr), at this level and above."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_JsonLines())
    LOG.handlers[:] = [handler]
    LOG.propagate = False
    LOG.setLevel(level.upper())


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            **getattr(record, "fields", {}),
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line).decode()


def _plain(value: Any) -> Any:
    return value if isinstance(value, str | int | float | bool | None) else str(value)
