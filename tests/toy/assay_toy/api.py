"""The API: `Crew` has `spec.pods` pods, named after it; `status.ready` counts those that run."""

from typing import Final

from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path

CREW: Final = Kind("toy.example.dev", "v1", "Crew", "crews")
IMAGE: Final = "registry.k8s.io/pause:3.10"


def pod_name(crew: str, index: int) -> str:
    return f"{crew}-{index}"


def is_at_rest(crew: Object) -> bool:
    """True if it has as many running pods as it wants."""
    return bool(get_path(crew, "status.ready", 0) == get_path(crew, "spec.pods", 0))


def pods(crew: Object) -> int:
    return int(get_path(crew, "spec.pods", 0))


def progress(crew: Object) -> object:
    """Its size: what else there is to do for a Crew is to create and delete pods."""
    return get_path(crew, "spec.pods")
