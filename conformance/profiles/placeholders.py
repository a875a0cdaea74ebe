"""The words in braces that a profile's texts may hold, and filling them in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

PLACEHOLDERS: Final[Mapping[str, str]] = {
    "program": "the program's file",
    "kubeconfig": "a kubeconfig of its own user",
    "config": "its configuration file",
    "namespace": "the only namespace that it may act in",
    "health_port": "a free port on 127.0.0.1 for its health endpoint",
    "identity": "its name in a Lease",
    "leader_elect": "true if it is one of several, or false",
}
_WORD: Final = re.compile(r"\{(\w+)\}")


def placeholders_in(text: str) -> list[str]:
    """The words in braces."""
    return _WORD.findall(text)


def unknown(text: str) -> list[str]:
    """The words in braces that stand for nothing."""
    return [word for word in placeholders_in(text) if word not in PLACEHOLDERS]


def fill(value: Any, words: Mapping[str, str]) -> Any:
    """`value` with each placeholder in its texts replaced; a text that is but one becomes what
    YAML would read there, so that `{leader_elect}` is a boolean."""
    if isinstance(value, str):
        if value == "{leader_elect}":
            return words["leader_elect"] == "true"
        return _WORD.sub(lambda found: words[found[1]], value)
    if isinstance(value, Mapping):
        return {key: fill(item, words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, words) for item in value]
    return value
