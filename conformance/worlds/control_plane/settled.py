"""At rest: the state of an AppWrapper that a run waits for once its faults have stopped."""

from __future__ import annotations

from collections.abc import Callable

from vocabulary.errors import ApiError
from vocabulary.kinds import APPWRAPPER
from vocabulary.objects import Object, condition_status, get_path
from vocabulary.requests import List, ObjectList, Request


def is_settled(aw: Object) -> bool:
    """True if an AppWrapper may stay as it is indefinitely."""
    match get_path(aw, "status.phase", ""):
        case "Running":
            return condition_status(aw, "PodsReady") == "True"
        case "Succeeded" | "Failed":
            return condition_status(aw, "ResourcesDeployed") == "False"
        case "Suspended":
            return bool(get_path(aw, "spec.suspend", False))
    return False


def are_settled_now(call: Callable[[Request], Object | ObjectList], namespace: str) -> bool:
    """True if the API server itself says so of all AppWrappers: on a crowded machine watches may
    be late by more than the quiet that a run waits for."""
    try:
        found = call(List(APPWRAPPER, namespace, live=True))
        return isinstance(found, ObjectList) and all(map(is_settled, found.items))
    except ApiError:
        return False  # it is away; whether they are settled is not known yet
