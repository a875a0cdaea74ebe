"""The slack queue, from which teams borrow as much as nodes can offer.

It counts all nodes of a cluster, so that a run has a cluster of its own.
"""

from __future__ import annotations

from chaos.choice import NodeChoice
from chaos.fault import Fault
from chaos.faults import Cordon, LabelNode, NodeDeleted, NodeNotReady, Taint
from conformance.scenario_type import scenario
from conformance.suites.kueue.api import CLUSTER_QUEUE
from conformance.suites.mlbatch.handle import GPU, Team, slack_queue
from conformance.world import World
from vocabulary.clock import SECOND

_SLACK = {"appwrapper": {"slackQueueName": "$(RUN)slack-cluster-queue"}}


@scenario(
    arms=["MLB-015"],
    kills="marked-gpus-are-lent",
    alone=True,
    nodes=3,
    gpus=8,
    config=_SLACK,
    cases={
        "cordoned": Cordon(NodeChoice(which="first")),
        "not-ready": NodeNotReady(NodeChoice(which="first")),
        "tainted": Taint(NodeChoice(which="first"), "example.com/broken"),
        "marked": LabelNode(NodeChoice(which="first"), "autopilot.ibm.com/gpuhealth", "EVICT"),
    },
)
def node_cannot_be_used(world: World, fault: Fault) -> None:
    """While the GPUs of a node cannot be used, as much less is lent, and an AppWrapper that would
    borrow them waits."""
    slack_queue(world, 8)
    red = Team.of(world, "red", 16)
    world.inject(fault)
    world.wait(5 * SECOND)
    fits = red.submit("fits", "run 2m")
    borrows = red.submit("borrows", "run 1m", gpus=4, pods=3)
    world.until(fits.is_admitted())
    world.wait(10 * SECOND)
    world.revert(fault)
    world.until(borrows.is_finished())


@scenario(arms=["MLB-015"], kills="slack-is-negative", alone=True, nodes=3, gpus=8, config=_SLACK)
def slack_changes(world: World) -> None:
    """The lending limit follows the slack quota, is never negative, and counts a node once."""
    name = slack_queue(world, 4)
    Team.of(world, "red", 16)
    world.inject(Cordon(world.nodes[0]))
    world.wait(5 * SECOND)
    group = (world.get(CLUSTER_QUEUE, name) or {})["spec"]["resourceGroups"][0]
    (flavor,) = group["flavors"]
    raised = [
        {**each, "nominalQuota": "12"} if each["name"] == GPU else each
        for each in flavor["resources"]
    ]
    groups = [{**group, "flavors": [{**flavor, "resources": raised}]}]
    world.patch(CLUSTER_QUEUE, name, {"spec": {"resourceGroups": groups}})
    world.wait(5 * SECOND)
    world.inject(LabelNode(world.nodes[0], "autopilot.ibm.com/gpuhealth", "ERR"))
    world.wait(5 * SECOND)


@scenario(
    arms=["MLB-015"],
    kills="closed-nodes-are-lent",
    nodes=3,
    gpus=8,
    config=_SLACK,
    only_simulated="a run on a real cluster ends while the node comes back",
)
def closed_node_is_deleted(world: World) -> None:
    """A node that could not be used and is deleted takes nothing from the slack queue any more."""
    slack_queue(world, 8)
    Team.of(world, "red", 16)
    world.inject(Cordon(world.nodes[0]))
    world.wait(5 * SECOND)
    world.inject(NodeDeleted(world.nodes[0]))
    world.wait(5 * SECOND)
