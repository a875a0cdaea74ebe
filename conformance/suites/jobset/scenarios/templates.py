"""Fields that JobSets set of their Jobs, pods and Service, also after a restart."""

from __future__ import annotations

from typing import Any, Final

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import CONTROLLER_NAME, EXCLUSIVE_TOPOLOGY, RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import LABELS, job_set, replicated_job, rule
from conformance.suites.jobset.view.placement import HOSTNAME
from conformance.world import World

COUNTED: Final = rule(RESTART_JOB_SET)
OF_THE_TEAM: Final = {"matchLabels": LABELS}
OF_OTHERS: Final = {"matchLabels": {"example.com/team": "sales"}}
OF_LINUX: Final = {
    "matchExpressions": [{"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]
}
OWN_AFFINITY: Final = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": OF_LINUX}],
    },
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 1,
                "podAffinityTerm": {"labelSelector": OF_THE_TEAM, "topologyKey": HOSTNAME},
            }
        ],
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": OF_OTHERS, "topologyKey": HOSTNAME}
        ],
    },
}


def _restarts_once(world: World, asked: dict[str, Any], failing: str) -> None:
    its = JobSet.submit(world, asked)
    its.fail_until_restarted(failing)
    world.until(its.is_ready())


@scenario(
    arms=["JS-103", "JS-104", "JS-106"],
    cases={
        "first-pod": {"replicatedJob": "w"},
        "any-pod": {"replicatedJob": "w", "jobIndex": 1, "podIndex": 2},
    },
)
def groups_have_a_coordinator(world: World, coordinator: dict[str, Any]) -> None:
    """Jobs of several groups know their places and their coordinator, also after a restart."""
    driver = {**replicated_job("driver"), "groupName": "leaders"}
    workers = {**replicated_job("w", 2, parallelism=3, completions=3), "groupName": "workers"}
    others = {**replicated_job("v", 2), "groupName": "workers"}
    asked = job_set(
        [driver, workers, others],
        [COUNTED],
        coordinator=coordinator,
        managedBy=CONTROLLER_NAME,
        network={"subdomain": "ring", "publishNotReadyAddresses": False},
    )
    _restarts_once(world, asked, "v-1")


@scenario(arms=["JS-104", "JS-106"], cases={"on": True, "off": False})
def hostnames_are_switched(world: World, on: bool) -> None:
    """Pods of a JobSet have hostnames as it says, and those of a subdomain of their own keep it."""
    jobs = [replicated_job("w", 2), replicated_job("v")]
    jobs[1]["template"]["spec"]["template"]["spec"]["subdomain"] = "elsewhere"
    _restarts_once(world, job_set(jobs, [COUNTED], network={"enableDNSHostnames": on}), "w-0")


@scenario(arms=["JS-076", "JS-104"], nodes=6)
def domains_are_exclusive_for_some(world: World) -> None:
    """Jobs of one replicated job have nodes to themselves, and their pods an affinity of their own;
    other Jobs have neither, and are elsewhere."""
    workers = replicated_job("w", 3, parallelism=3, completions=3)
    workers["template"]["metadata"]["annotations"] = {EXCLUSIVE_TOPOLOGY: HOSTNAME}
    workers["template"]["spec"]["template"]["spec"]["affinity"] = OWN_AFFINITY
    _restarts_once(world, job_set([workers, replicated_job("v", 2)], [COUNTED]), "w-1")
