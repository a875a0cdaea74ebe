"""A Job compiled: its parts, in the order in which they are created.

A part is a function of the Job alone as it was launched, so that any pass finds the same ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

from reference_controller.streams.names import (
    ATTEMPT,
    CONTENT_ID,
    EXPORT,
    GENERATION,
    HOST_POOL,
    IMPORT,
    JOB,
    JOB_UID,
    LAUNCH_COUNT,
    OF_JOB,
    OF_PE,
    OPERATORS_FIELDS,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
)
from vocabulary.canonical import digest, encode
from vocabulary.kinds import CONFIG_MAP, POD, SERVICE, Kind
from vocabulary.objects import (
    Object,
    annotations_of,
    get_path,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)

AADL: Final = "aadl.xml"
PORT: Final = 10000
IMAGE: Final = "assay.dev/streams-runtime:1"
_SUFFIX: Final = 5


class Part(NamedTuple):
    """An object that a Job owns, as it is created."""

    kind: Kind
    object: Object

    @property
    def name(self) -> str:
        return name_of(self.object)


@dataclass(frozen=True)
class Compiled:
    """A launched Job."""

    job: Object

    @property
    def name(self) -> str:
        return name_of(self.job)

    @property
    def uid(self) -> str:
        return uid_of(self.job)

    @property
    def size(self) -> int:
        """The number of its ProcessingElements."""
        return int(get_path(self.job, "spec.statistics.processingElementCount", 0))

    @cached_property
    def parts(self) -> Sequence[Part]:
        """All but its pods."""
        return tuple(self._parts())

    @cached_property
    def counts(self) -> Counter[Kind]:
        """How many there are of each kind; none before its launch."""
        return Counter(part.kind for part in (self.parts if self.size else ()))

    def _parts(self) -> Iterator[Part]:
        spec = self.job["spec"]
        yield self._part(CONFIG_MAP, self.name, data={"labels": _text(self._ports())})
        for pe in range(self.size):
            yield self.config_map(pe)
        for pe in range(self.size):
            port = {"name": "data", "port": PORT}
            service = {"clusterIP": "None", "selector": {OF_JOB: self.name, OF_PE: str(pe)}}
            yield self._part(SERVICE, self._of(pe), pe, spec={**service, "ports": [port]})
        for index, pool in enumerate(spec.get("hostPools") or ()):
            yield self._part(HOST_POOL, f"{self.name}-{index}", spec={"index": index, **pool})
        for kind, key in ((EXPORT, "exports"), (IMPORT, "imports")):
            for end in spec.get(key) or ():
                name = f"{self.name}-{end['peId']}-{end['portId']}"
                yield self._part(kind, name, end["peId"], spec={"jobId": spec["id"], **end})
        for index, region in enumerate(spec.get("parallelRegions") or ()):
            name = f"{self.name}-{region['alias']}"
            yield self._part(PARALLEL_REGION, name, spec={"index": index, **region})
        for pe in range(self.size):
            yield self.processing_element(pe)

    def config_map(self, pe: int) -> Part:
        """The content of a ProcessingElement. Its name is drawn anew in each attempt."""
        aadl = _text(
            {
                "job": self.name,
                "id": self.job["spec"]["id"],
                "bundle": self.job["spec"].get("bundleRevision", ""),
                "pe": pe,
                "of": self.size,
                "regions": self.job["spec"].get("parallelRegions") or [],
            }
        )
        name = f"{self._of(pe)}-{suffix(self.uid, pe)}"
        found = self._part(CONFIG_MAP, name, pe, data={AADL: aadl})
        annotations = {CONTENT_ID: digest(aadl)}
        metadata = {**found.object["metadata"], "annotations": annotations}
        return Part(CONFIG_MAP, {**found.object, "metadata": metadata})

    def processing_element(self, pe: int) -> Part:
        content = annotations_of(self.config_map(pe).object)[CONTENT_ID]
        settings = self.job["spec"].get("processingElement") or {}
        spec = {"id": pe, "contentId": content, "launchCount": 0, "connectivity": "None"}
        return self._part(PROCESSING_ELEMENT, self._of(pe), pe, spec={**settings, **spec})

    def _of(self, pe: int) -> str:
        return f"{self.name}-{pe}"

    def _ports(self) -> Mapping[str, Any]:
        return {str(pe): PORT for pe in range(self.size)}

    def _part(self, kind: Kind, name: str, pe: int | None = None, **content: Any) -> Part:
        labels = {
            "app": "streams",
            "svc": "job" if pe is None else "pe",
            OF_JOB: self.name,
            JOB_UID: self.uid,
            ATTEMPT: labels_of(self.job).get(ATTEMPT, "1"),
            GENERATION: str(self.job["spec"]["generationId"]),
            **({} if pe is None else {OF_PE: str(pe)}),
        }
        metadata = {
            "name": name,
            "namespace": namespace_of(self.job),
            "labels": labels,
            "ownerReferences": [reference(JOB, self.job)],
        }
        head = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata}
        return Part(kind, {**head, **content})


def launched(job: Object, id_: int, phase: str, nodes: int, bundle: str) -> Object:
    """A new Job with the operator's fields set; without a wish it has an element for each node."""
    spec = job["spec"]
    size = int(get_path(spec, "fusion.manual", 0)) or max(nodes, 1)
    statistics = {
        "configMapCount": size + 1,
        "serviceCount": size,
        "hostPoolCount": len(spec.get("hostPools") or ()),
        "exportCount": len(spec.get("exports") or ()),
        "importCount": len(spec.get("imports") or ()),
        "parallelRegionCount": len(spec.get("parallelRegions") or ()),
        "processingElementCount": size,
    }
    own = {
        "id": id_,
        "generationId": 0,
        "phase": phase,
        "statistics": statistics,
        "bundleRevision": bundle,
    }
    return {**job, "spec": {**spec, **own}}


def pod_of(element: Object, config_map: Object, job: Object) -> Part:
    """The pod of a ProcessingElement's present launch."""
    launch, pe = int(element["spec"]["launchCount"]), str(element["spec"]["id"])
    labels = labels_of(element)
    kept = {key: labels[key] for key in ("app", OF_JOB, JOB_UID, ATTEMPT, GENERATION)}
    template = get_path(job, "spec.podTemplate") or {}
    metadata = {
        "name": pod_name(element),
        "namespace": namespace_of(element),
        "labels": {**kept, "svc": "pe", OF_PE: pe, LAUNCH_COUNT: str(launch)},
        "annotations": {
            **(get_path(template, "metadata.annotations") or {}),
            CONTENT_ID: annotations_of(config_map)[CONTENT_ID],
        },
        "ownerReferences": [reference(PROCESSING_ELEMENT, element)],
    }
    volume = {"name": "aadl", "configMap": {"name": name_of(config_map)}}
    mount = {"name": "aadl", "mountPath": "/etc/streams", "readOnly": True}
    container = {"name": "pe", "image": IMAGE, "volumeMounts": [mount]}
    spec = {"restartPolicy": "Never", "containers": [container], "volumes": [volume]}
    spec |= get_path(template, "spec") or {}
    return Part(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})


def pod_name(element: Object) -> str:
    """The name of the pod of its present launch."""
    return f"{name_of(element)}-{suffix(uid_of(element), int(element['spec']['launchCount']))}"


def reference(kind: Kind, owner: Object) -> Object:
    """The reference of an object to its controller."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "name": name_of(owner),
        "uid": uid_of(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def suffix(uid: str, number: int) -> str:
    """The end of a generated name: the same for each try, another for each uid and number."""
    return digest([uid, number])[:_SUFFIX]


def users_spec(job: Object) -> Object:
    """The spec as its user wrote it."""
    return {key: job["spec"][key] for key in job["spec"] if key not in OPERATORS_FIELDS}


def _text(value: object) -> str:
    return encode(value).decode()
