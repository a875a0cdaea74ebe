"""Panics that a Go program logs and survives, as those on controller-runtime do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

_LOGGED: Final = re.compile(
    rb"Observed a panic"
    rb'(?:(?: in \w+)?: "?(?P<text>[^\t\n"{]{1,200})'
    rb'|[^\n]*?panic"?[=:] ?"(?P<field>[^"\n]{1,200}))?'
)
"""A line of klog, of its structured form, or of zap's forms."""


class PanicError(Exception):
    """A panic that the program has recovered from; the message is its value."""


def panics(log: bytes) -> Sequence[PanicError]:
    """Those in a program's log, each value once."""
    values = (found["text"] or found["field"] or b"" for found in _LOGGED.finditer(log))
    return [PanicError(value.decode("utf-8", "replace").strip()) for value in dict.fromkeys(values)]
