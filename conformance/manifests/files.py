"""Reading a scenario's own manifests: YAML files that ship with a suite."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from vocabulary.objects import Object, annotations_of
from vocabulary.safe_yaml import load_all_yaml_file

_GRANTED: Final = "assay.dev/granted"
STAYS_FOR: Final = "assay.dev/stays-for"
"""The annotation of an object of a workload with the span that a run goes on once it is at rest,
such as `61d`: for what operators do by the clock."""


@lru_cache(maxsize=512)
def _parsed(path: Path) -> bytes:
    """The documents as JSON, which cannot be changed, and is read a hundred times as fast."""
    documents = [document for document in load_all_yaml_file(path) if document]
    for document in documents:
        if "kind" not in document or "metadata" not in document:
            raise ValueError(f"{path}: every document needs apiVersion, kind and metadata")
    return msgspec.json.encode(documents)


def load_manifests(path: Path) -> list[dict[str, Any]]:
    """The documents of a manifest file, in order: new ones each time, which the caller may change.

    YamlError, which names file, line and column, for what is not plain data; a key that occurs
    twice in one mapping is refused, where other readers take the last one.
    """
    found: list[dict[str, Any]] = msgspec.json.decode(_parsed(path))
    return found


def is_granted(definition: Object) -> bool:
    """True for a kind of a scenario on which operators have all rights, as granted by a cluster's
    administrator. A definition may say that they have those alone which their roles ask for."""
    return annotations_of(definition).get(_GRANTED) != "false"
