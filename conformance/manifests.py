"""Reading a scenario's own manifests: YAML files that ship with Assay."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@lru_cache(maxsize=512)
def _parsed(path: Path) -> tuple[dict[str, Any], ...]:
    with path.open(encoding="utf-8") as stream:
        documents = [document for document in yaml.load_all(stream, _LOADER) if document]
    for document in documents:
        if "kind" not in document or "metadata" not in document:
            raise ValueError(f"{path}: every document needs apiVersion, kind and metadata")
    return tuple(documents)


def load_manifests(path: Path) -> list[dict[str, Any]]:
    """The documents of a manifest file, in order. They are shared: derive, never mutate."""
    return list(_parsed(path))
