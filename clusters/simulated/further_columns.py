"""The columns of `kubectl get` for the kinds of `builtin.uncontrolled`, of autoscalers and of
disruption budgets; loaded when one of them is shown."""
# ruff: noqa: ARG001, ARG005 - a cell is given the time, too

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from clusters.simulated.table_cells import (
    Cell,
    access_modes_cell,
    age,
    containers_cell,
    field_cell,
    or_none,
    or_unset,
    selector_cell,
    selector_text,
    short_duration,
)
from clusters.simulated.tables import AGE, NAME, Column
from vocabulary.clock import SECOND, Micros
from vocabulary.objects import Object, get_path, is_terminating, meta, name_of
from vocabulary.selectors import to_text

_MOST_LISTED: Final = 3
_MOST_METRICS: Final = 2
_DEFAULT_CLASS: Final = (
    "ingressclass.kubernetes.io/is-default-class",
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)


def _text(title: str, cell: Cell | str) -> Column:
    return Column(title, field_cell(cell) if isinstance(cell, str) else cell)


def _number(title: str, path: str) -> Column:
    return Column(title, field_cell(path, 0), "integer")


def _flag(title: str, path: str) -> Column:
    return Column(title, field_cell(path, False), "boolean")


def _count(title: str, path: str) -> Column:
    return Column(title, lambda obj, now_us: len(get_path(obj, path) or ()), "integer")


def _joined(path: str, missing: str = "<none>") -> Cell:
    return lambda obj, now_us: ",".join(map(str, get_path(obj, path) or ())) or missing


def _labels(path: str) -> Cell:
    return lambda obj, now_us: to_text(get_path(obj, path) or {}) or "<none>"


def _or_not_available(path: str) -> Cell:
    return lambda obj, now_us: str(get_path(obj, path, "N/A"))


def _class_name(obj: Object, now_us: Micros) -> str:
    annotations = meta(obj).get("annotations") or {}
    is_default = any(annotations.get(key) == "true" for key in _DEFAULT_CLASS)
    return f"{name_of(obj)} (default)" if is_default else name_of(obj)


def _wide(template: str, selector: Cell) -> tuple[Column, ...]:
    return (
        Column("Containers", containers_cell("name", template), priority=1),
        Column("Images", containers_cell("image", template), priority=1),
        Column("Selector", selector, priority=1),
    )


def _first(listed: Sequence[str], more: int) -> str:
    text = ",".join(listed[:_MOST_LISTED])
    return f"{text} + {more} more..." if more > 0 else text


def _endpoints(obj: Object, now_us: Micros) -> str:
    found: list[str] = []
    for subset in obj.get("subsets") or ():
        addresses = [str(each["ip"]) for each in subset.get("addresses") or ()]
        ports: Sequence[Object] = subset.get("ports") or ()
        found += [f"{address}:{port['port']}" for port in ports for address in addresses]
        found += [] if ports else addresses
    return _first(found, len(found) - _MOST_LISTED) if obj.get("subsets") else "<none>"


def _claim(volume: Object, now_us: Micros) -> str:
    claim = get_path(volume, "spec.claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _volume_status(volume: Object, now_us: Micros) -> str:
    return "Terminating" if is_terminating(volume) else str(get_path(volume, "status.phase", ""))


def _suspended(obj: Object, now_us: Micros) -> str:
    return str(bool(get_path(obj, "spec.suspend")))


def _last_schedule(obj: Object, now_us: Micros) -> str:
    last = get_path(obj, "status.lastScheduleTime")
    return age(last, now_us) if last else "<none>"


def _cron_selector(obj: Object, now_us: Micros) -> str:
    selector = get_path(obj, "spec.jobTemplate.spec.selector")
    return "<none>" if selector is None else selector_text(selector)


def _scaled(obj: Object, now_us: Micros) -> str:
    target: Object = get_path(obj, "spec.scaleTargetRef", {})
    return f"{target.get('kind', '')}/{target.get('name', '')}"


def _metrics(obj: Object, now_us: Micros) -> str:
    metrics: Sequence[Object] = get_path(obj, "spec.metrics")
    current: Sequence[Object] = get_path(obj, "status.currentMetrics") or ()
    shown = [
        _metric(metric, current[position] if position < len(current) else {})
        for position, metric in enumerate(metrics)
    ]
    more = len(shown) - _MOST_METRICS
    text = ", ".join(shown[:_MOST_METRICS])
    return f"{text} + {more} more..." if more > 0 else text


def _metric(metric: Object, status: Object) -> str:
    source = str(metric.get("type", ""))
    field = source[:1].lower() + source[1:]
    target: Object = get_path(metric, f"{field}.target", {})
    current: Object = get_path(status, f"{field}.current", {})
    if source not in ("Resource", "ContainerResource"):
        measure = "averageValue" if "averageValue" in target else "value"
        average = " (avg)" if measure == "averageValue" and source != "Pods" else ""
        return f"{current.get(measure, '<unknown>')}/{target.get(measure, '')}{average}"
    name = get_path(metric, f"{field}.name")
    if "averageValue" in target:
        return f"{name}: {current.get('averageValue', '<unknown>')}/{target['averageValue']}"
    wanted = _percent(target, "<auto>")
    return f"{name}: {_percent(current, '<unknown>')}/{wanted}"


def _percent(amounts: Object, missing: str) -> str:
    percent = amounts.get("averageUtilization")
    return missing if percent is None else f"{percent}%"


def _request_state(request: Object, now_us: Micros) -> str:
    types = {each.get("type") for each in get_path(request, "status.conditions") or ()}
    decided = next((each for each in ("Denied", "Approved") if each in types), "Pending")
    failed = ",Failed" if "Failed" in types else ""
    return f"{decided}{failed}{',Issued' if get_path(request, 'status.certificate') else ''}"


def _requested_duration(request: Object, now_us: Micros) -> str:
    seconds = get_path(request, "spec.expirationSeconds")
    return "<none>" if seconds is None else short_duration(seconds * SECOND)


def _hosts(ingress: Object, now_us: Micros) -> str:
    rules: Sequence[Object] = get_path(ingress, "spec.rules") or ()
    hosts = [str(rule["host"]) for rule in rules if rule.get("host")]
    return _first(hosts, len(rules) - _MOST_LISTED) if hosts else "*"


def _addresses(ingress: Object, now_us: Micros) -> str:
    entries: Sequence[Object] = get_path(ingress, "status.loadBalancer.ingress") or ()
    return ",".join(sorted({str(each.get("ip") or each.get("hostname", "")) for each in entries}))


def _ingress_ports(ingress: Object, now_us: Micros) -> str:
    return "80, 443" if get_path(ingress, "spec.tls") else "80"


def _parameters(class_: Object, now_us: Micros) -> str:
    found = get_path(class_, "spec.parameters")
    if not found:
        return "<none>"
    group = f".{found['apiGroup']}" if found.get("apiGroup") is not None else ""
    return f"{found['kind']}{group}/{found['name']}"


def _pod_selector(policy: Object, now_us: Micros) -> str:
    return selector_text(get_path(policy, "spec.podSelector") or {})


def _parent(address: Object, now_us: Micros) -> str:
    parent = get_path(address, "spec.parentRef")
    if not parent:
        return "<none>"
    resource = f"{parent.get('resource', '')}.{parent.get('group', '')}".rstrip(".").lower()
    named = (resource, parent.get("namespace", ""), parent.get("name", ""))
    return "/".join(filter(None, named))


def _audiences(driver: Object, now_us: Micros) -> str:
    requests = get_path(driver, "spec.tokenRequests")
    if requests is None:
        return "<unset>"
    return ",".join(str(each.get("audience", "")) for each in requests)


def _parameter_kind(policy: Object, now_us: Micros) -> str:
    kind = get_path(policy, "spec.paramKind")
    return f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}" if kind else "<unset>"


def _parameter(binding: Object, now_us: Micros) -> str:
    reference = get_path(binding, "spec.paramRef")
    if not reference or not reference.get("name"):
        return "<unset>"
    return f"{reference.get('namespace') or '*'}/{reference['name']}"


def _claim_state(claim: Object, now_us: Micros) -> str:
    states = ["deleted"] if is_terminating(claim) else []
    if get_path(claim, "status.allocation") is None:
        states += [] if states else ["pending"]
    else:
        states += ["allocated", *(["reserved"] if get_path(claim, "status.reservedFor") else [])]
    return ",".join(states)


def _missing_level(schema: Object, now_us: Micros) -> str:
    for each in get_path(schema, "status.conditions") or ():
        if each.get("type") == "Dangling":
            return str(each.get("status"))
    return "?"


_LIMITED: Final = "spec.limited"
_QUEUING: Final = f"{_LIMITED}.limitResponse.queuing"


def _policy(title: str, path: str) -> tuple[Column, ...]:
    return NAME, _count(title, path), _text("ParamKind", _parameter_kind), AGE


_BINDING: Final = (
    NAME,
    _text("PolicyName", "spec.policyName"),
    _text("ParamRef", _parameter),
    AGE,
)


COLUMNS: Final[Mapping[str, Sequence[Column]]] = {
    "Endpoints": (NAME, _text("Endpoints", _endpoints), AGE),
    "PersistentVolume": (
        NAME,
        _text("Capacity", "spec.capacity.storage"),
        _text("Access Modes", access_modes_cell("spec.accessModes")),
        _text("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        _text("Status", _volume_status),
        _text("Claim", _claim),
        _text("StorageClass", "spec.storageClassName"),
        _text("VolumeAttributesClass", or_unset("spec.volumeAttributesClassName")),
        _text("Reason", "status.reason"),
        AGE,
        Column("VolumeMode", or_unset("spec.volumeMode"), priority=1),
    ),
    "PodTemplate": (
        NAME,
        _text("Containers", containers_cell("name", "template")),
        _text("Images", containers_cell("image", "template")),
        _text("Pod Labels", _labels("template.metadata.labels")),
    ),
    "ReplicationController": (
        NAME,
        _number("Desired", "spec.replicas"),
        _number("Current", "status.replicas"),
        _number("Ready", "status.readyReplicas"),
        AGE,
        *_wide("spec.template", _labels("spec.selector")),
    ),
    "DaemonSet.apps": (
        NAME,
        _number("Desired", "status.desiredNumberScheduled"),
        _number("Current", "status.currentNumberScheduled"),
        _number("Ready", "status.numberReady"),
        _number("Up-to-date", "status.updatedNumberScheduled"),
        _number("Available", "status.numberAvailable"),
        _text("Node Selector", _labels("spec.template.spec.nodeSelector")),
        AGE,
        *_wide("spec.template", selector_cell),
    ),
    "CronJob.batch": (
        NAME,
        _text("Schedule", "spec.schedule"),
        _text("Timezone", or_none("spec.timeZone")),
        Column("Suspend", _suspended, "boolean"),
        _count("Active", "status.active"),
        _text("Last Schedule", _last_schedule),
        AGE,
        *_wide("spec.jobTemplate.spec.template", _cron_selector),
    ),
    "HorizontalPodAutoscaler.autoscaling": (
        NAME,
        _text("Reference", _scaled),
        _text("Targets", _metrics),
        _text("MinPods", lambda obj, now_us: str(get_path(obj, "spec.minReplicas", "<unset>"))),
        Column("MaxPods", field_cell("spec.maxReplicas", 0)),
        Column("Replicas", field_cell("status.currentReplicas", 0)),
        AGE,
    ),
    "CertificateSigningRequest.certificates.k8s.io": (
        NAME,
        AGE,
        _text("SignerName", or_none("spec.signerName")),
        _text("Requestor", "spec.username"),
        _text("RequestedDuration", _requested_duration),
        _text("Condition", _request_state),
    ),
    "Ingress.networking.k8s.io": (
        NAME,
        _text("Class", or_none("spec.ingressClassName")),
        _text("Hosts", _hosts),
        _text("Address", _addresses),
        _text("Ports", _ingress_ports),
        AGE,
    ),
    "IngressClass.networking.k8s.io": (
        Column("Name", _class_name, format="name"),
        _text("Controller", "spec.controller"),
        _text("Parameters", _parameters),
        AGE,
    ),
    "NetworkPolicy.networking.k8s.io": (NAME, _text("Pod-Selector", _pod_selector), AGE),
    "IPAddress.networking.k8s.io": (NAME, _text("ParentRef", _parent)),
    "ServiceCIDR.networking.k8s.io": (NAME, _text("CIDRs", _joined("spec.cidrs", "")), AGE),
    "PodDisruptionBudget.policy": (
        NAME,
        _text("Min Available", _or_not_available("spec.minAvailable")),
        _text("Max Unavailable", _or_not_available("spec.maxUnavailable")),
        _number("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE,
    ),
    "CSIDriver.storage.k8s.io": (
        NAME,
        Column("AttachRequired", field_cell("spec.attachRequired", True), "boolean"),
        _flag("PodInfoOnMount", "spec.podInfoOnMount"),
        _flag("StorageCapacity", "spec.storageCapacity"),
        _text("TokenRequests", _audiences),
        _flag("RequiresRepublish", "spec.requiresRepublish"),
        _text("Modes", _joined("spec.volumeLifecycleModes")),
        AGE,
    ),
    "CSINode.storage.k8s.io": (NAME, _count("Drivers", "spec.drivers"), AGE),
    "StorageClass.storage.k8s.io": (
        Column("Name", _class_name, format="name"),
        _text("Provisioner", "provisioner"),
        _text("ReclaimPolicy", "reclaimPolicy"),
        _text("VolumeBindingMode", "volumeBindingMode"),
        Column("AllowVolumeExpansion", field_cell("allowVolumeExpansion", False)),
        AGE,
    ),
    "VolumeAttachment.storage.k8s.io": (
        NAME,
        Column("Attacher", field_cell("spec.attacher"), format="name"),
        _text("PV", "spec.source.persistentVolumeName"),
        _text("Node", "spec.nodeName"),
        _flag("Attached", "status.attached"),
        AGE,
    ),
    "VolumeAttributesClass.storage.k8s.io": (
        NAME,
        _text("DriverName", "driverName"),
        AGE,
    ),
    "ValidatingAdmissionPolicy.admissionregistration.k8s.io": _policy(
        "Validations", "spec.validations"
    ),
    "ValidatingAdmissionPolicyBinding.admissionregistration.k8s.io": _BINDING,
    "MutatingAdmissionPolicy.admissionregistration.k8s.io": _policy("Mutations", "spec.mutations"),
    "MutatingAdmissionPolicyBinding.admissionregistration.k8s.io": _BINDING,
    "DeviceClass.resource.k8s.io": (NAME, AGE),
    "ResourceClaim.resource.k8s.io": (NAME, _text("State", _claim_state), AGE),
    "ResourceClaimTemplate.resource.k8s.io": (NAME, AGE),
    "ResourceSlice.resource.k8s.io": (
        NAME,
        _text("Node", "spec.nodeName"),
        _text("Driver", "spec.driver"),
        _text("Pool", "spec.pool.name"),
        AGE,
    ),
    "FlowSchema.flowcontrol.apiserver.k8s.io": (
        NAME,
        _text("PriorityLevel", "spec.priorityLevelConfiguration.name"),
        Column("MatchingPrecedence", field_cell("spec.matchingPrecedence", 0)),
        _text("DistinguisherMethod", or_none("spec.distinguisherMethod.type")),
        AGE,
        _text("MissingPL", _missing_level),
    ),
    "PriorityLevelConfiguration.flowcontrol.apiserver.k8s.io": (
        NAME,
        _text("Type", "spec.type"),
        _text("NominalConcurrencyShares", f"{_LIMITED}.nominalConcurrencyShares"),
        _text("Queues", or_none(f"{_QUEUING}.queues")),
        _text("HandSize", or_none(f"{_QUEUING}.handSize")),
        _text("QueueLengthLimit", or_none(f"{_QUEUING}.queueLengthLimit")),
        AGE,
    ),
}
"""By kind."""
