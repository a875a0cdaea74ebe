"""How the pods of a JobSet find each other: the headless Service, and the coordinator's name."""

from __future__ import annotations

from reference_controller.jobset.job_set import ChildId, job_name, spec_of
from reference_controller.jobset.names import NAME
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object, get_path, name_of, namespace_of


def coordinator_of(job_set: Object, coordinator: Object) -> str:
    """The DNS name of the coordinator's pod."""
    child = ChildId(coordinator["replicatedJob"], int(coordinator.get("jobIndex", 0)))
    host = f"{job_name(job_set, child)}-{int(coordinator.get('podIndex', 0))}"
    return f"{host}.{subdomain_of(job_set)}"


def subdomain_of(job_set: Object) -> str:
    return str(get_path(job_set, "spec.network.subdomain") or name_of(job_set))


def has_dns(job_set: Object) -> bool:
    """True if pods have host names, which needs the Service."""
    return bool(spec_of(job_set)["network"]["enableDNSHostnames"])


def build_service(job_set: Object, rules: Rules) -> Object:
    """The headless Service by which pods find each other."""
    publishes = bool(spec_of(job_set)["network"]["publishNotReadyAddresses"])
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": rules.service_name(subdomain_of(job_set)),
            "namespace": namespace_of(job_set),
            "ownerReferences": [rules.owner_reference(job_set, name_of(job_set))],
        },
        "spec": rules.service_spec({NAME: name_of(job_set)}, publishes),
    }
