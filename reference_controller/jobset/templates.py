"""The Jobs of a JobSet, as they are created."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reference_controller.jobset.job_set import (
    ChildId,
    job_name,
    partial_restarts_of_child,
    replicas_of,
    restarts_of,
    spec_of,
)
from reference_controller.jobset.names import (
    COORDINATOR,
    EXCLUSIVE_TOPOLOGY,
    GLOBAL_INDEX,
    GLOBAL_REPLICAS,
    GROUP_INDEX,
    GROUP_NAME,
    GROUP_REPLICAS,
    INDEX,
    JOB_KEY,
    NAME,
    PARTIAL_RESTARTS,
    REPLICAS,
    REPLICATED_JOB,
    RESTART_ATTEMPT,
    RESTARTS,
    UID,
)
from reference_controller.jobset.network import coordinator_of, has_dns, subdomain_of
from reference_controller.jobset.numbering import Numbering, group_of
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object, annotations_of, meta, name_of, namespace_of, uid_of


def build(
    job_set: Object, child: ChildId, replicated_job: Object, numbering: Numbering, rules: Rules
) -> Object:
    """The Job of one index."""
    name = rules.job_name(job_set, child)
    marks = marks_of(job_set, child, replicated_job, numbering, rules)
    template = replicated_job["template"]
    spec = dict(rules.spec_of(template))
    pod_template = dict(spec["template"])
    pod_spec = dict(pod_template["spec"])
    if has_dns(job_set):
        pod_spec.setdefault("subdomain", subdomain_of(job_set))
    topology = _exclusive_topology(job_set, replicated_job)
    if topology and rules.is_exclusive(int(marks[PARTIAL_RESTARTS])):
        standing = pod_spec.get("affinity") or {}
        pod_spec["affinity"] = _exclusive(standing, topology, marks[JOB_KEY], rules)
    spec["template"] = {
        **pod_template,
        "metadata": _marked(meta(pod_template), marks, rules),
        "spec": pod_spec,
    }
    spec["suspend"] = rules.starts_suspended(job_set)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            **_marked(meta(template), marks, rules),
            "name": name,
            "namespace": namespace_of(job_set),
            "ownerReferences": [rules.owner_reference(job_set, name_of(job_set))],
        },
        "spec": spec,
    }


def marks_of(
    job_set: Object, child: ChildId, replicated_job: Object, numbering: Numbering, rules: Rules
) -> dict[str, str]:
    """The labels of a Job and its pods; they are annotations as well."""
    name, group = job_name(job_set, child), group_of(replicated_job)
    partial_restarts = partial_restarts_of_child(job_set, child, name)
    marks = {
        NAME: name_of(job_set),
        UID: uid_of(job_set),
        REPLICATED_JOB: child.replicated_job,
        REPLICAS: str(replicas_of(replicated_job)),
        GLOBAL_REPLICAS: str(numbering.all),
        INDEX: str(child.number),
        GLOBAL_INDEX: str(numbering.position(child)),
        JOB_KEY: rules.job_key(job_set, child),
        RESTART_ATTEMPT: str(rules.attempt(job_set, partial_restarts)),
        RESTARTS: str(restarts_of(job_set)),
        PARTIAL_RESTARTS: str(partial_restarts),
        GROUP_NAME: group,
        GROUP_REPLICAS: str(numbering.in_group(group)),
        GROUP_INDEX: str(numbering.position_in_group(child)),
    }
    coordinator = spec_of(job_set).get("coordinator")
    if coordinator:
        marks[COORDINATOR] = coordinator_of(job_set, coordinator)
    return marks


def _marked(metadata: Object, marks: Mapping[str, str], rules: Rules) -> dict[str, Any]:
    return {
        "labels": {**(metadata.get("labels") or {}), **marks},
        "annotations": {**(metadata.get("annotations") or {}), **rules.as_annotations(marks)},
    }


def _exclusive_topology(job_set: Object, replicated_job: Object) -> str:
    """The topology of which each domain holds pods of one Job, if any."""
    own = meta(replicated_job["template"]).get("annotations") or {}
    return str(own.get(EXCLUSIVE_TOPOLOGY) or annotations_of(job_set).get(EXCLUSIVE_TOPOLOGY, ""))


def _exclusive(affinity: Object, topology: str, key: str, rules: Rules) -> Object:
    """The affinity by which a Job's pods stay together, and others away."""
    own = {"matchExpressions": [{"key": JOB_KEY, "operator": "In", "values": [key]}]}
    others = {
        "matchExpressions": [
            {"key": JOB_KEY, "operator": "Exists"},
            {"key": JOB_KEY, "operator": "NotIn", "values": [key]},
        ]
    }
    together, apart = (rules.affinity_term(each, topology) for each in (own, others))
    return {
        **affinity,
        "podAffinity": _requiring(affinity.get("podAffinity") or {}, together),
        "podAntiAffinity": _requiring(affinity.get("podAntiAffinity") or {}, apart),
    }


def _requiring(affinity: Object, term: Object) -> Object:
    field = "requiredDuringSchedulingIgnoredDuringExecution"
    return {**affinity, field: [*(affinity.get(field) or ()), term]}
