"""AppWrappers and other manifests as the tools write them."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from mlbatch_tools.problems import ToolError

API_VERSION: Final = "workload.codeflare.dev/v1beta2"
KIND: Final = "AppWrapper"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
DEFAULT_QUEUE: Final = "default-queue"
_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_PLAIN: Final = re.compile(r"[A-Za-z/][-\w./]*", re.ASCII)
_NOT_TEXT: Final = ("y", "n", "yes", "no", "on", "off", "true", "false", "null")
"""Words that some readers of YAML take for something else."""


def require_label(field: str, value: Any) -> str:
    """The value. Raises ToolError unless it is the name of a namespace, queue or workload."""
    if not isinstance(value, str) or not _LABEL.fullmatch(value):
        raise ToolError(
            f"{field} is {value!r}; write at most 63 lower-case letters, digits and '-', "
            "and no '-' at the ends"
        )
    return value


def as_yaml(*objects: Any) -> str:
    """The objects as YAML that every reader takes for the same."""
    text: str = yaml.dump_all(
        objects,
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100_000,
        explicit_start=len(objects) > 1,
    )
    return text


class _Dumper(yaml.SafeDumper):
    """Text is in quotes where any reader could take it for a number or a word of YAML."""

    def ignore_aliases(self, data: Any) -> bool:
        del data
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=_style(text))


def _style(text: str) -> str | None:
    if _PLAIN.fullmatch(text) and text.lower() not in _NOT_TEXT:
        return None
    lines = text.removesuffix("\n").split("\n")
    is_block = "\n" in text and lines[0][:1] not in ("", " ") and lines[-1]
    if is_block and all(each == each.rstrip() and each.isprintable() for each in lines):
        return "|"
    return '"'


_Dumper.add_representer(str, _text)
