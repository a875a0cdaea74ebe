"""`assay tools appwrapper-packager`: manifests as the components of one AppWrapper.

A document keeps its text, with its comments, if the indented lines, read again, say the same;
items of lists, and JSON, are written anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from mlbatch_tools.app_wrapper import API_VERSION, KIND, QUEUE_LABEL, as_yaml, require_label
from mlbatch_tools.known_fields import require_known_fields
from mlbatch_tools.manifests import Found, documents_in, items_in, source_of, text_of
from mlbatch_tools.pod_sets import INFERRED_BY_CONTROLLER, PodSet, pod_sets_in
from mlbatch_tools.problems import ToolError, described, reading
from vocabulary.kinds import RBAC_KINDS, kind_of
from vocabulary.objects import Object, meta, namespace_of
from vocabulary.safe_yaml import SafeLoader, YamlError

MAX_POD_SETS: Final = 8
"""Kueue admits no workload with more."""
WRAPPABLE: Final = (
    "PyTorchJob",
    "RayJob",
    "RayCluster",
    "Deployment",
    "StatefulSet",
    "Pod",
    "Job",
    "ServiceAccount",
    "Service",
    "Secret",
    "ConfigMap",
    "PersistentVolumeClaim",
    "PodGroup",
)
"""The kinds that the guide lists."""
_OF_SERVER: Final = ("uid", "resourceVersion", "ownerReferences", "deletionTimestamp")
"""Metadata of an object that exists: no cluster creates another with them."""
_CLUSTER_WIDE: Final = {
    "APIService",
    "ClusterQueue",
    "PersistentVolume",
    "ResourceFlavor",
    "StorageClass",
    *(each.kind for each in RBAC_KINDS if not each.namespaced),
}
_BLANK_LINES: Final = re.compile(r"\A(?:[ \t]*\n)+")
"""At the beginning."""


@dataclass(frozen=True, slots=True)
class Package:
    """An AppWrapper as text, and remarks for its user."""

    text: str
    remarks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Component:
    """One object, and its text if that can be kept."""

    found: Found
    text: str | None

    def lines(self) -> Iterator[str]:
        """The component as an item of `spec.components`."""
        yield "  - template:"
        yield from _indented(self.text or as_yaml(self.found.obj))
        declared = [{"path": each.path, "replicas": each.replicas} for each in self.declared()]
        if declared:
            yield from _indented(as_yaml({"podSets": declared}), "    ")

    def declared(self) -> list[PodSet]:
        """The podSets that the controller does not infer by itself."""
        obj = self.found.obj
        known = (obj["apiVersion"], obj["kind"]) in INFERRED_BY_CONTROLLER
        return [] if known else pod_sets_in(obj)


def package(paths: Iterable[Path], name: str, queue: str) -> Package:
    """Return an AppWrapper with the objects of these files. Raises ToolError or YamlError."""
    require_label("--name", name)
    if queue:
        require_label("--queue", queue)
    components = [each for path in paths for each in _components(path)]
    _validate(components)
    namespaces = {namespace_of(each.found.obj) for each in components} - {""}
    if len(namespaces) > 1:
        raise ToolError(
            f"the objects are of the namespaces {', '.join(sorted(namespaces))}; an AppWrapper's "
            "components are all in its own: make one AppWrapper for each"
        )
    metadata: dict[str, Any] = {"name": name}
    if namespaces:
        metadata["namespace"] = namespaces.pop()
    if queue:
        metadata["labels"] = {QUEUE_LABEL: queue}
    header = as_yaml({"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata})
    lines = [line for each in components for line in each.lines()]
    text = "\n".join((f"{header}spec:", "  components:", *lines, ""))
    return Package(text, tuple(_remarks(components)))


def _components(path: Path) -> Iterator[_Component]:
    text, source = text_of(path), source_of(path)
    documents = documents_in(text, source)
    texts = [] if text.lstrip().startswith(("{", "[")) else _texts(text)
    for index, document in enumerate(documents):
        if document is None:
            continue
        place = f"{source}[{index}]" if len(documents) > 1 else source
        for found in items_in(document, place):
            kept = texts[index] if index < len(texts) and found.obj is document else None
            yield _Component(found, kept if kept and _says(kept, document) else None)


def _texts(text: str) -> list[str]:
    """The text of each YAML document, without directives and markers."""
    found: list[str] = []
    start = 0
    for event in yaml.parse(text, Loader=SafeLoader):
        marked: Any = event
        if isinstance(event, yaml.DocumentStartEvent) and marked.explicit:
            start = marked.end_mark.index
        elif isinstance(event, yaml.DocumentEndEvent):
            found.append(_BLANK_LINES.sub("", text[start : marked.start_mark.index]))
            start = marked.end_mark.index
    return found


def _says(text: str, document: Object) -> bool:
    """True if the indented text still says the same."""
    try:
        read = documents_in("\n".join(["template:", *_indented(text), "end: true\n"]), "")
    except (ToolError, YamlError):
        return False
    return read == [{"template": document, "end": True}]


def _indented(text: str, indent: str = " " * 6) -> Iterator[str]:
    """The lines with their indentation; empty ones stay empty, as in block scalars."""
    for line in text.removesuffix("\n").split("\n"):
        yield f"{indent}{line}" if line else ""


def _validate(components: list[_Component]) -> None:
    if not components:
        raise ToolError("there is no object to wrap; name a file with Kubernetes manifests")
    seen: dict[tuple[str, str], str] = {}
    for each in components:
        obj, source = each.found
        try:
            with reading(obj):
                _require_wrappable(obj)
        except ToolError as error:
            raise ToolError(f"{source}: {error}") from error
        earlier = seen.setdefault((kind_of(obj).group_kind, described(obj)), source)
        if earlier is not source and meta(obj).get("name"):
            raise ToolError(
                f"{source}: {described(obj)} is in {earlier} too; an AppWrapper creates an object "
                "once: leave one of them out"
            )
    total = sum(len(pod_sets_in(each.found.obj)) for each in components)
    if not 1 <= total <= MAX_POD_SETS:
        raise ToolError(
            f"the objects have {total} pod templates; Kueue admits 1 to {MAX_POD_SETS} in one "
            f"AppWrapper: {'make several' if total else 'add a workload'}"
        )


def _require_wrappable(obj: Object) -> None:
    """Raise ToolError if no AppWrapper can create the object."""
    kind = kind_of(obj)
    if kind.kind == KIND and kind.group == API_VERSION.partition("/")[0]:
        raise ToolError(
            "kind is AppWrapper, and one cannot be nested in another; apply it as it is"
        )
    if not kind.namespaced or kind.kind in _CLUSTER_WIDE:
        raise ToolError(
            f"kind is {kind.kind}, which is in no namespace; an AppWrapper has namespaced "
            "components only: apply it separately"
        )
    if not (meta(obj).get("name") or meta(obj).get("generateName")):
        raise ToolError("metadata.name is missing; write one, or a generateName")
    for field in _OF_SERVER:
        if field in meta(obj):
            raise ToolError(
                f"metadata.{field} is that of an object in a cluster, and no other can be created "
                "with it; remove it"
            )
    require_known_fields(obj)
    pod_sets_in(obj)


def _remarks(components: list[_Component]) -> Iterator[str]:
    for each in components:
        obj = each.found.obj
        if obj["kind"] not in WRAPPABLE:
            yield (
                f"{described(obj)}: the guide does not list this kind; the operator may lack the "
                "right to create it"
            )
        for declared in each.declared():
            yield (
                f"{described(obj)}: {declared.replicas} pods are taken to come from "
                f"{declared.path}; correct its podSets if its controller makes another number"
            )
