"""The time per pod of a JobSet in the shape of the norm's story 4, restarted once as a whole.

    python ci/bench/job_sets.py                print the figures; takes two minutes

Five workers of a fifth of the pods each stand beside a parameter server. A pod of one worker fails,
which does not count, and all pods run again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from figures import PODS_PER_NODE, Figure, processor_seconds

from conformance import claims
from conformance.history import History
from conformance.implementations.ours import implementation
from conformance.running.collecting import collector_at_rest
from conformance.running.run_options import DEFAULT_SEED
from conformance.scenario_type import Scenario
from conformance.suites.jobset.handle import JobSet
from conformance.worlds.simulated.world import SimulatedWorld
from vocabulary.clock import MINUTE
from vocabulary.kinds import POD

REFERENCE = implementation("reference", "jobset")
UNDER_TEST = {REFERENCE.role: REFERENCE}
SIZES = (100, 1_000, 15_000)
WORKERS = 5
MOST_GROWTH = 2.0
"""The time per pod as a multiple of that at 100 pods."""


def growth(sizes: Sequence[int] = SIZES) -> Iterator[Figure]:
    """The time per pod of one JobSet of so many pods."""
    restarted(sizes[0])  # the first run of a process pays for what is loaded
    first_ms = 0.0
    for pods in sizes:
        simulated_ms, judged_ms = restarted(pods)
        ratio = (simulated_ms + judged_ms) / (first_ms or simulated_ms + judged_ms)
        yield Figure(
            f"time per pod, one JobSet with a restart, {pods:,} pods",
            f"{simulated_ms:.2f} ms simulated, {judged_ms:.2f} ms judged",
            f"≤ {MOST_GROWTH} × that at {sizes[0]:,}; is {ratio:.2f} ×" if first_ms else "",
            ratio <= MOST_GROWTH if first_ms else None,
        )
        first_ms = first_ms or simulated_ms + judged_ms


def restarted(pods: int) -> tuple[float, float]:
    """Milliseconds per pod to run so many pods in one JobSet, to restart it, and to judge the
    history."""
    scenario = Scenario(
        id="jobset/restarted",
        title="A JobSet of many pods restarts as a whole.",
        arms=(),
        steps=lambda world: None,  # noqa: ARG005
        folder=Path(__file__).parent,
        roles=tuple(UNDER_TEST),
        nodes=1 - (-pods // PODS_PER_NODE),
    )

    def simulate() -> tuple[SimulatedWorld, JobSet]:
        world = SimulatedWorld(scenario, UNDER_TEST, DEFAULT_SEED, None)
        job_set = JobSet.submit(world, _job_set(pods // WORKERS))
        world.loop.run_for(2 * MINUTE)  # `wait` would end a run with so long a history
        job_set.fail("workers-3")
        world.loop.run_for(4 * MINUTE)
        for mark in ("faults-stopped", "stable", "end"):
            world.mark(mark)
        return world, job_set

    with collector_at_rest():  # as in any run
        (world, job_set), simulated = processor_seconds(simulate)
        running = [pod for pod in world.list(POD) if pod["status"]["phase"] == "Running"]
        restarts = job_set.state.restarts
        if len(running) != pods + 1 or restarts != 1:
            raise RuntimeError(
                f"{len(running)} of {pods + 1} pods run after {restarts} restarts; the figure "
                "would mean nothing"
            )
        _, judged = processor_seconds(lambda: claims.judge(History(*world.history())))
    return simulated * 1e3 / pods, judged * 1e3 / pods


def _job_set(pods: int) -> dict[str, Any]:
    uncounted = {
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "targetReplicatedJobs": ["workers"],
    }
    counted = {"action": "RestartJobSet", "targetReplicatedJobs": ["parameter-server"]}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "bench"},
        "spec": {
            "failurePolicy": {"maxRestarts": 3, "rules": [uncounted, counted]},
            "replicatedJobs": [
                _replicated_job("workers", WORKERS, pods),
                _replicated_job("parameter-server", 1, 1),
            ],
        },
    }


def _replicated_job(name: str, replicas: int, pods: int) -> dict[str, Any]:
    containers = [{"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "10m"}}}]
    job = {
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": 0,
        "completionMode": "Indexed",
        "template": {"spec": {"restartPolicy": "Never", "containers": containers}},
    }
    return {"name": name, "replicas": replicas, "template": {"spec": job}}


if __name__ == "__main__":
    for figure in growth():
        print(f"{figure.name:62} {figure.measured:44} {figure.target}")
