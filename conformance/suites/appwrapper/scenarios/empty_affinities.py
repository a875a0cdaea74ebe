"""GPU workloads whose users wrote an affinity, left it empty, or wrote a part of Autopilot's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.scenario_type import scenario
from conformance.suites.appwrapper.api import AUTOPILOT_KEY
from conformance.suites.appwrapper.faults.autopilot import AutopilotLabel
from conformance.suites.appwrapper.handle import AppWrapper
from conformance.suites.appwrapper.scenarios.workloads import appwrapper, job, pod_spec
from conformance.world import World
from vocabulary.clock import SECOND

ONE_GPU = {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}


@scenario(
    arms=["AW-001", "AW-087", "AW-089"],
    gpus=4,
    cases={
        "null": None,
        "no-types": {},
        "null-node-affinity": {"nodeAffinity": None},
        "empty-node-affinity": {"nodeAffinity": {}},
        "nodes-marked-err": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": AUTOPILOT_KEY, "operator": "NotIn", "values": ["ERR"]}
                            ]
                        }
                    ]
                }
            }
        },
        "preferred-only": {
            "nodeAffinity": {
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {
                        "weight": 1,
                        "preference": {
                            "matchExpressions": [{"key": "example.com/fast", "operator": "Exists"}]
                        },
                    }
                ]
            }
        },
    },
)
def anti_affinity_is_injected_all_the_same(
    world: World, affinity: Mapping[str, Any] | None
) -> None:
    """Pods that request a GPU avoid unhealthy nodes, however little affinity the user wrote."""
    world.inject(AutopilotLabel(world.nodes[0], "EVICT"))
    pod = pod_spec(ONE_GPU, affinity=affinity)
    aw = AppWrapper.submit(world, appwrapper(job({"parallelism": 2, "completions": 2}, pod)))
    world.until(aw.is_in("Running") & aw.shows("PodsReady"))
    world.wait(5 * SECOND)
