"""Rejections of submissions and changes, and accepted values at the limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import APPWRAPPER
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import (
    appwrapper,
    bare_pod,
    deployment,
    job,
    pod_spec,
)
from conformance.world import World
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.requests import Update

REFUSED: Final = (403, 422)
CONFIG_MAP: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a-config"}}
# No pod sets are inferred for this kind.
REPLICA_SET: Final = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "a-set"},
    "spec": {
        "selector": {"matchLabels": {"of": "a-set"}},
        "template": {"metadata": {"labels": {"of": "a-set"}}, "spec": pod_spec()},
    },
}
TWO: Final = {"parallelism": 2, "completions": 2}
POD_SET: Final = {"path": "template.spec.template", "replicas": 2}


def _declaring(template: Mapping[str, Any], *pod_sets: Mapping[str, Any]) -> dict[str, Any]:
    manifest = appwrapper(template)
    manifest["spec"]["components"][0]["podSets"] = [dict(each) for each in pod_sets]
    return manifest


def _elsewhere() -> dict[str, Any]:
    pod = bare_pod()
    return {**pod, "metadata": {**pod["metadata"], "namespace": "elsewhere"}}


def _of_pods(template: Any) -> dict[str, Any]:
    a_job = job(TWO)
    return appwrapper({**a_job, "spec": {**a_job["spec"], "template": template}})


FLAWED: Final = {
    "nested": appwrapper(bare_pod(), appwrapper(bare_pod(), name="b")),
    "in-another-namespace": appwrapper(_elsewhere()),
    "without-pods": appwrapper(CONFIG_MAP),
    "nine-pod-sets": appwrapper(*[bare_pod(name=f"a-{number}") for number in range(9)]),
    "without-components": {**appwrapper(), "spec": {"components": []}},
    "without-a-list-of-components": {**appwrapper(), "spec": {}},
    "without-a-path": _declaring(job(TWO), {"replicas": 2}),
    "empty-path": _declaring(job(TWO), {"path": ""}),
    "path-of-another-object": _declaring(job(TWO), {"path": "spec.template"}),
    "path-that-cannot-be-read": _declaring(job(TWO), {"path": "template.spec..template"}),
    "path-that-stops-short": _declaring(job(TWO), {"path": "template.spec"}),
    "path-to-nowhere": _declaring(job(TWO), {"path": "template.spec.podTemplate"}),
    "path-beyond-a-list": _declaring(
        job(TWO), {"path": "template.spec.template.spec.containers[1]"}
    ),
    "path-to-a-container": _declaring(
        job(TWO), {"path": "template.spec.template.spec.containers[0]"}
    ),
    "fewer-replicas": _declaring(job(TWO), {**POD_SET, "replicas": 1}),
    "replicas-by-default": _declaring(job(TWO), {"path": POD_SET["path"]}),
    "negative-replicas": _declaring(REPLICA_SET, {**POD_SET, "replicas": -1}),
    "twice-the-same": _declaring(job(TWO), POD_SET, POD_SET),
    "second-is-empty": _declaring(job(TWO), POD_SET, {"path": ""}),
    "replicas-are-a-text": appwrapper(deployment({"replicas": "2"})),
    "no-pod-template": _of_pods({}),
    "containers-are-no-list-of-objects": _of_pods({"spec": {"containers": ["main"]}}),
    "containers-are-one-object": _of_pods({"spec": {"containers": {"name": "main"}}}),
}


@scenario(arms=["MLB-074"], cases=FLAWED)
def what_cannot_work_is_refused(world: World, manifest: Mapping[str, Any]) -> None:
    """An AppWrapper that could not run as it is written is refused when it is submitted."""
    _try(lambda: AppWrapper.submit(world, manifest))
    world.wait(SECOND)


def _with_template(stored: Mapping[str, Any]) -> dict[str, Any]:
    component = stored["spec"]["components"][0]
    template = {**component["template"], "metadata": {"name": "b-job"}}
    return {"components": [{**component, "template": template}]}


def _with_pod_sets(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {"components": [{**stored["spec"]["components"][0], "podSets": [POD_SET]}]}


def _with_another(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {"components": [*stored["spec"]["components"], {"template": CONFIG_MAP}]}


def _with_a_manager(_: Mapping[str, Any]) -> dict[str, Any]:
    return {"managedBy": "example.com/other"}


@scenario(
    arms=["MLB-075"],
    cases={
        "template": _with_template,
        "pod-sets": _with_pod_sets,
        "number-of-components": _with_another,
        "manager": _with_a_manager,
    },
)
def what_it_is_made_of_is_changed(
    world: World, change: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> None:
    """An AppWrapper's components cannot be changed while it runs."""
    aw = AppWrapper.submit(world, appwrapper(job(TWO)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    stored = world.get(APPWRAPPER, "a") or {}
    changed = {**stored, "spec": {**stored["spec"], **change(stored)}}
    _try(lambda: world.call(Update(APPWRAPPER, changed)))
    world.wait(SECOND)


def _try(request: Callable[[], Any]) -> None:
    """Send what should be refused."""
    try:
        request()
    except ApiError as refused:
        if refused.code not in REFUSED:
            raise


def _named(name: str) -> dict[str, Any]:
    return appwrapper(job(TWO), name=name)


def _at_home(world: World) -> dict[str, Any]:
    template = job(TWO)
    return appwrapper({**template, "metadata": {"name": "a-job", "namespace": world.namespace}})


@scenario(
    arms=["AW-020", "INV-9"],
    cases={
        "the-longest-name": lambda _: _named("a" * 63),
        "its-own-namespace": _at_home,
        "eight-pod-sets": lambda _: appwrapper(
            *[bare_pod(name=f"a-{number}") for number in range(8)]
        ),
        "pod-sets-as-inferred": lambda _: _declaring(job(TWO), POD_SET),
        "one-replica-by-default": lambda _: _declaring(job({}), {"path": POD_SET["path"]}),
        "something-without-pods": lambda _: appwrapper(CONFIG_MAP, job(TWO)),
    },
)
def what_is_at_the_limit_is_admitted(
    world: World, manifest: Callable[[World], Mapping[str, Any]]
) -> None:
    """Workloads at the limits are admitted, and run."""
    aw = AppWrapper.submit(world, manifest(world))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(world.durations.warmup_grace_us + 2 * world.durations.failure_grace_us)
