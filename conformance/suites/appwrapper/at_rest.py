"""The steps of an AppWrapper, and the state that a run waits for once its faults have stopped."""

from __future__ import annotations

from vocabulary.objects import Object, condition_status, get_path


def is_at_rest(aw: Object) -> bool:
    """True if an AppWrapper may stay as it is indefinitely."""
    match get_path(aw, "status.phase", ""):
        case "Running":
            return condition_status(aw, "PodsReady") == "True"
        case "Succeeded" | "Failed":
            return condition_status(aw, "ResourcesDeployed") == "False"
        case "Suspended":
            return bool(get_path(aw, "spec.suspend", False))
    return False


def progress(aw: Object) -> object:
    """The phase and the number of resets."""
    return get_path(aw, "status.phase"), get_path(aw, "status.resettingCount")


def begins_again(aw: Object) -> bool:
    return bool(get_path(aw, "status.phase") == "Resetting")
