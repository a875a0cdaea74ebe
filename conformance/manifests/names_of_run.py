"""A scenario's manifest as one run submits it: in the run's own namespaces, under its own names.

Runs share a cluster, where names of cluster-scoped objects and of namespaces are taken once. So a
manifest, or a configuration, writes `$(RUN)` before such a name, wherever it stands, and a manifest
names a further namespace as the scenario declares it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from vocabulary.objects import Object, meta, namespace_of

RUN: Final = "$(RUN)"


def of_run(obj: Object, prefix: str, namespaces: Mapping[str, str]) -> Object:
    """The manifest with `prefix` for `$(RUN)`, in the namespace that stands for the named one."""
    named: Object = with_prefix(obj, prefix)
    namespace = namespaces.get(namespace_of(named))
    return (
        named
        if namespace is None
        else {**named, "metadata": {**meta(named), "namespace": namespace}}
    )


def with_prefix(value: Any, prefix: str) -> Any:
    """A manifest, or a configuration of an operator, with `prefix` for `$(RUN)`."""
    if isinstance(value, str):
        return value.replace(RUN, prefix)
    if isinstance(value, dict):
        return {key: with_prefix(below, prefix) for key, below in value.items()}
    if isinstance(value, list | tuple):
        return [with_prefix(item, prefix) for item in value]
    return value
