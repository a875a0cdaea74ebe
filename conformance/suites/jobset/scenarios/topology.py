"""JobSets whose Jobs have a topology domain to themselves."""

from __future__ import annotations

from conformance.scenario_type import scenario
from conformance.suites.jobset.api import RESTART_JOB_SET
from conformance.suites.jobset.handle import JobSet
from conformance.suites.jobset.scenarios.workloads import (
    foreign_job,
    job_set,
    replicated_job,
    rule,
    with_domains,
)
from conformance.suites.jobset.view.placement import HOSTNAME
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.kinds import NODE
from vocabulary.objects import labels_of


@scenario(arms=["JS-076"], nodes=4)
def domains_stay_exclusive_for_all(world: World) -> None:
    """When all Jobs restart, each gets a node of its own again."""
    workers = replicated_job("w", 3, parallelism=3, completions=3)
    its = JobSet.submit(world, with_domains(job_set([workers], [rule(RESTART_JOB_SET)])))
    for name in ("w-1", "w-2"):
        its.fail_until_restarted(name)
    world.until(its.is_ready())


@scenario(arms=["JS-076"], nodes=3)
def other_pods_are_everywhere(world: World) -> None:
    """Pods of others do not keep Jobs away from a node that they have to themselves."""
    for number, node in enumerate(world.list(NODE)):
        other = foreign_job(f"other-{number}")
        pods = other["spec"]["template"]["spec"]
        pods["nodeSelector"] = {HOSTNAME: labels_of(node)[HOSTNAME]}
        world.create(other, actor="chaos")
    world.wait(10 * SECOND)
    asked = with_domains(job_set([replicated_job("w", 2)], [rule(RESTART_JOB_SET)]))
    its = JobSet.submit(world, asked)
    its.fail_until_restarted("w-1")
    world.until(its.is_ready())


@scenario(
    arms=["JS-076"],
    kills="namesakes-share-domains",
    nodes=3,
    namespaces=("other",),
    cases={"of-one-namespace": "", "of-two-namespaces": "other"},
)
def two_jobsets_want_domains(world: World, namespace: str) -> None:
    """Jobs of two JobSets share no domain: one of them waits until another one's is free."""
    workers = replicated_job("w", 2, parallelism=2, completions=2)
    first = JobSet.ready(world, with_domains(job_set([workers])))
    asked = with_domains(job_set([workers], name="b"))
    if namespace:
        asked["metadata"]["namespace"] = namespace
    second = JobSet.submit(world, asked)
    world.until(second.has_started("w-0") | second.has_started("w-1"))
    world.wait(20 * SECOND)
    first.delete()
    world.until(first.is_gone())
    world.until(second.is_ready())
