"""One AppWrapper of a team from its submission to its end, and what its user reads."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from conformance.manifests.pod_templates import with_behaviour
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import APP_WRAPPER
from conformance.suites.kueue.handle import job
from conformance.suites.mlbatch.handle import GPU, Team, TeamsAppWrapper, priority_classes
from conformance.world import World
from vocabulary.clock import DAY, MINUTE, SECOND
from vocabulary.errors import ApiError
from vocabulary.objects import with_path, without_path
from vocabulary.requests import Update

_SCHEDULER: Final = {"appwrapper": {"schedulerName": "batch-scheduler"}}


@scenario(
    arms=["MLB-028", "MLB-030", "MLB-055", "MLB-056", "MLB-077"],
    kills="pods-have-no-priority",
    cases={"low": 0, "high": 2},
)
def wrapped_pod(world: World, priority: int) -> None:
    """The guide's pod runs, with the priority that it names; its Workload goes with it."""
    its = _wrapped_pod(world, priority_classes(world)[priority])
    its.delete()
    world.until(its.is_gone())


@scenario(arms=["MLB-026"], kills="cap-limits-success-ttl", only_simulated="it takes a week")
def completed_one_is_disposed_of(world: World) -> None:
    """The objects of a completed AppWrapper go after a week."""
    its = _wrapped_pod(world, priority_classes(world)[1])
    world.wait(8 * DAY)
    its.delete()
    world.until(its.is_gone())


def _wrapped_pod(world: World, priority: str) -> TeamsAppWrapper:
    """The guide's sample, once it has succeeded."""
    red = Team.of(world, "red", 8)
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "sample-pod"},
        "spec": {
            "priorityClassName": priority,
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "busybox",
                    "image": "busybox:1.36",
                    "command": ["sh", "-c", "sleep 5"],
                    "resources": {"requests": {"cpu": 1}},
                }
            ],
        },
    }
    its = red.wrap("wrapped-pod", pod, behaviour="run 5s")
    world.until(its.is_ready())
    world.until(its.is_finished())
    return its


@scenario(
    arms=["MLB-001", "MLB-002", "MLB-025", "MLB-027", "MLB-056"],
    kills="debug-delay-counts-from-the-attempt",
    gpus=8,
    only_simulated="it takes an hour",
)
def failed_one_is_kept_for_its_user(world: World) -> None:
    """An AppWrapper of two Jobs, of which one fails, is retried once, and kept for an hour once it
    has failed."""
    red = Team.of(world, "red", 8)
    asked = {"retryLimit": "1", "deletionOnFailureGracePeriodDuration": "1h"}
    amounts = {"cpu": "1", GPU: "4"}
    fails, runs_on = (
        without_path(job(name, queue="", requests=amounts, limits={GPU: "4"}), "spec.suspend")
        for name in ("fails", "runs-on")
    )
    its = red.wrap(
        "its",
        with_behaviour(fails, "run 1m, exit 1"),
        with_behaviour(runs_on, "run forever"),
        parameters=asked,
    )
    world.until(its.is_ready())
    waits = red.submit("waits", "run 1m")
    world.until(waits.is_finished())
    its.delete()
    world.until(its.is_gone())


@scenario(arms=["MLB-082"], kills="evictions-are-kept-quiet", gpus=8, namespaces=("blue",))
def evicted_one_says_why(world: World) -> None:
    """An AppWrapper that borrowed is evicted, says why, and waits with a reason; one that is
    deactivated says so."""
    red, blue = Team.of(world, "red", 8), Team.of(world, "blue", 8)
    own = red.submit("own", "run 20m")
    world.until(own.is_ready())
    world.wait(2 * SECOND)
    borrows = red.submit("borrows", "run 20m")
    world.until(borrows.is_ready())
    its = blue.submit("its", "run 20m")
    world.until(its.is_ready())
    world.wait(MINUTE)
    own.activate(False)
    world.until(own.has_released())


@scenario(
    arms=["MLB-081"],
    kills="lacking-resource-is-not-named",
    cases={
        "gpus": {GPU: "9"},
        "memory": {"memory": "200Gi"},
        "not-covered": {"example.com/fpga": "1"},
    },
)
def one_resource_is_lacking(world: World, amounts: dict[str, str]) -> None:
    """An AppWrapper that asks for more of one resource than there is, or for one that its queue
    does not cover, waits and names it."""
    red = Team.of(world, "red", 8)
    its = red.submit("its", "run 1m", extra=amounts)
    world.until(its.waits())
    world.wait(30 * SECOND)


@scenario(
    arms=["MLB-022", "MLB-024", "MLB-074", "MLB-075"],
    kills="failed-is-kept-for-ever",
    config=_SCHEDULER,
    only_simulated="it takes an hour",
)
def mistakes_of_users(world: World) -> None:
    """An AppWrapper without components is refused, and so is another template while it runs; one
    that fails gives its resources back within minutes. Pods wait for the configured scheduler."""
    red = Team.of(world, "red", 8)
    _refused(lambda: red.wrap("empty"))
    its = red.submit("its", "run 1m", gpus=0)
    world.until(its.is_in("Running"))
    components = [{"template": job("other", queue="")}]
    changed = with_path(its.now, "spec.components", components)
    _refused(lambda: world.call(Update(APP_WRAPPER, changed)))
    world.until(its.is_in("Failed"))
    world.wait(20 * MINUTE)


def _refused(request: Callable[[], Any]) -> None:
    """Send what should be refused; one that is not is left to the claims."""
    with suppress(ApiError):
        request()


@scenario(arms=["MLB-061"], kills="pods-have-no-priority")
def second_pod_set_names_a_class(world: World) -> None:
    """An AppWrapper has the priority that one of its two Jobs names, the second."""
    *_, high = priority_classes(world)
    jobs = [job("one", queue=""), job("two", queue="", priorityClassName=high)]
    its = Team.of(world, "red", 8).wrap("its", *jobs, behaviour="run 20s")
    world.until(its.is_finished())


@scenario(
    arms=["MLB-061"],
    kills="default-class-is-ignored",
    only_simulated="a default class is one of the whole cluster",
)
def no_class_is_named(world: World) -> None:
    """An AppWrapper whose pods name no class has the priority of the default one."""
    priority_classes(world, has_default=True)
    its = Team.of(world, "red", 8).submit("its", "run 1m", gpus=0)
    world.until(its.is_finished())
