"""The columns of `kubectl get` for built-in kinds; of all but Events, the name is before them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from clusters.simulated.binding_cells import SUBJECT_COLUMNS, role_of_binding
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, Micros, parse_rfc3339
from vocabulary.objects import (
    Object,
    condition,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    meta,
)
from vocabulary.selectors import to_text

Cell = Callable[[Object, Micros], Any]


def age(since: str | None, now_us: Micros) -> str:
    """How long ago a timestamp was, as short as kubectl says it."""
    if not since:
        return "<unknown>"
    return short_duration(now_us - parse_rfc3339(since))


def short_duration(span_us: Micros) -> str:
    """Two units at most, and only while the smaller one tells something: 95s, 3m20s, 5h, 2d3h."""
    seconds = span_us // SECOND
    if seconds < -1:
        return "<invalid>"
    if seconds < 0:
        return "0s"
    for limit_us, unit_us, unit, smaller_us, smaller in (
        (2 * MINUTE, SECOND, "s", 0, ""),
        (10 * MINUTE, MINUTE, "m", SECOND, "s"),
        (3 * HOUR, MINUTE, "m", 0, ""),
        (8 * HOUR, HOUR, "h", MINUTE, "m"),
        (2 * DAY, HOUR, "h", 0, ""),
        (8 * DAY, DAY, "d", HOUR, "h"),
        (2 * 365 * DAY, DAY, "d", 0, ""),
    ):
        if span_us < limit_us:
            whole, rest = divmod(span_us, unit_us)
            detail = rest // smaller_us if smaller_us else 0
            return f"{whole}{unit}{f'{detail}{smaller}' if detail else ''}"
    return f"{span_us // (365 * DAY)}y"


def _age(obj: Object, now_us: Micros) -> str:
    return age(meta(obj).get("creationTimestamp"), now_us)


def field_cell(path: str, default: Any = "") -> Cell:
    return lambda obj, now_us: get_path(obj, path, default)  # noqa: ARG005


def or_unset(path: str) -> Cell:
    return lambda obj, now_us: get_path(obj, path) or "<unset>"  # noqa: ARG005


def or_none(path: str) -> Cell:
    return lambda obj, now_us: get_path(obj, path) or "<none>"  # noqa: ARG005


# Pods


def _statuses(pod: Object) -> Sequence[Object]:
    return get_path(pod, "status.containerStatuses") or ()


def _pod_ready(pod: Object, now_us: Micros) -> str:  # noqa: ARG001
    ready = sum(1 for status in _statuses(pod) if status.get("ready"))
    return f"{ready}/{len(get_path(pod, 'spec.containers', ()))}"


def _pod_status(pod: Object, now_us: Micros) -> str:  # noqa: ARG001
    reason = str(get_path(pod, "status.reason") or get_path(pod, "status.phase", ""))
    gated = condition(pod, "PodScheduled")
    if gated is not None and gated.get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    initializing = _initializing(pod)
    reason = initializing or _containers_reason(pod, reason)
    if is_terminating(pod):
        if get_path(pod, "status.reason") == "NodeLost":
            return "Unknown"
        if get_path(pod, "status.phase") not in ("Failed", "Succeeded"):
            return "Terminating"
    return reason


def _initializing(pod: Object) -> str:
    statuses = get_path(pod, "status.initContainerStatuses") or ()
    for position, status in enumerate(statuses):
        state = status.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting")
        if terminated is not None and not terminated.get("exitCode"):
            continue
        if terminated is not None:
            return f"Init:{terminated.get('reason') or 'ExitCode:' + str(terminated['exitCode'])}"
        if waiting is not None and waiting.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waiting['reason']}"
        return f"Init:{position}/{len(get_path(pod, 'spec.initContainers', ()))}"
    return ""


def _containers_reason(pod: Object, reason: str) -> str:
    running = False
    for status in reversed(_statuses(pod)):
        state = status.get("state") or {}
        waiting, terminated = state.get("waiting"), state.get("terminated")
        if waiting is not None and waiting.get("reason"):
            reason = waiting["reason"]
        elif terminated is not None:
            signal = terminated.get("signal")
            how = f"Signal:{signal}" if signal else f"ExitCode:{terminated.get('exitCode', 0)}"
            reason = terminated.get("reason") or how
        elif status.get("ready") and "running" in state:
            running = True
    if reason == "Completed" and running:
        return "Running" if condition_status(pod, "Ready") == "True" else "NotReady"
    return reason


def _restarts(pod: Object, now_us: Micros) -> str:  # noqa: ARG001
    return str(sum(status.get("restartCount", 0) for status in _statuses(pod)))


# Nodes


def _node_status(node: Object, now_us: Micros) -> str:  # noqa: ARG001
    value = condition_status(node, "Ready")
    ready = {"": "Unknown", "True": "Ready"}.get(value, "NotReady")
    if get_path(node, "spec.unschedulable"):
        return f"{ready},SchedulingDisabled"
    return ready


def _address(type_: str) -> Cell:
    def cell(node: Object, now_us: Micros) -> str:  # noqa: ARG001
        for entry in get_path(node, "status.addresses") or ():
            if entry.get("type") == type_:
                return str(entry["address"])
        return "<none>"

    return cell


def _node_info(field: str) -> Cell:
    return lambda node, now_us: get_path(node, f"status.nodeInfo.{field}") or "<unknown>"  # noqa: ARG005


def _kernel(node: Object, now_us: Micros) -> str:
    version = str(_node_info("kernelVersion")(node, now_us))
    architecture = get_path(node, "status.nodeInfo.architecture")
    return f"{version} ({architecture})" if architecture else version


def _roles(node: Object, now_us: Micros) -> str:  # noqa: ARG001
    prefix = "node-role.kubernetes.io/"
    roles = [key[len(prefix) :] for key in labels_of(node) if key.startswith(prefix)]
    return ",".join(sorted(filter(None, roles))) or "<none>"


# Workloads


def _job_status(job: Object, now_us: Micros) -> str:  # noqa: ARG001
    for type_, shown in (
        ("Complete", "Complete"),
        ("Failed", "Failed"),
        ("Suspended", "Suspended"),
        ("FailureTarget", "FailureTarget"),
        ("SuccessCriteriaMet", "SuccessCriteriaMet"),
    ):
        if condition_status(job, type_) == "True":
            return shown
    return "Terminating" if is_terminating(job) else "Running"


def _job_completions(job: Object, now_us: Micros) -> str:  # noqa: ARG001
    succeeded = get_path(job, "status.succeeded", 0)
    completions = get_path(job, "spec.completions")
    if completions is not None:
        return f"{succeeded}/{completions}"
    parallelism = get_path(job, "spec.parallelism", 0)
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(job: Object, now_us: Micros) -> str:
    began = get_path(job, "status.startTime")
    if not began:
        return ""
    ended = get_path(job, "status.completionTime")
    return short_duration((parse_rfc3339(ended) if ended else now_us) - parse_rfc3339(began))


def _ready_of_wanted(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
    return f"{get_path(obj, 'status.readyReplicas', 0)}/{get_path(obj, 'spec.replicas', 0)}"


def containers_cell(field: str, template: str = "spec.template") -> Cell:
    """The names, or the images, of the containers in a template."""

    def cell(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
        containers = get_path(obj, f"{template}.spec.containers") or ()
        return ",".join(str(container.get(field, "")) for container in containers)

    return cell


def selector_cell(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
    return selector_text(get_path(obj, "spec.selector") or {})


def selector_text(selector: Object) -> str:
    """A `metav1.LabelSelector` as kubectl shows it."""
    terms = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for entry in selector.get("matchExpressions") or ():
        key, values = entry.get("key", ""), ",".join(sorted(entry.get("values") or ()))
        shown = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }.get(entry.get("operator", ""))
        if shown is None:
            return "<error>"
        terms.append(shown)
    return ",".join(terms) or "<none>"


_CONTAINERS: Final = (
    ("Containers", containers_cell("name"), 1),
    ("Images", containers_cell("image"), 1),
)
_WITH_SELECTOR: Final = (*_CONTAINERS, ("Selector", selector_cell, 1))


# The rest


def _service_selector(service: Object, now_us: Micros) -> str:  # noqa: ARG001
    return to_text(get_path(service, "spec.selector") or {}) or "<none>"


def _ports(service: Object, now_us: Micros) -> str:  # noqa: ARG001
    shown = []
    for port in get_path(service, "spec.ports", ()) or ():
        node = f":{port['nodePort']}" if port.get("nodePort") else ""
        shown.append(f"{port['port']}{node}/{port.get('protocol', 'TCP')}")
    return ",".join(shown) or "<none>"


def _data(obj: Object, now_us: Micros) -> int:  # noqa: ARG001
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def _webhooks(obj: Object, now_us: Micros) -> int:  # noqa: ARG001
    return len(obj.get("webhooks") or ())


def _last_seen(event: Object, now_us: Micros) -> str:
    last = get_path(event, "series.lastObservedTime") or event.get("lastTimestamp")
    return age(last, now_us) if last else _first_seen(event, now_us)


def _first_seen(event: Object, now_us: Micros) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now_us)


def _event_object(event: Object, now_us: Micros) -> str:  # noqa: ARG001
    involved = event.get("involvedObject") or {}
    kind, name = str(involved.get("kind", "")).lower(), involved.get("name")
    return f"{kind}/{name}" if name else kind


def _event_source(event: Object, now_us: Micros) -> str:  # noqa: ARG001
    source = event.get("source") or {}
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance")
    return f"{component}, {instance}" if instance else component


def _event_count(event: Object, now_us: Micros) -> int:  # noqa: ARG001
    if event.get("series"):
        return int(get_path(event, "series.count", 0))
    return event.get("count") or 1


def _event_message(event: Object, now_us: Micros) -> str:  # noqa: ARG001
    return str(event.get("message", "")).strip()


def access_modes_cell(path: str) -> Cell:
    """The access modes of a volume or a claim, in short."""
    short = {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }

    def cell(obj: Object, now_us: Micros) -> str:  # noqa: ARG001
        modes = get_path(obj, path) or ()
        return ",".join(short.get(mode, mode) for mode in modes)

    return cell


def _owner(revision: Object, now_us: Micros) -> str:  # noqa: ARG001
    for owner in meta(revision).get("ownerReferences") or ():
        if owner.get("controller"):
            return (
                f"{owner['kind'].lower()}.{owner['apiVersion'].partition('/')[0]}/{owner['name']}"
            )
    return "<none>"


def _default_class(class_: Object, now_us: Micros) -> bool:  # noqa: ARG001
    return bool(class_.get("globalDefault", False))


def _quota(field: str) -> Cell:
    def cell(quota: Object, now_us: Micros) -> str:  # noqa: ARG001
        hard: Mapping[str, Any] = get_path(quota, "spec.hard", {})
        used: Mapping[str, Any] = get_path(quota, "status.used", {})
        return ", ".join(
            f"{name}: {used.get(name, 0)}/{hard[name]}"
            for name in sorted(hard)
            if name.startswith("limits") == (field == "limits")
        )

    return cell


CELLS: Final[Mapping[str, Sequence[tuple[str, Cell, int]]]] = {
    "Pod": (
        ("Ready", _pod_ready, 0),
        ("Status", _pod_status, 0),
        ("Restarts", _restarts, 0),
        ("Age", _age, 0),
        ("IP", or_none("status.podIP"), 1),
        ("Node", or_none("spec.nodeName"), 1),
        ("Nominated Node", or_none("status.nominatedNodeName"), 1),
        ("Readiness Gates", or_none("spec.readinessGates"), 1),
    ),
    "Node": (
        ("Status", _node_status, 0),
        ("Roles", _roles, 0),
        ("Age", _age, 0),
        ("Version", field_cell("status.nodeInfo.kubeletVersion"), 0),
        ("Internal-IP", _address("InternalIP"), 1),
        ("External-IP", _address("ExternalIP"), 1),
        ("OS-Image", _node_info("osImage"), 1),
        ("Kernel-Version", _kernel, 1),
        ("Container-Runtime", _node_info("containerRuntimeVersion"), 1),
    ),
    "Namespace": (("Status", field_cell("status.phase"), 0), ("Age", _age, 0)),
    "Job.batch": (
        ("Status", _job_status, 0),
        ("Completions", _job_completions, 0),
        ("Duration", _job_duration, 0),
        ("Age", _age, 0),
        *_WITH_SELECTOR,
    ),
    "Deployment.apps": (
        ("Ready", _ready_of_wanted, 0),
        ("Up-to-date", field_cell("status.updatedReplicas", 0), 0),
        ("Available", field_cell("status.availableReplicas", 0), 0),
        ("Age", _age, 0),
        *_WITH_SELECTOR,
    ),
    "ReplicaSet.apps": (
        ("Desired", field_cell("spec.replicas", 0), 0),
        ("Current", field_cell("status.replicas", 0), 0),
        ("Ready", field_cell("status.readyReplicas", 0), 0),
        ("Age", _age, 0),
        *_WITH_SELECTOR,
    ),
    "StatefulSet.apps": (("Ready", _ready_of_wanted, 0), ("Age", _age, 0), *_CONTAINERS),
    "ControllerRevision.apps": (
        ("Controller", _owner, 0),
        ("Revision", field_cell("revision", 0), 0),
        ("Age", _age, 0),
    ),
    "Service": (
        ("Type", field_cell("spec.type"), 0),
        ("Cluster-IP", or_none("spec.clusterIP"), 0),
        ("External-IP", or_none("spec.externalName"), 0),
        ("Port(s)", _ports, 0),
        ("Age", _age, 0),
        ("Selector", _service_selector, 1),
    ),
    "ConfigMap": (("Data", _data, 0), ("Age", _age, 0)),
    "Secret": (("Type", field_cell("type"), 0), ("Data", _data, 0), ("Age", _age, 0)),
    "ServiceAccount": (("Age", _age, 0),),
    "PersistentVolumeClaim": (
        ("Status", field_cell("status.phase"), 0),
        ("Volume", field_cell("spec.volumeName"), 0),
        ("Capacity", field_cell("status.capacity.storage"), 0),
        ("Access Modes", access_modes_cell("status.accessModes"), 0),
        ("StorageClass", field_cell("spec.storageClassName"), 0),
        ("VolumeAttributesClass", or_unset("spec.volumeAttributesClassName"), 0),
        ("Age", _age, 0),
        ("VolumeMode", or_unset("spec.volumeMode"), 1),
    ),
    "Event": (
        ("Last Seen", _last_seen, 0),
        ("Type", field_cell("type"), 0),
        ("Reason", field_cell("reason"), 0),
        ("Object", _event_object, 0),
        ("Subobject", field_cell("involvedObject.fieldPath"), 1),
        ("Source", _event_source, 1),
        ("Message", _event_message, 0),
        ("First Seen", _first_seen, 1),
        ("Count", _event_count, 1),
        ("Name", field_cell("metadata.name"), 1),
    ),
    "ResourceQuota": (
        ("Request", _quota("requests"), 0),
        ("Limit", _quota("limits"), 0),
        ("Age", _age, 0),
    ),
    **dict.fromkeys(
        ("RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io"),
        (("Role", role_of_binding, 0), ("Age", _age, 0), *SUBJECT_COLUMNS),
    ),
    "Lease.coordination.k8s.io": (
        ("Holder", field_cell("spec.holderIdentity"), 0),
        ("Age", _age, 0),
    ),
    "PriorityClass.scheduling.k8s.io": (
        ("Value", field_cell("value", 0), 0),
        ("Global-Default", _default_class, 0),
        ("Age", _age, 0),
        ("PreemptionPolicy", field_cell("preemptionPolicy"), 0),
    ),
    **dict.fromkeys(
        (
            "MutatingWebhookConfiguration.admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
        ),
        (("Webhooks", _webhooks, 0), ("Age", _age, 0)),
    ),
    "RuntimeClass.node.k8s.io": (("Handler", field_cell("handler"), 0), ("Age", _age, 0)),
}
"""By kind: title, cell, and the priority that hides a column unless it is asked for."""
