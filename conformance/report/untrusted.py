"""Text from a cluster, made safe to show.

Names, annotations and messages are written by any client of the cluster. A terminal
would obey escape sequences in them, and characters that reorder text could make a failure
read like a pass. HTML has its own escaping on top of this (jinja2's).
"""

from __future__ import annotations

import re
from typing import Final

_INVISIBLE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff]"
)
MAX_SHOWN_CHARACTERS: Final = 4_096


def printable(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The text on one line; control and reordering characters as `\\u202e`; cut at `limit`."""
    if len(text) > limit:
        text = text[: max(limit - 1, 0)] + "…"
    return _INVISIBLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
