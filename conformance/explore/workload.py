"""The workload: a file with the objects that a user creates."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from conformance.manifests.files import STAYS_FOR
from vocabulary.durations import parse_span
from vocabulary.objects import Object, annotations_of, name_of, namespace_of, with_path
from vocabulary.safe_yaml import YamlError, load_all_yaml_file

RUN_NAMESPACE: Final = "default"
"""The namespace of a simulated run."""


def read_workload(path: Path, stays_for: str = "") -> tuple[Object, ...]:
    """The objects in a file, in order; the first one says how long a run goes on at rest.

    Raises YamlError for a file that cannot be used.
    """
    found = [each for each in load_all_yaml_file(path) if each]
    if not found:
        raise YamlError(f"{path}: holds no object; write the manifest of what your users create")
    for number, each in enumerate(found, start=1):
        if not isinstance(each, dict) or not all(each.get(key) for key in ("apiVersion", "kind")):
            raise YamlError(f"{path}: document {number} has no apiVersion, or no kind; add it")
        if not isinstance(each.get("metadata"), dict) or not name_of(each):
            raise YamlError(
                f"{path}: document {number}: metadata.name is missing; name the object, so that "
                "runs can be compared"
            )
        if asked := annotations_of(each).get(STAYS_FOR):
            try:
                parse_span(asked)
            except ValueError as error:
                raise YamlError(
                    f"{path}: document {number}: metadata.annotations[{STAYS_FOR}]: {error}"
                ) from None
    if stays_for:
        found[0] = with_path(
            found[0], "metadata.annotations", {**annotations_of(found[0]), STAYS_FOR: stays_for}
        )
    return tuple(found)


def in_one_namespace(workload: Sequence[Object]) -> tuple[tuple[Object, ...], str]:
    """The workload without the only namespace that its objects name, if there is one, and that
    namespace: in each run its place is taken by the run's own, and by another one where a second
    workload has the same names."""
    named = {namespace_of(each) for each in workload} - {""}
    if len(named) != 1:
        return tuple(workload), ""
    (namespace,) = named
    kept = [each for each in workload if (each["kind"], name_of(each)) != ("Namespace", namespace)]
    return tuple(_in(each, namespace) for each in kept), namespace


def _in(value: Any, namespace: str) -> Any:
    """A manifest in which the namespace has become that of a run; its own is left out."""
    if isinstance(value, list):
        return [_in(each, namespace) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: _in(below, namespace) for key, below in value.items()}
    if found.get("namespace") == namespace:
        found["namespace"] = RUN_NAMESPACE
    if isinstance(value.get("metadata"), dict) and "kind" in value:
        found["metadata"].pop("namespace", None)
    return found
