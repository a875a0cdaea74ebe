"""Definitions of custom resources, as they are installed on a simulated and a real API server.

They are small structural schemas of kubeflow.org/v1 PyTorchJob, and of ray.io/v1 RayCluster and
RayJob: what the simulated controllers and workloads around them read, nothing else of these APIs.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import yaml

from vocabulary.objects import Object

_FOLDER = Path(__file__).parent


@lru_cache(maxsize=64)
def load_crd(name: str) -> Object:
    """The CustomResourceDefinition in `<name>.yaml` of this folder, parsed once per process."""
    path = _FOLDER / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(entry.stem for entry in _FOLDER.glob("*.yaml")))
        raise ValueError(f"no definition {name!r} in clusters/crds; there are {known}")
    parsed: Object = yaml.safe_load(path.read_text(encoding="utf-8"))
    return parsed


def all_crds() -> tuple[Object, ...]:
    """Every definition of this folder, for a cluster that shall serve them all."""
    return tuple(load_crd(path.stem) for path in sorted(_FOLDER.glob("*.yaml")))
