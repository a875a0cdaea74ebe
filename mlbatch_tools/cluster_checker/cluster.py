"""The objects of a cluster by kind, and the AppWrapper operator's configuration among them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from mlbatch_tools.manifests import Found
from mlbatch_tools.problems import ToolError, described, object_at, objects_at, reading
from vocabulary.objects import Object, get_path, name_of, namespace_of
from vocabulary.safe_yaml import load_yaml

GPU: Final = "nvidia.com/gpu"
GDR: Final = "nvidia.com/roce_gdr"
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
_DEFAULT_MARKS: Final = {(_GPU_HEALTH, "ERR"): "NoSchedule", (_GPU_HEALTH, "EVICT"): "NoExecute"}


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
        self.configuration = self._configuration()

    def of(self, kind: str) -> Sequence[Object]:
        return self._by_kind[kind]

    def _configuration(self) -> Object | None:
        """The operator's configuration; None if there is none."""
        maps = {(namespace_of(each), name_of(each)): each for each in self.of("ConfigMap")}
        for namespace, name, path in OPERATORS:
            if (namespace, name) not in maps:
                continue
            with reading(maps[namespace, name]):
                text = object_at(maps[namespace, name], "data").get("config.yaml")
            source = f"ConfigMap {namespace}/{name}: data[config.yaml]"
            data = load_yaml(text, source) if isinstance(text, str) else None
            found = get_path(data, path)
            # A map without the section is one of another operator: the next may have it.
            if isinstance(found, dict):
                return found
        return None


def slack_queue_of(configuration: Object | None) -> str:
    name = (configuration or {}).get("slackQueueName") or ""
    if not isinstance(name, str):
        raise ToolError(f"the operator's configuration: slackQueueName is {name!r}; write a name")
    return name


def gpu_marks(configuration: Object | None) -> Mapping[tuple[str, str], str]:
    """The effects of the node labels by which Autopilot says that GPUs are bad.

    A configuration that does not name the resource leaves the operator's own marks in force.
    """
    if configuration is not None and configuration.get("autopilot", {}) is None:
        return {}
    taints = object_at(configuration or {}, "autopilot.resourceTaints")
    if GPU not in taints:
        return _DEFAULT_MARKS
    return {
        (str(each.get("key")), str(each.get("value"))): str(each.get("effect"))
        for each in objects_at({"taints": taints[GPU]}, "taints")
    }


def objects_of(dump: Iterable[Found]) -> list[Object]:
    """The objects of dumps, each once, where dumps overlap.

    Raises ToolError if an object is there in two states, or if there are none of a kind without
    which the numbers would be wrong.
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
    kinds = {str(each.obj["kind"]) for each in found.values()}
    if missing := [kind for kind in ("Node", "ClusterQueue") if kind not in kinds]:
        raise ToolError(
            f"the files have no {' and no '.join(missing)}; dump them too: kubectl get "
            "nodes,pods,clusterqueues,localqueues,workloads -A -o yaml"
        )
    return [each.obj for each in found.values()]
