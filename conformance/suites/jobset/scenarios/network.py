"""JobSets whose pods find each other by names."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import job_set, replicated_job, rule
from conformance.world import World


@scenario(arms=["JS-106"])
def subdomain_has_a_name(world: World) -> None:
    """The Service of a JobSet that names its subdomain has that name, also after a restart."""
    jobs = [replicated_job("driver"), replicated_job("w", 2)]
    coordinator = {"replicatedJob": "driver", "jobIndex": 0, "podIndex": 0}
    network = {"subdomain": "trainers"}
    asked = job_set(jobs, [rule(RESTART_JOB_SET)], network=network, coordinator=coordinator)
    its = JobSet.submit(world, asked)
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())
