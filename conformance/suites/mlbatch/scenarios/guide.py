"""The guide's way, from the administrator's teams to a cluster with less GPUs than quota."""

from __future__ import annotations

from typing import Final

from chaos.choice import PodChoice
from chaos.faults import Cordon, KillPod
from conformance.scenario_type import scenario
from conformance.suites.mlbatch.handle import Team, priority_classes, slack_queue
from conformance.world import World
from vocabulary.clock import SECOND

_LONG: Final = "run forever"


@scenario(
    arms=["MLB-003", "MLB-015", "MLB-046", "MLB-068", "MLB-082"],
    kills="closed-nodes-are-lent",
    alone=True,
    nodes=3,
    gpus=8,
    namespaces=("code",),
    config={"appwrapper": {"slackQueueName": "$(RUN)slack-cluster-queue"}},
)
def two_teams_share_a_cluster(world: World) -> None:
    """Two teams fill their quota and what others leave, as in the guide's table; a pod fails, a
    node fails, quota is reclaimed, and AppWrappers are deleted."""
    _, _, high = priority_classes(world)
    slack_queue(world, 8)
    code, platform = Team.of(world, "code", 8), Team.of(world, "platform", 8)
    train = code.submit("train", _LONG, pods=2)
    world.until(train.is_ready())
    small = [platform.submit(f"small-{n}", _LONG, gpus=1) for n in range(4)]
    for each in small:
        world.until(each.is_ready())
    world.wait(2 * SECOND)
    world.inject(KillPod(pod=PodChoice(of="AppWrapper/small-0", which="first"), exit_code=1))
    world.until(small[0].was_reset())
    world.until(small[0].is_running())
    world.wait(2 * SECOND)
    cordon = Cordon(world.nodes[0])
    world.inject(cordon)
    world.wait(5 * SECOND)
    waits = code.submit("waits", "run 1m", gpus=4)
    world.wait(5 * SECOND)
    large = platform.submit("large", _LONG, gpus=4, priority=high)
    world.until(large.is_admitted())
    world.until(train.waits())
    world.wait(5 * SECOND)
    world.revert(cordon)
    world.until(large.is_ready())
    world.wait(5 * SECOND)
    for each in (*small, large):
        each.delete()
        world.until(each.is_gone())
    world.until(waits.is_finished() & train.is_ready())
    train.delete()
    world.until(train.is_gone())
    world.wait(2 * SECOND)
