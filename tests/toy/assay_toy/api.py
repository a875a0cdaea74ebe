"""The API: `Crew` has `spec.pods` pods, named after it; `status.ready` counts those that run."""

from typing import Final

from vocabulary.kinds import Kind

CREW: Final = Kind("toy.example.dev", "v1", "Crew", "crews")
IMAGE: Final = "registry.k8s.io/pause:3.10"


def pod_name(crew: str, index: int) -> str:
    return f"{crew}-{index}"
