"""The norm's fourth story at the size that it tells of."""

from __future__ import annotations

from conformance.manifests.files import load_manifests
from conformance.scenario_type import scenario
from conformance.suites.jobset.handle import JobSet
from conformance.world import World

WORKERS = 5
PODS_PER_WORKER = 3_000
PODS_PER_NODE = 100


@scenario(
    arms=["JS-001", "JS-022", "JS-023", "JS-026", "JS-047", "JS-091"],
    nodes=1 + WORKERS * PODS_PER_WORKER // PODS_PER_NODE,
    large=True,
    only_simulated="nobody has tried 15,001 pods on a control plane of one machine",
)
def thousands_of_pods_restart(world: World) -> None:
    """Story 4: five workers of 3,000 pods each and a parameter server restart, twice as a whole."""
    (manifest,) = load_manifests(world.folder / "story4.yaml")
    workers, _ = manifest["spec"]["replicatedJobs"]
    workers["replicas"] = WORKERS
    workers["template"]["spec"] |= {
        "parallelism": PODS_PER_WORKER,
        "completions": PODS_PER_WORKER,
    }
    its = JobSet.submit(world, manifest)
    for name in ("workers-2", "parameter-server-0"):
        its.fail_until_restarted(name)
    world.until(its.is_ready())
