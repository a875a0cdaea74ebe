"""APIServices: of this server, and of others that are not there."""

from __future__ import annotations

from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script

PATH: Final = "/apis/apiregistration.k8s.io/v1/apiservices"
AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def _remote(group: str, name: str = "", /, **spec: Any) -> dict[str, Any]:
    whole = {
        "group": group,
        "version": "v1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        **spec,
    }
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": name or f"v1.{group}"},
        "spec": whole,
    }


@script("What this server serves has a local APIService, which is available.", ["7.7"])
def local_api_services(c: Dialogue) -> None:
    for name in ("v1.", "v1.apps", "v1.batch", "v1.events.k8s.io", "v1.tests.assay.dev"):
        c.raw("GET", f"{PATH}/{name}", show=["metadata.name", "metadata.labels", "spec", "status"])
    c.raw("GET", f"{PATH}/v1.apiregistration.k8s.io")
    c.raw("GET", f"{PATH}/v9.apps")


@script("An APIService of another server says what is missing, and nothing is served.", ["7.7"])
def remote_api_services(c: Dialogue) -> None:
    group = f"{c.namespace}.assay.dev"
    reference = {"name": "s", "namespace": c.namespace}
    c.raw("POST", PATH, _remote(group, service=reference, insecureSkipTLSVerify=True))

    def reason() -> str:
        status = c.consult("GET", f"{PATH}/v1.{group}").body["status"]
        return str(status.get("conditions", [{}])[0].get("reason"))

    c.until_true("it has no Service", lambda: reason() == "ServiceNotFound")
    c.raw("GET", f"{PATH}/v1.{group}", label="without a Service")

    def groups() -> list[str]:
        return [each["name"] for each in c.consult("GET", "/apis").body["groups"]]

    c.until_true("its group is discovered", lambda: group in groups())
    c.raw("GET", f"/apis/{group}")
    c.raw("GET", f"/apis/{group}/v1")
    c.raw("GET", f"/apis/{group}/v1/things")
    c.raw("POST", f"/apis/{group}/v1/namespaces/{c.namespace}/things", {"kind": "Thing"})

    def aggregated() -> list[Any]:
        document = c.consult("GET", "/apis", accept=AGGREGATED).body
        return [each for each in document["items"] if each["metadata"]["name"] == group]

    c.until_true("it is in the aggregated form", lambda: bool(aggregated()))
    c.note("aggregated", aggregated())
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}}
    c.create({**service, "spec": {"ports": [{"port": 80}]}}, show=["metadata.name"])
    c.until_true("it has no port", lambda: reason() == "ServicePortError")
    c.raw("GET", f"{PATH}/v1.{group}", label="without a port", show=["status"])
    c.update({**service, "spec": {"ports": [{"port": 443}]}}, show=["metadata.name"])
    c.until_true("it has no endpoints", lambda: reason() == "EndpointsNotFound")
    c.raw("GET", f"{PATH}/v1.{group}", label="without endpoints", show=["status"])
    c.raw("DELETE", f"{PATH}/v1.{group}", label="delete it", show=["status"])
    c.until_true("its group is gone", lambda: group not in groups())


@script("APIServices are validated.", ["7.7"])
def invalid_api_services(c: Dialogue) -> None:
    group = f"{c.namespace}.assay.dev"
    reference = {"name": "s", "namespace": c.namespace}
    trusted = {"insecureSkipTLSVerify": True, "caBundle": "YQ=="}
    for label, body in (
        ("named wrongly", _remote(group, "wrong", service=reference)),
        ("without priorities", _remote(group, service=reference, groupPriorityMinimum=0)),
        ("with high ones", _remote(group, service=reference, versionPriority=1001)),
        ("with the highest", _remote(group, service=reference, groupPriorityMinimum=20001)),
        ("without a version", _remote(group, f".{group}", service=reference, version="")),
        ("local and insecure", _remote(group, insecureSkipTLSVerify=True)),
        ("without a name", _remote(group, service={"namespace": "x"})),
        (
            "trusted twice",
            _remote(group, service=reference, **trusted),
        ),
    ):
        c.raw("POST", PATH, body, label=label)


@script(
    "A local APIService has no bundle, and one of a Service without addresses is not asked.",
    ["7.7"],
)
def further_api_services(c: Dialogue) -> None:
    group = f"{c.namespace}.assay.dev"
    reference = {"name": "s", "namespace": c.namespace}
    for label, body in (
        ("local with a bundle", _remote(group, caBundle="YQ==")),
        (
            "of a Service with port 0",
            _remote(group, service={**reference, "port": 0}, insecureSkipTLSVerify=True),
        ),
        (
            "of a Service with port 65536",
            _remote(group, service={**reference, "port": 65536}, insecureSkipTLSVerify=True),
        ),
        (
            "of a Service with a port",
            _remote(group, service={**reference, "port": 65535}, insecureSkipTLSVerify=True),
        ),
        ("with a bundle", _remote(group, service=reference, caBundle="YQ==")),
        ("without either", _remote(group, service=reference)),
        (
            "of the least priorities",
            _remote(
                group,
                service=reference,
                insecureSkipTLSVerify=True,
                groupPriorityMinimum=1,
                versionPriority=1,
            ),
        ),
        (
            "of the highest priorities",
            _remote(
                group,
                service=reference,
                insecureSkipTLSVerify=True,
                groupPriorityMinimum=20000,
                versionPriority=1000,
            ),
        ),
        (
            "of negative ones",
            _remote(
                group,
                service=reference,
                insecureSkipTLSVerify=True,
                groupPriorityMinimum=-1,
                versionPriority=-1,
            ),
        ),
        (
            "of an odd version",
            _remote(
                group, f"V1.{group}", service=reference, insecureSkipTLSVerify=True, version="V1"
            ),
        ),
        ("of no group", _remote("", "v1.", service=reference, insecureSkipTLSVerify=True)),
    ):
        c.raw("POST", f"{PATH}?dryRun=All", body, label=label, show=["spec", "status"])
