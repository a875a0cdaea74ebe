"""The norm's user stories, with its manifests."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.jobset.handle import JobSet
from conformance.world import World


@scenario(arms=["JS-022"])
def any_failure_restarts_all_workers(world: World) -> None:
    """Story 2: workers restart together at any failure, ten times, and then the JobSet fails."""
    job_set = JobSet.submit(world, "story2.yaml", behaviour="run 2s, exit 1")
    world.until(job_set.has_ended("Failed"))
