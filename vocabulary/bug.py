"""An exception in one line, of a controller or of a checker."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Final

MOST_CHARACTERS: Final = 200


def in_words(error: Exception) -> str:
    """`KeyError: 'spec' (deletion.py:41, in components_of)`: what was raised, and by which line.

    One line, its message cut short, and no folder: it goes into histories, which do not differ
    from machine to machine.
    """
    message = " ".join(str(error).split())[:MOST_CHARACTERS]
    said = f"{type(error).__name__}: {message}" if message else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return said
    return f"{said} ({Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})"
