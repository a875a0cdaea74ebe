"""What is asked of a kind cluster: pytest-kind's options, and a few more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

DEFAULT_NAME: Final = "assay"
DEFAULT_WORKERS: Final = 4
"""What the most demanding scenario needs, and two runs at a time of nearly all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOptions:
    """What was asked for; names and meanings are those of pytest-kind's options."""

    cluster_name: str = DEFAULT_NAME
    kind_bin: str = ""
    kind_image: str = ""
    kubeconfig: Path | None = None
    keep_cluster: bool = False
    fixture_deletes: bool = False
    """Whether pytest-kind's fixture deletes the cluster at the end, if it is not kept."""
    workers: int = DEFAULT_WORKERS
    download: bool = False
    """Whether kind and node image may be fetched where they are missing."""
