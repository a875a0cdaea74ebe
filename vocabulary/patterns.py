"""Regular expressions from outside, matched in linear time.

Kubernetes reads the patterns of schemas with Go's engine, RE2: without look-around and
back-references, and without the exponential time that Python's own can take.
"""

from __future__ import annotations

from typing import Any, Final

import re2

MAX_PATTERN_CHARACTERS: Final = 10_000
_OPTIONS: Final = re2.Options()
_OPTIONS.log_errors = False
_OPTIONS.max_mem = 8 * 1024**2


class PatternError(ValueError):
    """A pattern that RE2 does not take; the message says why."""


def compile_pattern(pattern: str) -> Any:
    """The compiled pattern, with `search`, `fullmatch` and `pattern`. Raises PatternError."""
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise PatternError(f"is longer than {MAX_PATTERN_CHARACTERS} characters")
    try:
        return re2.compile(pattern, _OPTIONS)
    except (re2.error, UnicodeEncodeError) as error:
        why = error.args[0]
        text = why.decode("utf-8", "replace") if isinstance(why, bytes) else str(error)
        raise PatternError(text) from error
