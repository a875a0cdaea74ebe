"""How pods go: graceful deletion in steps, and eviction."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition, event, exists, has, phase, present, terminating
from tests.differential.script import script
from tests.differential.scripts.manifests import pod, unscheduled
from vocabulary.kinds import POD

HOLD = "tests.assay.dev/hold"
END = [
    "metadata.deletionTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.finalizers",
    "status.phase",
]
LIFE = [*END, "spec.nodeName", "status.conditions", "status.containerStatuses"]


@script("A running pod is deleted in steps: terminating, ended, gone.", ["4.12"])
def graceful_deletion(c: Dialogue) -> None:
    c.create(pod("a"), show=END)
    running = c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", show=END)
    c.until_gone(POD, "a")
    c.watch(POD, event("DELETED"), name="a", since=running.revision, distinct=True, show=LIFE)


@script("Containers that exit with 0 on SIGTERM make a Succeeded pod.", ["4.12"])
def graceful_success(c: Dialogue) -> None:
    c.create(pod("a", {"term_exit": "0"}), show=END)
    running = c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", show=END)
    c.until_gone(POD, "a")
    c.watch(POD, event("DELETED"), name="a", since=running.revision, distinct=True, show=LIFE)


@script("A pod that is bound but has not started ends as Failed when it is deleted.", ["4.12"])
def deletion_before_start(c: Dialogue) -> None:
    c.create(pod("a", {"hold": "image"}), show=END)
    waiting = c.until(POD, "a", present("status.containerStatuses"), show=END)
    c.delete(POD, "a", show=END)
    c.until_gone(POD, "a")
    c.watch(POD, event("DELETED"), name="a", since=waiting.revision, distinct=True, show=END)


@script("A pod without running containers is deleted immediately.", ["4.12"])
def deletion_of_unscheduled(c: Dialogue) -> None:
    first = c.create(unscheduled("a"), show=END)
    c.delete(POD, "a")
    c.get(POD, "a")
    c.watch(POD, event("DELETED"), name="a", since=first.revision, show=END)
    c.create(unscheduled("b"), show=END)
    c.delete(POD, "b", grace_seconds=0, show=END)
    c.get(POD, "b")
    c.create(pod("c", {"exit": "0"}, restartPolicy="Never"), show=END)
    c.until(POD, "c", phase("Succeeded"), show=END)
    c.delete(POD, "c", show=END)
    c.until_gone(POD, "c")


@script("A grace period can be shortened, and not prolonged.", ["4.12"])
def grace_periods(c: Dialogue) -> None:
    c.create(pod("a", {"stuck_terminating": "true"}), show=END)
    c.until(POD, "a", condition("Ready"), show=END)
    for grace in (60, 90, 20, None, 5):
        c.delete(POD, "a", grace_seconds=grace, show=[*END, "metadata.generation"])
    c.get(POD, "a", show=END)
    c.delete(POD, "a", grace_seconds=0, show=END)
    c.get(POD, "a")
    c.create(pod("b", {"stuck_terminating": "true"}, terminationGracePeriodSeconds=7), show=END)
    c.until(POD, "b", condition("Ready"), show=END)
    c.delete(POD, "b", show=END)
    c.delete(POD, "b", grace_seconds=0, show=END)


@script("Containers that have not stopped are killed at the end of the grace period.", ["4.12"])
def killed_in_time(c: Dialogue) -> None:
    for name, needs in (("slow", "1h1m"), ("quick", "1s500ms")):
        stopping = {"term_for": needs, "term_exit": "0"}
        c.create(pod(name, stopping, terminationGracePeriodSeconds=3), show=END)
        running = c.until(POD, name, condition("Ready"), show=END)
        c.delete(POD, name, show=END)
        c.until_gone(POD, name)
        c.watch(POD, event("DELETED"), name=name, since=running.revision, distinct=True, show=LIFE)


@script("A grace period that a second deletion shortens kills sooner.", ["4.12"])
def killed_sooner(c: Dialogue) -> None:
    c.create(pod("a", {"term_for": "1h"}, terminationGracePeriodSeconds=600), show=END)
    running = c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", show=END)
    c.stays(POD, "a", phase("Running"), for_seconds=3, show=END)
    c.delete(POD, "a", grace_seconds=1, show=END)
    c.until_gone(POD, "a")
    c.watch(POD, event("DELETED"), name="a", since=running.revision, distinct=True, show=LIFE)


@script("Containers of a pod that finalizers alone keep are killed after 2 seconds.", ["4.12"])
def killed_behind_finalizer(c: Dialogue) -> None:
    held = pod("a", {"term_for": "1h"})
    held["metadata"]["finalizers"] = [HOLD]
    c.create(held, show=END)
    c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", grace_seconds=0, show=END)
    c.until(POD, "a", phase("Failed"), show=LIFE)
    c.patch(POD, "a", {"metadata": {"finalizers": None}}, show=END)
    c.get(POD, "a")


@script("A pod with a finalizer ends and stays until that is removed.", ["4.11", "4.12"])
def finalizer_on_pod(c: Dialogue) -> None:
    held = pod("a")
    held["metadata"]["finalizers"] = [HOLD]
    c.create(held, show=END)
    c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", show=END)
    c.until(POD, "a", has("metadata.deletionGracePeriodSeconds", 0), show=LIFE)
    c.delete(POD, "a", show=END)
    c.patch(POD, "a", {"metadata": {"finalizers": None}}, show=END)
    c.get(POD, "a")


@script("A pod stuck in termination is freed, and gone.", ["4.12"])
def stuck_pod(c: Dialogue) -> None:
    c.create(pod("a", {"stuck_terminating": "true"}), show=END)
    c.until(POD, "a", condition("Ready"), show=END)
    c.delete(POD, "a", show=END)
    c.stays(POD, "a", terminating, for_seconds=1, show=END)
    c.patch(
        POD, "a", {"metadata": {"annotations": {"assay.dev/stuck-terminating": None}}}, show=END
    )
    c.until_gone(POD, "a")


@script("An eviction deletes a pod gracefully and marks it as disrupted.", ["4.12", "5.5"])
def eviction(c: Dialogue) -> None:
    c.create(pod("a"), show=END)
    running = c.until(POD, "a", condition("Ready"), show=END)
    c.evict("a")
    c.until_gone(POD, "a")
    c.watch(
        POD,
        event("DELETED"),
        name="a",
        since=running.revision,
        distinct=True,
        show=[*END, "status.conditions"],
    )
    c.evict("absent")


@script("An eviction takes delete options, and a dry run changes nothing.", ["4.12"])
def eviction_options(c: Dialogue) -> None:
    first = c.create(unscheduled("a"), show=END)
    c.evict("a", options={"preconditions": {"uid": "11111111-1111-1111-1111-111111111111"}})
    c.evict("a", options={"dryRun": ["All"]})
    c.get(POD, "a", show=END)
    c.evict("a", options={"preconditions": {"uid": first.uid}, "gracePeriodSeconds": 0})
    c.get(POD, "a")
    c.create(pod("done", {"exit": "0"}, restartPolicy="Never"), show=END)
    c.until(POD, "done", phase("Succeeded"), show=END)
    c.evict("done")
    c.until_gone(POD, "done")


@script("A disruption budget blocks an eviction for a while.", ["4.12"])
def eviction_budget(c: Dialogue) -> None:
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "a"}}},
    }
    labelled = pod("a")
    labelled["metadata"]["labels"] = {"app": "a"}
    c.create(labelled, show=END)
    c.until(POD, "a", condition("Ready"), show=END)
    path = f"/apis/policy/v1/namespaces/{c.namespace}/poddisruptionbudgets"
    c.raw("POST", path, budget, label="create a budget", show=["spec"])
    c.stays(POD, "a", exists, for_seconds=1, show=END)
    c.evict("a")
    c.get(POD, "a", show=END)
