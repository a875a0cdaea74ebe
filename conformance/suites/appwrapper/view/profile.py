"""Where an implementation keeps what the claims speak of; the released names are the defaults.

A vendor that calls its retry counter something else gives another `Profile`; no checker
names a field of the AppWrapper by itself.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from vocabulary.history import Header
from vocabulary.objects import Object

Path = tuple[str, ...]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """Names and field paths of one implementation's AppWrapper API."""

    kind: str = "AppWrapper.workload.codeflare.dev"
    custom_resource: str = "appwrappers.workload.codeflare.dev"
    """The name of its CustomResourceDefinition."""
    phase: Path = ("status", "phase")
    resets: Path = ("status", "resettingCount")
    conditions: Path = ("status", "conditions")
    components: Path = ("spec", "components")
    suspend: Path = ("spec", "suspend")
    label: str = "workload.codeflare.dev/appwrapper"
    user_label: str = "workload.codeflare.dev/user"
    user_id_label: str = "workload.codeflare.dev/userid"
    queue_label: str = "kueue.x-k8s.io/queue-name"
    annotation_prefix: str = "workload.codeflare.dev.appwrapper/"
    finalizer: str = "workload.codeflare.dev/finalizer"
    workload_kind: str = "Workload.kueue.x-k8s.io"


RELEASED: Final = Profile()
"""The names of the released AppWrapper API, v1beta2."""


def profile_of(header: Header) -> Profile:
    """The names of the implementation that a history is of: the header's, or the released ones."""
    operator = header.operators.get("appwrapper")
    told = None if operator is None else operator.facts.fields
    return RELEASED if told is None else msgspec.convert(told, Profile)


def dig(obj: Object, path: Path) -> Any:
    """The value at a path of keys; None if any part of it is missing."""
    value: Any = obj
    for key in path:
        # A dict always: objects are plain ones, and to ask for a Mapping takes ten times as long.
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
