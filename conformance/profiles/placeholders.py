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
    "webhook_port": "a free port for its admission webhooks",
    "mutating_webhooks": "the name of its MutatingWebhookConfiguration",
    "validating_webhooks": "the name of its ValidatingWebhookConfiguration",
    "folder": "a folder of its own",
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


def fill_text(text: str, words: Mapping[str, str]) -> str:
    """The text with each placeholder replaced."""
    return _WORD.sub(lambda found: words[found[1]], text)


def fill(value: Any, words: Mapping[str, str]) -> Any:
    """`value`, of a YAML document, with each placeholder in its texts replaced; a text that is but
    one becomes what YAML would read there: `{leader_elect}` a boolean, a port a number."""
    if isinstance(value, str):
        if value == "{leader_elect}":
            return words["leader_elect"] == "true"
        if value in ("{health_port}", "{webhook_port}"):
            return int(words[value[1:-1]])
        return fill_text(value, words)
    if isinstance(value, Mapping):
        return {key: fill(item, words) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [fill(item, words) for item in value]
    return value
