"""The built-in kinds on which no controller of the simulation acts, in one table.

Their objects are stored as a real server stores them: with types, defaults, generations and
statuses. What controllers of a real cluster would do does not happen; `Plain.without` says what
that is. Values are checked as to their types, and label selectors are validated.

They are served where a cluster is asked for every kind (`Settings.every_kind`), and loaded only
there.
"""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple

from clusters.simulated.access.users import User
from clusters.simulated.builtin.affinity_validation import validate_label_selector
from clusters.simulated.builtin.pod_defaults import default_pod_template
from clusters.simulated.builtin.wire_form import as_go_writes
from clusters.simulated.builtin.workloads import WorkloadStrategy
from clusters.simulated.field_errors import FieldError
from clusters.simulated.strategy import ScalePaths, Strategy
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.integers import int64_of
from vocabulary.kinds import Kind
from vocabulary.messages import Field, entries_of, fields_of, tables
from vocabulary.objects import Object, get_path, labels_of, meta

_UNCHANGED: Final = ("apiVersion", "kind", "metadata")
_LABEL_SELECTOR: Final = "meta/v1.LabelSelector"


class Plain(NamedTuple):
    """One kind of the table."""

    kind: Kind
    without: str = ""
    """The consequence that it lacks its controller; "" for kinds that are only data, on which no
    controller has to act."""
    defaults: Mapping[str, Any] = {}
    """By dotted path, in which `[]` stands for each entry of a list: the value of a field that has
    none, or a function that completes it."""
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    subresources: frozenset[str] = frozenset()
    has_generation: bool = False
    unconditional_update: bool = True
    creates_on_update: bool = False
    returns_deleted: bool = False
    warning: str = ""
    """The one that each request gets."""
    strategy: Callable[[Plain], Strategy] | None = None
    """Of kinds with a class of their own."""


class PlainStrategy(Strategy):
    """A kind of such a table."""

    def __init__(self, plain: Plain) -> None:
        super().__init__(plain.kind)
        self.plain = plain
        self.short_names = plain.short_names
        self.categories = plain.categories
        self.subresources = plain.subresources
        self.has_generation = plain.has_generation
        self.unconditional_update = plain.unconditional_update
        self.creates_on_update = plain.creates_on_update
        self.returns_deleted = plain.returns_deleted

    def deprecation(self, version: str) -> Sequence[str]:
        return (self.plain.warning,) if self.plain.warning else ()

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        kept = {
            name
            for name, value in obj.items()
            if name in _UNCHANGED or (old is not None and value is old.get(name))
        }
        changed = {name: value for name, value in obj.items() if name not in kept}
        message = tables().kinds[obj["apiVersion"], self.kind.kind]
        written = {
            name: value
            for name, value in as_go_writes(changed, message).items()
            if name not in kept
        }
        for path, value in self.plain.defaults.items():
            steps = path.split(".")
            if steps[0].removesuffix("[]") not in kept:
                _fill(written, _field(message, steps[0]), steps, value)
        for name in changed.keys() - written.keys():
            del obj[name]
        obj |= written

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        message = tables().kinds[self.kind.api_version, self.kind.kind]
        status = next((each for each in fields_of(message) if each.name == "status"), None)
        if status is not None:
            obj["status"] = as_go_writes({}, status.type)

    def validate(self, obj: Object) -> list[FieldError]:
        message = tables().kinds[self.kind.api_version, self.kind.kind]
        return list(_selector_errors(obj, message, ""))

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        return self.validate(
            {name: value for name, value in new.items() if value is not old.get(name)}
        )

    def desires_other(self, new: Object, old: Object) -> bool:
        return any(
            new.get(name) != old.get(name)
            for name in new.keys() | old.keys()
            if name not in ("metadata", "status")
        )


def _field(message: str, name: str) -> Field:
    return next(each for each in fields_of(message) if each.name == name.removesuffix("[]"))


def _fill(part: dict[str, Any], field: Field, steps: Sequence[str], value: Any) -> None:
    """Fill in the default at a path below a part that is the caller's own."""
    found = part.get(field.name)
    if len(steps) > 1:
        inner = found if steps[0].endswith("[]") else [found]
        message = entries_of(field.type) or field.type
        for each in inner or ():
            if each is not None:
                _fill(each, _field(message, steps[1]), steps[1:], value)
    elif callable(value):
        if found is not None:
            is_list = steps[0].endswith("[]")
            part[field.name] = list(map(value, found)) if is_list else value(found)
    elif found is None or not (found or field.is_pointer):
        # Go cannot tell the zero of a field that is no pointer from none.
        part[field.name] = value


def _selector_errors(part: Any, type_: str, path: str) -> Iterator[FieldError]:
    """Those of the label selectors in a part of an object."""
    entries = entries_of(type_)
    if type_ == _LABEL_SELECTOR:
        yield from validate_label_selector(part, path)
    elif isinstance(part, list):
        for position, each in enumerate(part):
            yield from _selector_errors(each, entries, f"{path}[{position}]")
    elif isinstance(part, dict) and type_ in tables().messages:
        for field in fields_of(type_):
            at = f"{path}.{field.name}" if path else field.name
            yield from _selector_errors(part.get(field.name), field.type, at)


class _DaemonSetStrategy(WorkloadStrategy):
    short_names = ("ds",)
    subresources = frozenset({"status"})
    scale_paths = None
    spec_defaults: ClassVar = {"revisionHistoryLimit": 10}
    new_status: ClassVar = {
        "currentNumberScheduled": 0,
        "desiredNumberScheduled": 0,
        "numberMisscheduled": 0,
        "numberReady": 0,
    }
    name_in_messages: ClassVar = "daemonset"

    def default_strategy(self, spec: dict[str, Any]) -> None:
        strategy = {**(spec.get("updateStrategy") or {})}
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.get("rollingUpdate") or {}
            strategy["rollingUpdate"] = {"maxUnavailable": 1, "maxSurge": 0, **rolling}
        spec["updateStrategy"] = strategy

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        super().prepare_for_create(obj, now_us)
        _annotate(obj, max(1, int((meta(obj).get("annotations") or {}).get(_TEMPLATES, 1))))

    def prepare_for_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_update(new, old)
        changes = new["spec"].get("template") != old["spec"].get("template")
        _annotate(new, _templates(old) + changes)

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_status_update(new, old)
        _annotate(new, _templates(old))

    def unconverted(self, obj: Object) -> str:
        count = (meta(obj).get("annotations") or {}).get(_TEMPLATES)
        if count is None or int64_of(count) is not None:
            return ""
        because = "value out of range" if re.fullmatch("[+-]?[0-9]+", count) else "invalid syntax"
        return f'strconv.ParseInt: parsing "{count}": {because}'


_TEMPLATES: Final = "deprecated.daemonset.template.generation"
"""A field of an old version, which the current one keeps as an annotation."""


def _templates(obj: Object) -> int:
    return int(meta(obj)["annotations"][_TEMPLATES])


def _annotate(obj: dict[str, Any], templates: int) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {**annotations, _TEMPLATES: str(templates)}


class _ReplicationControllerStrategy(PlainStrategy):
    default_policy: ClassVar = "Orphan"
    scale_paths = ScalePaths()

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        """The template's labels are those of the controller, and its selector."""
        super().default(obj, old)
        labels = get_path(obj, "spec.template.metadata.labels")
        if labels and not obj["spec"].get("selector"):
            obj["spec"] = {**obj["spec"], "selector": labels}
        if labels and not labels_of(obj):
            obj["metadata"]["labels"] = labels


class _PersistentVolumeStrategy(PlainStrategy):
    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": to_rfc3339(now_us)}


_REQUESTER: Final = ("username", "uid", "groups", "extra")


class _CertificateSigningRequestStrategy(PlainStrategy):
    notes_requester: ClassVar = True

    def note_requester(self, obj: dict[str, Any], user: User) -> None:
        asked = {n: v for n, v in (obj.get("spec") or {}).items() if n not in _REQUESTER}
        obj["spec"] = {**asked, **user.to_info()}

    def prepare_for_update(self, new: dict[str, Any], old: Object) -> None:
        super().prepare_for_update(new, old)
        new["spec"] = old["spec"]


class _NetworkPolicyStrategy(PlainStrategy):
    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        super().default(obj, old)
        spec = obj["spec"]
        if not spec.get("policyTypes"):
            types = ["Ingress", *(["Egress"] if spec.get("egress") else [])]
            obj["spec"] = {**spec, "policyTypes": types}


_STATUS: Final = frozenset({"status"})
_MATCHING: Final = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}}
_POLICY: Final = {
    "spec.failurePolicy": "Fail",
    **{f"spec.matchConstraints.{name}": value for name, value in _MATCHING.items()},
    "spec.matchConstraints.resourceRules[].scope": "*",
    "spec.matchConstraints.excludeResourceRules[].scope": "*",
}
_BINDING: Final = {
    **{f"spec.matchResources.{name}": value for name, value in _MATCHING.items()},
    "spec.matchResources.resourceRules[].scope": "*",
    "spec.matchResources.excludeResourceRules[].scope": "*",
}


def _counted(request: Object) -> Object:
    """A request for devices, which is for one if it says nothing else."""
    mode = request.get("allocationMode") or "ExactCount"
    count = {"count": request.get("count") or 1} if mode == "ExactCount" else {}
    return {**request, "allocationMode": mode, **count}


def _devices(path: str) -> Mapping[str, Any]:
    return {
        f"{path}.devices.requests[].exactly": _counted,
        f"{path}.devices.requests[].firstAvailable[]": _counted,
    }


_ADMISSION: Final = "admissionregistration.k8s.io"
_NETWORKING: Final = "networking.k8s.io"
_STORAGE: Final = "storage.k8s.io"
_RESOURCE: Final = "resource.k8s.io"
_FLOWS: Final = "flowcontrol.apiserver.k8s.io"


def _namespaced(group: str, kind: str, plural: str) -> Kind:
    return Kind(group, "v1", kind, plural)


def _of_cluster(group: str, kind: str, plural: str) -> Kind:
    return Kind(group, "v1", kind, plural, namespaced=False)


UNCONTROLLED: Final[tuple[Plain, ...]] = (
    Plain(
        _namespaced("", "Endpoints", "endpoints"),
        defaults={"subsets[].ports[].protocol": "TCP"},
        short_names=("ep",),
        creates_on_update=True,
        warning="v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ),
    Plain(
        _of_cluster("", "PersistentVolume", "persistentvolumes"),
        "no claim is bound to it",
        {
            "spec.persistentVolumeReclaimPolicy": "Retain",
            "spec.volumeMode": "Filesystem",
            "spec.hostPath.type": "",
            "spec.iscsi.iscsiInterface": "default",
        },
        ("pv",),
        subresources=_STATUS,
        returns_deleted=True,
        strategy=_PersistentVolumeStrategy,
    ),
    Plain(
        _namespaced("", "PodTemplate", "podtemplates"),
        defaults={"template": default_pod_template},
        has_generation=True,
        returns_deleted=True,
    ),
    Plain(
        _namespaced("", "ReplicationController", "replicationcontrollers"),
        "it gets no pods",
        {"spec.replicas": 1, "spec.template": default_pod_template},
        ("rc",),
        ("all",),
        frozenset({"status", "scale"}),
        has_generation=True,
        strategy=_ReplicationControllerStrategy,
    ),
    Plain(
        _namespaced("apps", "DaemonSet", "daemonsets"),
        "it gets no pods",
        strategy=lambda plain: _DaemonSetStrategy(plain.kind),
    ),
    Plain(
        _namespaced("batch", "CronJob", "cronjobs"),
        "it makes no Jobs",
        {
            "spec.concurrencyPolicy": "Allow",
            "spec.suspend": False,
            "spec.successfulJobsHistoryLimit": 3,
            "spec.failedJobsHistoryLimit": 1,
            "spec.jobTemplate.spec.template": default_pod_template,
        },
        ("cj",),
        ("all",),
        _STATUS,
        has_generation=True,
    ),
    Plain(
        _of_cluster(
            "certificates.k8s.io", "CertificateSigningRequest", "certificatesigningrequests"
        ),
        "no certificate is issued",
        short_names=("csr",),
        subresources=frozenset({"status", "approval"}),
        strategy=_CertificateSigningRequestStrategy,
    ),
    Plain(
        _namespaced(_NETWORKING, "Ingress", "ingresses"),
        "it gets no address and routes nothing",
        short_names=("ing",),
        subresources=_STATUS,
        has_generation=True,
    ),
    Plain(
        _of_cluster(_NETWORKING, "IngressClass", "ingressclasses"),
        defaults={"spec.parameters.scope": "Cluster"},
        has_generation=True,
    ),
    Plain(
        _namespaced(_NETWORKING, "NetworkPolicy", "networkpolicies"),
        "no connection is refused",
        {"spec.ingress[].ports[].protocol": "TCP", "spec.egress[].ports[].protocol": "TCP"},
        ("netpol",),
        has_generation=True,
        strategy=_NetworkPolicyStrategy,
    ),
    Plain(_of_cluster(_NETWORKING, "IPAddress", "ipaddresses"), short_names=("ip",)),
    Plain(
        _of_cluster(_NETWORKING, "ServiceCIDR", "servicecidrs"),
        "Services get no addresses out of it",
        subresources=_STATUS,
    ),
    Plain(
        _of_cluster(_STORAGE, "CSIDriver", "csidrivers"),
        defaults={
            "spec.attachRequired": True,
            "spec.podInfoOnMount": False,
            "spec.storageCapacity": False,
            "spec.fsGroupPolicy": "ReadWriteOnceWithFSType",
            "spec.volumeLifecycleModes": ["Persistent"],
            "spec.requiresRepublish": False,
            "spec.seLinuxMount": False,
        },
        unconditional_update=False,
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_STORAGE, "CSINode", "csinodes"),
        unconditional_update=False,
        returns_deleted=True,
    ),
    Plain(
        _namespaced(_STORAGE, "CSIStorageCapacity", "csistoragecapacities"),
        unconditional_update=False,
    ),
    Plain(
        _of_cluster(_STORAGE, "StorageClass", "storageclasses"),
        defaults={"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        short_names=("sc",),
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_STORAGE, "VolumeAttachment", "volumeattachments"),
        "no volume is attached",
        subresources=_STATUS,
        unconditional_update=False,
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_STORAGE, "VolumeAttributesClass", "volumeattributesclasses"),
        short_names=("vac",),
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_ADMISSION, "ValidatingAdmissionPolicy", "validatingadmissionpolicies"),
        "no request is refused by it",
        _POLICY,
        categories=("api-extensions",),
        subresources=_STATUS,
        has_generation=True,
        unconditional_update=False,
    ),
    Plain(
        _of_cluster(
            _ADMISSION, "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"
        ),
        defaults=_BINDING,
        categories=("api-extensions",),
        has_generation=True,
        unconditional_update=False,
    ),
    Plain(
        _of_cluster(_ADMISSION, "MutatingAdmissionPolicy", "mutatingadmissionpolicies"),
        "no object is changed by it",
        _POLICY,
        categories=("api-extensions",),
        has_generation=True,
        unconditional_update=False,
    ),
    Plain(
        _of_cluster(
            _ADMISSION, "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings"
        ),
        defaults=_BINDING,
        categories=("api-extensions",),
        has_generation=True,
        unconditional_update=False,
    ),
    Plain(
        _of_cluster(_RESOURCE, "DeviceClass", "deviceclasses"),
        has_generation=True,
        returns_deleted=True,
    ),
    Plain(
        _namespaced(_RESOURCE, "ResourceClaim", "resourceclaims"),
        "no device is allocated",
        _devices("spec"),
        subresources=_STATUS,
        returns_deleted=True,
    ),
    Plain(
        _namespaced(_RESOURCE, "ResourceClaimTemplate", "resourceclaimtemplates"),
        "no claims are made of it",
        _devices("spec.spec"),
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_RESOURCE, "ResourceSlice", "resourceslices"),
        has_generation=True,
        returns_deleted=True,
    ),
    Plain(
        _of_cluster(_FLOWS, "FlowSchema", "flowschemas"),
        "no request is delayed by it",
        {"spec.matchingPrecedence": 1000},
        subresources=_STATUS,
        has_generation=True,
    ),
    Plain(
        _of_cluster(_FLOWS, "PriorityLevelConfiguration", "prioritylevelconfigurations"),
        "no request is delayed by it",
        {
            "spec.exempt.nominalConcurrencyShares": 0,
            "spec.exempt.lendablePercent": 0,
            "spec.limited.nominalConcurrencyShares": 30,
            "spec.limited.lendablePercent": 0,
            "spec.limited.limitResponse.queuing.queues": 64,
            "spec.limited.limitResponse.queuing.handSize": 8,
            "spec.limited.limitResponse.queuing.queueLengthLimit": 50,
        },
        subresources=_STATUS,
        has_generation=True,
    ),
)


def strategy_of(plain: Plain) -> Strategy:
    """The strategy of a kind of such a table."""
    return (plain.strategy or PlainStrategy)(plain)
