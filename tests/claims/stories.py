"""Conformant stories, with knobs: turned, they become violations.

Times are those of the default parameters: grace periods of 60 s, 300 s and 60 s, a retry
pause of 90 s, force after 600 s, a TTL of a week. A detail that a story is not about takes
0.1 s; the header allows one second.
"""

from __future__ import annotations

from typing import Any

from tests.claims.story import Story
from tests.claims.templates import avoids, config_map, job, pod

GRACE = 60.0
ADMISSION = 60.0
WARMUP = 300.0
PAUSE = 90.0
FORCE = 600.0
WEEK = 7 * 24 * 3600.0
SOON = 0.1


def begin(story: Story, at: float = 0.0) -> Story:
    """Submitted, and Suspended until further notice."""
    story.at(at).submitted()
    story.enters("Suspended", QuotaReserved="False", ResourcesDeployed="False", Unhealthy="False")
    return story


def attempt(story: Story, at: float, node: str = "n0", run: bool = True) -> Story:
    """An attempt: everything is created at `at`, and its pods run a second later."""
    story.at(at).resumes()
    story.makes()
    story.enters("Running")
    pods: list[str] = []
    for component in story.components:
        name = component["metadata"]["name"]
        if component["kind"] == "Pod":
            pods.append(name)
        elif component["kind"] == "Job":
            for index in range(component["spec"]["parallelism"]):
                child = f"{name}-{index}-{len(story.entries)}"
                story.spawns(f"Job/{name}", child)
                pods.append(child)
    if run:
        story.at(at + 1).runs(*pods, node=node)
        story.shows(PodsReady="True")
    return story


def started(*components: Any, node: str = "n0", **settings: Any) -> Story:
    """A workload that runs since the first second."""
    return attempt(begin(Story(*components, **settings)), SOON, node)


def cleared(story: Story, at: float, takes: float = 2.0) -> float:
    """All components are deleted ordinarily, pods are gone `takes` later; when that is."""
    keys = [f"{c['kind']}/{c['metadata']['name']}" for c in story.components]
    story.at(at)
    for key in keys:
        if key in story.stored:
            story.deletes(key, gone=not key.startswith("Pod/"))
    pods = [key for key in story.stored if key.startswith("Pod/")]
    gone = at + takes if pods else at
    story.at(gone)
    for key in pods:
        story.vanishes(key)
    return gone


def retried(
    *components: Any,
    fails_at: float = 10.0,
    grace: float = GRACE,
    pause: float = PAUSE,
    count: int = 1,
    runs_again: bool = True,
    **settings: Any,
) -> Story:
    """A pod fails, and after the grace period the workload is reset and runs again."""
    story = started(*components, **settings)
    resets = reset(story, fails_at, grace, count)
    if runs_again:
        attempt(story, resets + pause + SOON)
        story.at(resets + pause + 20).ends()
    return story


def first_pod(story: Story) -> str:
    """The name of the first pod that is stored."""
    return next(key for key in story.stored if key.startswith("Pod/")).partition("/")[2]


def reset(story: Story, fails_at: float, grace: float = GRACE, count: int = 1) -> float:
    """A pod fails and everything is removed; when the last of it was gone."""
    story.at(fails_at).becomes(first_pod(story), "Failed")
    story.at(fails_at + SOON).shows(Unhealthy="True")
    story.at(fails_at + grace + SOON).enters("Resetting", resets=count)
    gone = cleared(story, fails_at + grace + 2 * SOON)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    return gone


def exhausted(limit: int = 1, **settings: Any) -> Story:
    """Every attempt fails; after `limit` resets the workload is Failed and cleaned up."""
    annotations = {"retryLimit": str(limit), **settings.pop("annotations", {})}
    story = started(annotations=annotations, **settings)
    time = 10.0
    for count in range(1, limit + 1):
        gone = reset(story, time, count=count)
        attempt(story, gone + PAUSE + SOON)
        time = gone + PAUSE + 10
    failed(story, time)
    return story.ends()


def failed(story: Story, fails_at: float, delay: float = 0.0) -> Story:
    """A pod fails for the last time: Failed, and `delay` later everything is removed."""
    story.at(fails_at).becomes(first_pod(story), "Failed")
    story.at(fails_at + SOON).shows(Unhealthy="True")
    story.at(fails_at + GRACE + SOON).enters("Failed")
    gone = cleared(story, fails_at + GRACE + 2 * SOON + delay)
    story.at(gone + SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    return story


def succeeded(ttl: float = WEEK, **settings: Any) -> Story:
    """A pod succeeds; a week later what is left of the workload is deleted."""
    story = started(**settings)
    story.at(100).becomes("a-0", "Succeeded")
    story.at(100 + SOON).enters("Succeeded", QuotaReserved="False")
    gone = cleared(story, 100 + ttl + 2 * SOON, takes=0)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    return story.ends()


def suspended(during: str = "Running") -> Story:
    """A user suspends a workload; it deletes its resources and gives back its quota."""
    story = started()
    at = 20.0
    if during == "Resetting":
        story.at(10).becomes("a-0", "Failed")
        story.shows(Unhealthy="True")
        story.at(70 + SOON).enters("Resetting", resets=1)
        at = 71.0
    story.at(at).suspends()
    story.at(at + SOON).enters("Suspending")
    gone = cleared(story, at + 2 * SOON)
    story.at(gone + SOON).enters(
        "Suspended", QuotaReserved="False", ResourcesDeployed="False", Unhealthy="False"
    )
    return story.ends()


def externally_deleted() -> Story:
    """A user deletes a component; the workload fails at once and the rest is deleted."""
    story = started(pod("a-0"), config_map("a-config"))
    story.at(30).deletes("ConfigMap/a-config", by="user", gone=True)
    story.at(30 + SOON).enters("Failed", Unhealthy="True")
    gone = cleared(story, 30 + 2 * SOON)
    story.at(gone + SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    return story.ends()


def job_failed() -> Story:
    """A Job says that it has failed; the workload is reset at once."""
    story = started(job("a-job"))
    story.at(30).becomes(first_pod(story), "Failed")
    story.at(30 + SOON).shows(Unhealthy="True")
    story.at(31).fails_job("a-job")
    story.at(31 + SOON).enters("Resetting", resets=1)
    gone = cleared(story, 31 + 2 * SOON)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    attempt(story, gone + PAUSE + SOON)
    return story.at(gone + PAUSE + 20).ends()


def gpu_pod(name: str = "a-0", values: tuple[str, ...] = ("ERR", "EVICT")) -> dict[str, Any]:
    """A pod that asks for a GPU, with the affinity that keeps it off nodes of these values."""
    return pod(name, gpus=1, affinity=avoids(*values))


def migrated(to: str = "n1", count: int | None = None) -> Story:
    """A node is tagged EVICT; its workload is reset, not counted, and runs elsewhere."""
    story = Story(gpu_pod())
    story.node("n0")
    story.node("n1")
    attempt(begin(story), SOON)
    story.at(30).tags("EVICT")
    story.at(30 + SOON).enters("Resetting", resets=count, Unhealthy="True")
    gone = cleared(story, 30 + 2 * SOON)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    attempt(story, gone + PAUSE + SOON, node=to)
    return story.at(gone + PAUSE + 20).ends()


def tagged(value: str, *components: Any, run: bool = True) -> Story:
    """A node is tagged for a minute, which is no reason for anything."""
    story = Story(*(components or (gpu_pod(),)))
    story.node("n0")
    attempt(begin(story), SOON, run=run)
    if not run:
        story.at(1).binds("a-0")
    story.at(30).tags(value)
    story.at(90).tags(None)
    return story


def delayed(delay: float = 300.0) -> Story:
    """A Failed workload is kept for five minutes, as its annotation asks."""
    story = started(annotations={"retryLimit": "0", "deletionOnFailureGracePeriodDuration": "5m"})
    return failed(story, 10, delay).ends()


def stuck(force: float = FORCE) -> Story:
    """A pod does not stop; it is deleted by force when the grace period is over."""
    story = started(job("a-job"), annotations={"retryLimit": "0"})
    name = first_pod(story)
    story.at(10).fails_job("a-job")
    story.at(10 + SOON).enters("Failed", Unhealthy="True")
    story.at(11).deletes("Job/a-job", gone=True)
    story.deletes(f"Pod/{name}", by="garbage-collector")
    story.at(11 + force + SOON).deletes(f"Pod/{name}", grace=0, gone=True)
    story.at(11 + force + 2 * SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    return story.ends()


def short_of_pods(admission: float = ADMISSION, grace: float = GRACE) -> Story:
    """A Job makes no pods; unhealthy after one grace period, reset after the next."""
    story = begin(Story(job("a-job")))
    story.at(SOON).resumes()
    story.makes()
    story.enters("Running")
    story.at(admission + 2 * SOON).shows(Unhealthy="True")
    story.at(admission + grace + 3 * SOON).enters("Resetting", resets=1)
    gone = cleared(story, admission + grace + 4 * SOON)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    attempt(story, gone + PAUSE + SOON)
    return story.at(gone + PAUSE + 20).ends()


def idle(warmup: float = WARMUP, grace: float = GRACE) -> Story:
    """A pod stays Pending; unhealthy after the warmup, reset after the failure grace period."""
    story = attempt(begin(Story()), SOON, run=False)
    story.at(warmup + 2 * SOON).shows(Unhealthy="True")
    story.at(warmup + grace + 3 * SOON).enters("Resetting", resets=1)
    gone = cleared(story, warmup + grace + 4 * SOON)
    story.at(gone + SOON).shows(ResourcesDeployed="False")
    attempt(story, gone + PAUSE + SOON)
    return story.at(gone + PAUSE + 20).ends()


def repaired() -> Story:
    """A failed pod is replaced by the controller of its resource within the grace period."""
    story = started(job("a-job"))
    name = first_pod(story)
    story.at(30).becomes(name, "Failed")
    story.at(30 + SOON).shows(Unhealthy="True")
    story.at(35).vanishes(f"Pod/{name}")
    story.spawns("Job/a-job", "a-job-again")
    story.at(36).runs("a-job-again")
    story.at(36 + SOON).shows(Unhealthy="False")
    return story


def deleted() -> Story:
    """A user deletes the AppWrapper; it goes when everything else is gone."""
    story = started()
    story.at(20).deletes("AppWrapper/a", by="user")
    story.at(20 + SOON).enters("Terminating")
    gone = cleared(story, 20 + 2 * SOON)
    story.at(gone + SOON).shows(QuotaReserved="False", ResourcesDeployed="False")
    story.at(gone + 2 * SOON).vanishes("AppWrapper/a", by="appwrapper")
    return story.ends()


def failing(*components: object, **settings: object) -> Story:
    """A workload without retries that has failed at 70.1 s, with everything still there."""
    annotations = {"retryLimit": "0", **settings.pop("annotations", {})}  # type: ignore[dict-item]
    story = started(*components, annotations=annotations, **settings)
    story.at(10).becomes(first_pod(story), "Failed")
    story.at(10.1).shows(Unhealthy="True")
    story.at(70.1).enters("Failed")
    return story
