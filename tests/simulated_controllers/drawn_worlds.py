"""Small clusters about one subject each, drawn at random, and a digest of all that is done in them.

`owned` has objects that claim owners rightly and wrongly, `crowded` pods that push each other out,
`lost` nodes that fail in zones of many sizes. The digests are recorded in `recordings/worlds.txt`;
`python -m tests.simulated_controllers.drawn_worlds` records them again, and with a subject and a
number it prints what is done in one.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from clusters.simulated.cluster import NodeSpec
from clusters.simulated.controllers.settings import Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, pod, requests
from tests.simulated_controllers.lives import lines
from vocabulary.canonical import digest
from vocabulary.clock import SECOND
from vocabulary.errors import ApiError
from vocabulary.kinds import CONFIG_MAP, NODE, POD, SECRET, Kind
from vocabulary.objects import name_of, uid_of
from vocabulary.requests import Create

RECORDING: Final = Path(__file__).parent / "recordings" / "worlds.txt"
_DIGITS: Final = 10
_ZONE: Final = "topology.kubernetes.io/zone"
_PRIORITIES: Final = {"low": 1, "middle": 50, "high": 100}
Draw = random.Random


def _tried(act: Callable[[], Any]) -> None:
    try:
        act()
    except ApiError as refused:
        assert refused.code in (404, 409, 422), refused


def _owned(rng: Draw) -> Lab:
    """Graphs of owners, some of whose references name what there is not, or is elsewhere."""
    lab = Lab(nodes=1, settings=Settings(every_kind=True))
    collector = lab.cluster.controllers["garbage-collector"]
    lab.cluster.add_namespace("other")
    uids: dict[tuple[str, str], str] = {}
    kinds: Mapping[str, Kind] = {"ConfigMap": CONFIG_MAP, "Secret": SECRET}
    if rng.randrange(3) == 0:
        collector.kill()

    def reference() -> dict[str, Any]:
        known = [*uids, ("ConfigMap", "gone"), ("Node", name_of(lab.all(NODE)[0]))]
        kind, name = rng.choice(known)
        uid = uids.get((kind, name), "nobody")
        if kind == "Node":
            uid = rng.choice((uid_of(lab.all(NODE)[0]), "nobody"))
        found = {"apiVersion": "v1", "kind": kind, "name": name, "uid": uid}
        wrong: Sequence[dict[str, Any]] = (
            *({},) * 5,
            {"name": "misnamed"},
            {"uid": "nobody"},
            {"kind": "Secret" if kind == "ConfigMap" else "ConfigMap"},
            {"apiVersion": "v9"},
            {"apiVersion": "a.b/v1", "kind": "Unknown"},
            {"kind": "Unknown"},
        )
        blocks = rng.choice(({}, {"blockOwnerDeletion": True}, {"blockOwnerDeletion": False}))
        return {**found, **rng.choice(wrong), **blocks}

    def made() -> None:
        kind, name = rng.choice(sorted(kinds)), f"o{len(uids)}"
        owners = {it["uid"]: it for it in (reference() for _ in range(rng.randrange(3)))}
        metadata: dict[str, Any] = {"name": name, "ownerReferences": list(owners.values())}
        if rng.randrange(6) == 0:
            metadata["finalizers"] = ["a.b/held"]
        namespace = "other" if rng.randrange(9) == 0 else DEFAULT
        obj = {"apiVersion": "v1", "kind": kind, "metadata": {**metadata, "namespace": namespace}}
        uids[kind, name] = uid_of(lab.handle(Create(kinds[kind], obj, namespace, name)))

    def named() -> tuple[Kind, str]:
        kind, name = rng.choice(sorted(uids))
        return kinds[kind], name

    def delete() -> None:
        policy = rng.choice(("Foreground", "Foreground", "Background", "Orphan"))
        lab.delete(*named(), propagation_policy=policy)

    def change() -> None:
        kind, name = named()
        changed = rng.choice(
            ({"ownerReferences": [reference()]}, {"ownerReferences": None}, {"finalizers": None})
        )
        lab.patch(kind, name, {"metadata": changed})

    def toggle() -> None:
        if collector.running:
            collector.kill()
        else:
            collector.start()

    for _ in range(rng.randint(3, 7)):
        _tried(made)
    for _ in range(rng.randint(4, 9)):
        lab.run(rng.choice((0, 0.002, 0.01, 1)))
        _tried(rng.choice((made, delete, delete, change, change, toggle)))
    if not collector.running:
        collector.start()
    lab.run(60)
    for kind, name in sorted(uids):
        _tried(lambda at=(kinds[kind], name): lab.patch(*at, {"metadata": {"finalizers": None}}))
    lab.run(60)
    return lab


def _crowded(rng: Draw) -> Lab:
    """Pods of several priorities on nodes that are too small for all."""
    nodes = [
        NodeSpec(f"n{at}", cpu=rng.choice(("1", "2", "3")), pods=rng.choice((2, 3, 110)))
        for at in range(rng.randint(1, 3))
    ]
    lab = Lab(nodes=nodes)
    for name, value in _PRIORITIES.items():
        policy = {"preemptionPolicy": "Never"} if rng.randrange(8) == 0 else {}
        lab.create(
            {
                "apiVersion": "scheduling.k8s.io/v1",
                "kind": "PriorityClass",
                "metadata": {"name": name},
                "value": value,
                "globalDefault": name == "middle" and rng.randrange(3) == 0,
                **policy,
            }
        )

    def make(name: str, priorities: Sequence[str]) -> None:
        spec: dict[str, Any] = requests(cpu=rng.choice(("500m", "1", "1", "2")))
        if rng.randrange(5):
            spec["priorityClassName"] = rng.choice(priorities)
        if rng.randrange(6) == 0:
            spec["nodeSelector"] = {"kubernetes.io/hostname": rng.choice(("n0", "n1"))}
        if rng.randrange(6) == 0:
            spec["tolerations"] = [{"operator": "Exists", "effect": "NoSchedule"}]
        stop = rng.choice(("", ", stop 3s", ", stop 20s", ", never stop"))
        made = pod(name, f"run forever{stop}", **spec)
        made["metadata"]["labels"] = {"app": rng.choice("ab")}
        if rng.randrange(8) == 0:
            term = {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": "a"}},
            }
            required = "requiredDuringSchedulingIgnoredDuringExecution"
            kind = rng.choice(("podAffinity", "podAntiAffinity"))
            made["spec"]["affinity"] = {kind: {required: [term]}}
        lab.create(made)

    for at in range(rng.randint(2, 7)):
        make(f"a{at}", ("low", "low", "middle"))
        lab.run(rng.choice((0, 0, 1, 2.5)))
    for at in range(rng.randint(1, 3)):
        make(f"z{at}", ("high", "high", "middle"))
        lab.run(rng.choice((0, 0.01, 0.5, 4)))
        if rng.randrange(4) == 0:
            name = rng.choice(sorted(name_of(each) for each in lab.pods))
            _tried(lambda name=name: lab.delete(POD, name, grace_period_seconds=0))
        if rng.randrange(6) == 0:
            body = {"spec": {"unschedulable": rng.choice((True, None))}}
            lab.patch(NODE, "n0", body)
    lab.run(90)
    return lab


def _lost(rng: Draw) -> Lab:
    """Nodes that are lost in zones of some sizes, and come back or are deleted."""
    sizes = [rng.choice((1, 2, 3, 4, 5, 9, 20)) for _ in range(rng.randint(1, 2))]
    if rng.randrange(12) == 0:
        sizes[0] = rng.choice((50, 51, 52))
    names = [f"z{zone}-{at}" for zone, size in enumerate(sizes) for at in range(size)]
    specs = [NodeSpec(name, labels={_ZONE: name.partition("-")[0]}) for name in names]
    lab = Lab(nodes=specs, settings=Settings(node_monitor_grace_us=10 * SECOND))
    tolerated = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 20}
    in_first = [name for name in names if name.startswith("z0")]
    share = rng.choice((0.5, 0.54, 0.55, 0.56, 0.75, 1))
    count = max(1, min(len(in_first), round(share * len(in_first))))
    lost = rng.sample(in_first, count)
    if rng.randrange(5) == 0:
        lost += [name for name in names if name.startswith("z1")][: rng.randint(1, 3)]
    for at, name in enumerate([*lost[:2], *names[-1:]]):
        lab.create(pod(f"p{at}", "run forever", nodeName=name, tolerations=[tolerated]))
    lab.run(5)
    for name in lost:
        lab.processes.pause(f"kubelet/{name}")
    lab.run(rng.choice((12, 25, 60)))
    for name in rng.sample(lost, rng.randrange(min(3, len(lost)) + 1)):
        act = rng.choice((lab.processes.resume, lab.processes.resume, None))
        if act is None:
            _tried(lambda name=name: lab.delete(NODE, name))
        else:
            act(f"kubelet/{name}")
        lab.run(rng.choice((0, 3)))
    lab.run(60)
    return lab


WORLDS: Final[Mapping[str, tuple[int, Callable[[Draw], Lab]]]] = {
    "owned": (400, _owned),
    "crowded": (300, _crowded),
    "lost": (80, _lost),
}
"""By subject, how many there are, and what is done in one."""


def world(subject: str, number: int) -> list[str]:
    """All that is done in one, line by line."""
    lab = WORLDS[subject][1](Draw(f"{subject} {number}"))
    return list(lines(lab, 0))


def told(subject: str, numbers: Sequence[int]) -> Iterator[str]:
    """The digest of each."""
    for number in numbers:
        yield f"{subject} {number} {digest(world(subject, number))[:_DIGITS]}"


def main() -> None:
    if sys.argv[1:]:
        sys.stdout.write("\n".join(world(sys.argv[1], int(sys.argv[2]))) + "\n")
        return
    every = [line for subject, (count, _) in WORLDS.items() for line in told(subject, range(count))]
    RECORDING.write_text("\n".join(every) + "\n")


if __name__ == "__main__":
    main()
