"""ResourceQuotas: they count, and they refuse."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, exists, has, present
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map, container, job, unscheduled
from vocabulary.kinds import CONFIG_MAP, POD, RESOURCE_QUOTA


def _quota(name: str = "q", **hard: str) -> dict[str, Any]:
    limits = {key.replace("__", "."): value for key, value in hard.items()}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": name},
        "spec": {"hard": limits},
    }


def _used(cpu: str) -> Predicate:
    return Predicate(
        f"{cpu} CPU is used", lambda body: body["status"]["used"]["requests.cpu"] == cpu
    )


def _asking(name: str, cpu: str) -> dict[str, Any]:
    obj = unscheduled(name)
    obj["spec"]["containers"] = [
        container(resources={"requests": {"cpu": cpu}, "limits": {"cpu": cpu}})
    ]
    return obj


@script("A quota counts pods, and rejects any above its limit.", ["4.16"])
def quota_of_pods(c: Dialogue) -> None:
    c.create(_quota(pods="2"))
    c.until(RESOURCE_QUOTA, "q", present("status.used"), show=["spec", "status"])
    c.create(unscheduled("a"), show=["metadata.name"])
    c.create(unscheduled("b"), show=["metadata.name"])
    c.create(unscheduled("c"))
    c.until(RESOURCE_QUOTA, "q", has("status.used.pods", "2"), show=["status"])
    c.delete(POD, "a")
    c.until(RESOURCE_QUOTA, "q", has("status.used.pods", "1"), show=["status"])
    c.create(unscheduled("c"), show=["metadata.name"])


@script("A quota of compute resources adds up pods' requests, and makes them mandatory.", ["4.16"])
def quota_of_cpu(c: Dialogue) -> None:
    hard = {"requests.cpu": "1", "limits.cpu": "1500m"}
    c.create(_quota(**hard))
    c.until(RESOURCE_QUOTA, "q", present("status.used"), show=["status"])
    c.create(_asking("a", "600m"), show=["metadata.name"])
    c.create(_asking("b", "600m"))
    c.create(unscheduled("c"))
    c.create(_asking("d", "400m"), show=["metadata.name"])
    c.until(RESOURCE_QUOTA, "q", _used("1"), show=["status"])


@script("A quota of zero objects rejects every object of a kind.", ["4.16"])
def quota_of_objects(c: Dialogue) -> None:
    hard = {"count/configmaps": "0", "count/jobs.batch": "1"}
    c.create(_quota(**hard))
    c.until(RESOURCE_QUOTA, "q", present("status.used"), show=["status"])
    c.create(config_map("a"))
    c.create(job("a", managedBy="example.org/x"), show=["metadata.name"])
    c.create(job("b", managedBy="example.org/x"))
    c.delete(RESOURCE_QUOTA, "q", show=["spec"])
    c.until_gone(RESOURCE_QUOTA, "q")


@script("An invalid quota is rejected.", ["4.16"])
def quota_validation(c: Dialogue) -> None:
    c.create(_quota(pods="-1"))
    c.create(_quota(pods="lots"))
    c.create(
        {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "empty"}, "spec": {}}
    )
    c.until(RESOURCE_QUOTA, "empty", exists)
    c.list(CONFIG_MAP)


@script("A quota keeps its scopes.", ["4.16"])
def quota_of_scopes(c: Dialogue) -> None:
    scoped = _quota(pods="1")
    scoped["spec"]["scopes"] = ["NotTerminating", "NotBestEffort"]
    c.create(scoped, show=["spec"])
    reordered = {
        **scoped,
        "spec": {**scoped["spec"], "scopes": ["NotBestEffort", "NotTerminating"]},
    }
    c.update(reordered, show=["spec"])
    c.update({**scoped, "spec": {**scoped["spec"], "scopes": ["NotBestEffort"]}})
    c.update({**scoped, "spec": {"hard": {"pods": "1"}}})
    c.patch(RESOURCE_QUOTA, "q", {"spec": {"hard": {"pods": "2"}}}, "merge", show=["spec"])


@script("Quantities of any length are read, and binary ones beyond 64 bits are capped.", ["4.16"])
def long_quantities(c: Dialogue) -> None:
    path = f"{RESOURCE_QUOTA.path(c.namespace)}?dryRun=All"
    for amount in (
        str(2**63 - 1),
        str(2**63),
        f"-{2**63}",
        "9" * 5000,
        f"{'9' * 4000}e999",
        f"{'9' * 5000}e-4999",
        f"0.{'9' * 5000}",
        f"{'0' * 5000}7",
        f"{'0' * 5000}8Ki",
        f"{'9' * 18}E",
        f"{'9' * 15}Ei",
        "9Ei",
        "1e30",
        "1e+000000000000000000005",
        f"1e{2**63}",
        f"1e-{2**63 + 1}",
        f"1e{'9' * 5000}",
    ):
        label = amount if len(amount) < 30 else f"{amount[:3]}…{amount[-5:]} of {len(amount)}"
        shown = ["spec", "reason"]
        c.raw("POST", path, _quota(pods=amount), label=f"limit {label}", show=shown)


@script(
    "A quantity is printed with the largest unit of its kind that leaves a whole one.", ["4.16"]
)
def units_of_quantities(c: Dialogue) -> None:
    path = f"{RESOURCE_QUOTA.path(c.namespace)}?dryRun=All"
    for amount in (
        *("0", "0Ki", "0.0", "0e5", "00", "+5", "-0"),
        *("1023", "1024", "1000", "1024e0", "1000e0", "999", "1000m", "1001m", "10000m"),
        *("0.5Ki", "0.25Ki", "1Ki", "1023Ki", "1024Ki", "1536Ki", "1000Ki", "0.5Mi", "1.5Gi"),
        *("0.9990234375Ki", "1.0009765625Ki", "1.1Ki", "0.1Ki", "1024Mi", "1024Gi", "1024Ti"),
        *("1024Pi", "1000k", "1000M", "1000P", "0.1k", "1.5k", "0.001", "0.0001", "100n", "1u"),
        *("1e3", "1E3", "12e2", "120e1", "1e6", "1e-3", "1e-4", "0.5e3", "1.5e-1", "10e2"),
        *("+5Ki", "007Ki", "+8Ki", "1.Ki", "1.0Ki", f"{10**13 + 1}", f"+{10**10 + 1}Ki"),
        *(f"+{10**11 + 1}Ki", f"+{10**4 + 1}Gi", f"+{10**5 + 1}Gi", "+99Ti", "+999Ti", "+9Pi"),
        *("+1.5", "1.500", "01.250", "0.500", "1.000", "1.2345", "1.234567", "1.234k", "1.", "1.k"),
        *(
            "1500u",
            "1500000u",
            "+15m",
            "015M",
            "+8k",
            "+1e-6",
            "1e+03",
            "+1e03",
            "1.234567e6",
            "1.5e4",
        ),
        *(f"+{10**17 + 1}", f"+{10**18 + 1}", f"{10**15 + 1}.125", f"{10**14 + 1}.1250", "+9E"),
    ):
        c.raw("POST", path, _quota(memory=amount), label=f"limit {amount}", show=["spec"])
    for amount in ("-1024", "-1Ki", "-1024Ki", "-0.5Ki", "-1k"):
        body = unscheduled("p")
        body["spec"]["containers"] = [container(resources={"limits": {"memory": amount}})]
        pods = f"{POD.path(c.namespace)}?dryRun=All"
        c.raw("POST", pods, body, label=f"a pod's limit {amount}", show=["spec.containers"])


@script("A quota is for scopes that there are, and for what they can count.", ["4.16"])
def scopes_of_quotas(c: Dialogue) -> None:
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
    for scopes in (["Odd"], ["BestEffort"], ["NotBestEffort"], ["Terminating"], ["NotTerminating"]):
        body = {**quota, "spec": {"hard": {"pods": "1"}, "scopes": scopes}}
        c.create(body, dry_run=True, show=["spec"])
