"""Find the control plane's programs.

Each is searched in $KUBEBUILDER_ASSETS (which envtest setups already export), then in PATH, then
in the cache that `assay cluster build` fills. The first match wins, so that another version can
be tested without building anything.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from clusters.control_plane import versions

REQUIRED = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
OPTIONAL = ("kubectl",)
NEXT_ACTION = "run `assay cluster build` (5 to 10 minutes, once), or set KUBEBUILDER_ASSETS"


class BinariesMissingError(Exception):
    """Programs of the control plane were not found; the message names them and the next action."""


@dataclass(frozen=True)
class Binary:
    """A program and the place where it was found: KUBEBUILDER_ASSETS, PATH or cache."""

    name: str
    path: Path
    source: str


@dataclass(frozen=True)
class Binaries:
    """Every program that a control plane starts; `kubectl` is only a convenience."""

    etcd: Binary
    kube_apiserver: Binary
    kube_controller_manager: Binary
    kube_scheduler: Binary
    kwok: Binary
    kubectl: Binary | None


def cache_root() -> Path:
    """$ASSAY_CACHE, or `assay` in the user's cache directory."""
    if chosen := os.environ.get("ASSAY_CACHE"):
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay"


def cache_dir() -> Path:
    """The cache for programs of exactly the pinned versions."""
    return cache_root() / "control-plane" / versions.key() / "bin"


def find(name: str) -> Binary | None:
    """Return the program `name` from the first place that has it."""
    if assets := os.environ.get("KUBEBUILDER_ASSETS"):
        candidate = Path(assets) / name
        if _is_program(candidate):
            return Binary(name, candidate, "KUBEBUILDER_ASSETS")
    if on_path := shutil.which(name):
        return Binary(name, Path(on_path), "PATH")
    candidate = cache_dir() / name
    if _is_program(candidate):
        return Binary(name, candidate, "cache")
    return None


def locate() -> Binaries:
    """Find all programs. Raises `BinariesMissingError`, which says what to do next."""
    found = {name: find(name) for name in (*REQUIRED, *OPTIONAL)}
    missing = tuple(name for name in REQUIRED if found[name] is None)
    if missing:
        raise BinariesMissingError(
            f"not found: {', '.join(missing)} (searched KUBEBUILDER_ASSETS, PATH, {cache_dir()}); "
            f"{NEXT_ACTION}"
        )
    present = {name: binary for name, binary in found.items() if binary is not None}
    return Binaries(
        etcd=present["etcd"],
        kube_apiserver=present["kube-apiserver"],
        kube_controller_manager=present["kube-controller-manager"],
        kube_scheduler=present["kube-scheduler"],
        kwok=present["kwok"],
        kubectl=present.get("kubectl"),
    )


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
