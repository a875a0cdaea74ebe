"""Finds what an experiment would run outside of the simulation.

The Chaos Toolkit starts processes, sends HTTP requests and imports any Python module that an
experiment names, already when it validates one. In virtual time only the activities of
`chaos.toolkit.modules` act on nothing but the simulated cluster; whatever else an experiment
holds needs its user's word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any, Final

from chaos.toolkit.modules import ACTIONS, PROBES

SIMULATED: Final[Mapping[str, ModuleType]] = {
    name: import_module(name) for name in (*ACTIONS, *PROBES)
}
_READ_FROM_ELSEWHERE: Final = "vault"


def outside_of_simulation(experiment: Mapping[str, Any]) -> Iterator[str]:
    """A phrase for each part that acts outside: `the action 'x' starts the process '/bin/sh'`.

    Takes any mapping: the experiment need not have been validated.
    """
    yield from _below(experiment, "the experiment")


def _below(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _below(item, name)
        return
    if not isinstance(value, Mapping):
        return
    if "provider" in value or "type" in value:
        name = _name_of(value) or name
    if value.get("controls"):
        yield f"{name} has controls, which are Python modules"
    if value.get("type") == _READ_FROM_ELSEWHERE:
        yield f"{name} reads secrets from a vault"
    for key, item in value.items():
        if key == "provider":
            act = _act(item)
            if act:
                yield f"{name} {act}"
        elif key != "controls":
            # A variable of the configuration has its name as a key, an activity in a field.
            yield from _below(item, f"{name}, {key}" if name == "the experiment" else name)


def _name_of(activity: Mapping[str, Any]) -> str:
    named = activity.get("name")
    return f"the {activity.get('type', 'activity')} {named!r}" if named else ""


def _act(provider: Any) -> str:
    """The act of a provider outside; empty for an activity of the simulation."""
    if not isinstance(provider, Mapping):
        return f"has an unknown provider {provider!r}"
    kind = provider.get("type")
    if kind == "process":
        return f"starts the process {provider.get('path')!r}"
    if kind == "http":
        return f"sends a request to {provider.get('url')!r}"
    if kind != "python":
        return f"has a provider of type {kind!r}"
    module, function = provider.get("module"), provider.get("func")
    known = SIMULATED.get(module) if isinstance(module, str) else None
    if known is not None and function in known.__all__:
        return ""
    return f"calls the Python function {module}.{function}"
