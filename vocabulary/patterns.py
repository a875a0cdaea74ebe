"""Untrusted regular expressions, matched in linear time.

Kubernetes evaluates schema patterns with Go's engine, RE2: no look-around, no
back-references, and none of the exponential time that Python's own engine can take.
"""

from __future__ import annotations

from typing import Any, Final

import re2

MAX_PATTERN_CHARACTERS: Final = 10_000
_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 8 * 1024**2


class PatternError(ValueError):
    """A pattern that RE2 rejects; the message says why."""


def compile_pattern(pattern: str) -> Any:
    """Compile a pattern, with `search`, `fullmatch` and `pattern`. Raises PatternError."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"is longer than {MAX_PATTERN_CHARACTERS} characters")
    try:
        return re2.compile(pattern, _OPTIONS)
    except (re2.error, UnicodeEncodeError) as error:
        why = error.args[0]
        text = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(error)
        raise PatternError(text) from error
