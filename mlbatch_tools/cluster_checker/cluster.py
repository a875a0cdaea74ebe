"""The objects of a cluster by kind, and the AppWrapper operator's configuration among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from mlbatch_tools.manifests import Found
from mlbatch_tools.problems import (
    ToolError,
    described,
    object_at,
    objects_at,
    reading,
    short,
    text_at,
)
from mlbatch_tools.resources import GPU
from vocabulary.objects import Object, get_path, name_of, namespace_of
from vocabulary.safe_yaml import YamlError, load_yaml

Marks: TypeAlias = Mapping[tuple[str, str], str]
"""Effects by key and value of a label."""
KUEUE: Final = "kueue.x-k8s.io"
KUEUE_VERSIONS: Final = ("v1beta2", "v1beta1")
"""Those that are read; the newest first."""
OPERATORS: Final = (
    ("redhat-ods-applications", "codeflare-operator-config", "appwrapper.Config"),
    ("mlbatch-system", "appwrapper-operator-config", "appwrapper"),
    ("appwrapper-system", "appwrapper-operator-config", "appwrapper"),
)
"""Namespace and name of the ConfigMaps that may have the configuration, and its place there."""

_GPU_HEALTH: Final = "autopilot.ibm.com/gpuhealth"
_DEFAULT_MARKS: Final[Marks] = {
    (_GPU_HEALTH, "ERR"): "NoSchedule",
    (_GPU_HEALTH, "EVICT"): "NoExecute",
}


class Cluster:
    """The objects of a cluster."""

    def __init__(self, objects: Iterable[Object]) -> None:
        self._by_kind: dict[str, list[Object]] = defaultdict(list)
        for obj in objects:
            group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
            if group == KUEUE and version not in KUEUE_VERSIONS:
                known = " or ".join(f"{KUEUE}/{each}" for each in KUEUE_VERSIONS)
                with reading(obj):
                    raise ToolError(f"apiVersion is {obj['apiVersion']}; give it as {known}")
            if group in ("", KUEUE):
                self._by_kind[str(obj.get("kind", ""))].append(obj)
        self.is_configured = False
        self.slack_queue = ""
        """Empty: none is configured."""
        self.marks = _DEFAULT_MARKS
        """The effects of the node labels by which Autopilot says that GPUs are bad."""
        self._configure()

    def of(self, kind: str) -> Sequence[Object]:
        return self._by_kind[kind]

    def _configure(self) -> None:
        maps = {(namespace_of(each), name_of(each)): each for each in self.of("ConfigMap")}
        for namespace, name, path in OPERATORS:
            found = maps.get((namespace, name))
            # A map without the section is one of another operator: the next may have it.
            if found is not None and not self.is_configured:
                with reading(found):
                    self._read(get_path(_data_of(found), path), path)

    def _read(self, section: Any, path: str) -> None:
        if section is None:
            return
        if not isinstance(section, dict):
            raise ToolError(f"{path} is {short(section)}; write a mapping")
        self.is_configured = True
        self.slack_queue = text_at(section, "slackQueueName")
        if section.get("autopilot", {}) is None:
            self.marks = {}
        # A configuration that does not name the resource leaves the operator's marks in force.
        elif GPU in (taints := object_at(section, "autopilot.resourceTaints")):
            self.marks = {
                (text_at(each, "key"), text_at(each, "value")): text_at(each, "effect")
                for each in objects_at({"resourceTaints": taints[GPU]}, "resourceTaints")
            }


def _data_of(config_map: Object) -> Any:
    """The configuration in a ConfigMap."""
    text = object_at(config_map, "data").get("config.yaml")
    try:
        return load_yaml(text, "data[config.yaml]") if isinstance(text, str) else None
    except YamlError as error:
        raise ToolError(str(error)) from error


def effects_on(node: Object, marks: Marks) -> set[str]:
    """The effects of a node's taints, and of its labels that are marks."""
    labels = object_at(node, "metadata.labels")
    found = {marks.get((key, str(value)), "") for key, value in labels.items()}
    return found | {text_at(each, "effect") for each in objects_at(node, "spec.taints")}


def objects_of(dump: Iterable[Found]) -> list[Object]:
    """The objects of dumps, each once, where dumps overlap.

    Raises ToolError if an object is there in two states.
    """
    found: dict[tuple[str, str], Found] = {}
    for each in dump:
        group = str(each.obj["apiVersion"]).rpartition("/")[0]
        earlier = found.setdefault((group, described(each.obj)), each)
        if earlier.obj != each.obj:
            raise ToolError(
                f"{each.source}: {described(each.obj)} is in {earlier.source} too, in another "
                "state or version; give one dump only"
            )
    return [each.obj for each in found.values()]


def require_complete(objects: Iterable[Object]) -> None:
    """Raise ToolError if there are none of a kind without which the numbers would be wrong."""
    kinds = {str(each["kind"]) for each in objects}
    if missing := [kind for kind in ("Node", "ClusterQueue") if kind not in kinds]:
        raise ToolError(
            f"the files have no {' and no '.join(missing)}; dump them too: kubectl get "
            "nodes,pods,clusterqueues,localqueues,workloads -A -o json"
        )
