"""The options of a kind cluster: pytest-kind's, and a few more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_NAME: Final = "assay"
DEFAULT_WORKERS: Final = 4
"""Enough for the most demanding scenario, and for two parallel runs of nearly all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """The options; names and meanings are those of pytest-kind's options."""

    cluster_name: str = DEFAULT_NAME
    kind_bin: str = ""
    kind_image: str = ""
    kubeconfig: Path | None = None
    keep_cluster: bool = False
    fixture_deletes: bool = False
    """True if pytest-kind's fixture deletes the cluster at the end, if it is not kept."""
    workers: int = DEFAULT_WORKERS
    download: bool = False
    """True if kind and node image may be fetched where they are missing."""
