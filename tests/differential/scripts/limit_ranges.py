"""LimitRanges: they fill in, and they refuse."""

from __future__ import annotations

from typing import Any

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import Predicate, present
from tests.differential.script import script
from tests.differential.scripts.manifests import Manifest, container, unscheduled
from vocabulary.kinds import LIMIT_RANGE, POD, RESOURCE_QUOTA

_SHOW = ["spec.containers.0.resources", "spec.initContainers.0.resources", "metadata.annotations"]
_SEEN_SECONDS = 1.0
"""The API server's cache of LimitRanges has followed by then."""


def _limits(name: str, *items: Manifest) -> Manifest:
    metadata = {"name": name}
    spec = {"limits": list(items)}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}


def _of_containers(**amounts: dict[str, str]) -> Manifest:
    return {"type": "Container", **amounts}


def _asking(
    name: str,
    requests: dict[str, str] | None = None,
    limits: dict[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    resources = {"requests": requests or {}, "limits": limits or {}}
    obj = unscheduled(name)
    obj["spec"] |= {"containers": [container(resources=resources)], **spec}
    return obj


def _claim(name: str, storage: str) -> Manifest:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}}
    kind = "PersistentVolumeClaim"
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


@script("A LimitRange gives containers the requests and limits that they lack.", ["4.16"])
def limit_range_defaults(c: Dialogue) -> None:
    item = _of_containers(max={"cpu": "2"}, min={"memory": "64Mi"}, defaultRequest={"cpu": "500m"})
    c.create(_limits("l", item))
    c.settle(_SEEN_SECONDS)
    c.create(unscheduled("a"), show=_SHOW)
    c.create(_asking("b", {"cpu": "1"}), show=_SHOW)
    init = [container(resources={"limits": {"cpu": "1"}}) | {"name": "first"}]
    c.create(_asking("c", {"memory": "1Gi"}, initContainers=init), show=_SHOW)
    c.get(LIMIT_RANGE, "l", show=["spec"])
    c.table(LIMIT_RANGE)
    c.delete(LIMIT_RANGE, "l", show=["spec"])


@script("A LimitRange rejects containers beyond its limits.", ["4.16"])
def limit_range_of_containers(c: Dialogue) -> None:
    item = _of_containers(
        max={"cpu": "1"}, min={"cpu": "100m"}, maxLimitRequestRatio={"memory": "2"}
    )
    c.create(_limits("l", item))
    c.settle(_SEEN_SECONDS)
    memory = {"memory": "64Mi"}
    c.create(_asking("high", {**memory}, {"cpu": "1500m", **memory}))
    c.create(_asking("low", {"cpu": "50m", **memory}, memory))
    c.create(_asking("unequal", memory, {"memory": "160Mi"}))
    c.create(_asking("silent"))
    c.create(_asking("both", {"cpu": "2"}, {"cpu": "2"}))
    init = [container(resources={"limits": {"cpu": "3", **memory}}) | {"name": "first"}]
    c.create(_asking("init", memory, memory, initContainers=init))
    c.create(_asking("good", memory, memory), show=_SHOW)


@script("A LimitRange measures pods as a whole, with their init containers.", ["4.16"])
def limit_range_of_pods(c: Dialogue) -> None:
    item = {"type": "Pod", "max": {"memory": "128Mi"}, "min": {"cpu": "200m"}}
    c.create(_limits("l", item))
    c.settle(_SEEN_SECONDS)
    half = container(resources={"limits": {"memory": "64Mi", "cpu": "100m"}})
    c.create(_asking("a", containers=[half]))
    c.create(_asking("b", containers=[half, half | {"name": "other"}]), show=_SHOW[:1])
    sidecar = half | {"name": "sidecar", "restartPolicy": "Always"}
    c.create(_asking("c", containers=[half, half | {"name": "other"}], initContainers=[sidecar]))
    big = container(resources={"limits": {"memory": "256Mi", "cpu": "1"}}) | {"name": "big"}
    c.create(_asking("d", containers=[half], initContainers=[big]))
    c.create(unscheduled("e"))


@script("A LimitRange limits the storage that volume claims request.", ["4.16"])
def limit_range_of_claims(c: Dialogue) -> None:
    item = {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}, "min": {"storage": "10Mi"}}
    c.create(_limits("l", item))
    c.settle(_SEEN_SECONDS)
    c.create(_claim("large", "2Gi"))
    c.create(_claim("small", "1Mi"))
    c.create(_claim("good", "512Mi"), show=["spec.resources"])


@script("Defaults of a LimitRange count for quotas.", ["4.16"])
def limit_range_with_quota(c: Dialogue) -> None:
    hard = {"requests.memory": "100Mi", "limits.memory": "1Gi"}
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}}
    c.create({**quota, "spec": {"hard": hard}}, show=["spec"])
    c.until(RESOURCE_QUOTA, "q", present("status.used"), show=["status"])
    c.create(_limits("l", _of_containers(default={"memory": "64Mi"})))
    c.settle(_SEEN_SECONDS)
    c.create(unscheduled("a"), show=_SHOW)
    used = Predicate("it is used", lambda q: q["status"]["used"]["limits.memory"] == "64Mi")
    c.until(RESOURCE_QUOTA, "q", used, show=["status"])
    c.create(unscheduled("b"))


@script("An invalid LimitRange is rejected.", ["4.16"])
def limit_range_validation(c: Dialogue) -> None:
    for name, item in (
        ("type", {"type": "Node"}),
        ("no-type", {}),
        ("pod", {"type": "Pod", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "1"}}),
        ("claim", {"type": "PersistentVolumeClaim", "default": {"storage": "1Gi"}}),
        ("name", _of_containers(max={"apples": "1"})),
        ("order", _of_containers(max={"cpu": "1"}, min={"cpu": "2"}, default={"cpu": "3"})),
        ("request", _of_containers(default={"cpu": "1"}, defaultRequest={"cpu": "2"})),
        ("ratio", _of_containers(maxLimitRequestRatio={"cpu": "500m"})),
        (
            "far",
            {
                "type": "Pod",
                "max": {"cpu": "2"},
                "min": {"cpu": "1"},
                "maxLimitRequestRatio": {"cpu": "3"},
            },
        ),
        (
            "device",
            _of_containers(
                default={"example.org/gpu": "2"}, defaultRequest={"example.org/gpu": "1"}
            ),
        ),
    ):
        c.create(_limits(name, item))
    c.create(_limits("twice", {"type": "Pod"}, {"type": "Pod"}))
    c.create(_limits("good", {"type": "Pod", "max": {"cpu": "1.5"}}), show=["spec"])
    c.patch(LIMIT_RANGE, "good", {"spec": {"limits": [{"type": "Node"}]}})
    c.list(POD)


@script("The amounts of a LimitRange bound one another, and its ratios.", ["4.16"])
def bounds_of_limit_ranges(c: Dialogue) -> None:
    of_all = {"max": {"cpu": "4"}, "min": {"cpu": "1"}, "default": {"cpu": "2"}}
    for number, item in enumerate(
        (
            {**of_all, "maxLimitRequestRatio": {"cpu": "4"}},
            {**of_all, "maxLimitRequestRatio": {"cpu": "4001m"}},
            {**of_all, "maxLimitRequestRatio": {"cpu": "1"}},
            {**of_all, "maxLimitRequestRatio": {"cpu": "999m"}},
            {"max": {"cpu": "4"}, "maxLimitRequestRatio": {"cpu": "9"}},
            {"max": {"cpu": "4"}, "min": {"cpu": "0"}, "maxLimitRequestRatio": {"cpu": "9"}},
            {"max": {"cpu": "1"}, "min": {"cpu": "1"}, "default": {"cpu": "1"}},
            {"max": {"cpu": "1"}, "min": {"cpu": "2"}},
            {"max": {"cpu": "1"}, "default": {"cpu": "1001m"}},
            {"min": {"cpu": "1"}, "default": {"cpu": "999m"}},
            {"min": {"cpu": "1"}, "defaultRequest": {"cpu": "999m"}},
            {"default": {"cpu": "1"}, "defaultRequest": {"cpu": "1001m"}},
            {"max": {"hugepages-2Mi": "2Mi", "requests.cpu": "1", "a.b/c": "1"}},
            {"max": {"ephemeral-storage": "1Gi", "storage": "1Gi"}},
            {"min": {"cpu": "-1"}},
            {"max": {"_cpu": "1"}},
        )
    ):
        for type_ in ("Container", "Pod", "PersistentVolumeClaim", "example.org/odd", "Odd"):
            body = _limits(f"l-{number}", {"type": type_, **item})
            c.create(body, dry_run=True, show=["spec"])
    odd = {"type": "example.org/odd", "max": {"cpu": "1"}}
    whole = {"type": "Pod", "max": {"cpu": "2"}, "min": {"cpu": "1"}}
    ratio = {"type": "Container", "maxLimitRequestRatio": {"memory": "2"}}
    c.create(_limits("l", odd, whole, ratio), show=["spec"])
    c.settle(_SEEN_SECONDS)
    second = [container(resources={"requests": {"cpu": "600m"}, "limits": {"cpu": "1"}})]
    second[0] |= {"name": "second"}
    first = container(resources={"requests": {"cpu": "400m"}, "limits": {"cpu": "1"}})
    c.create(_asking("both", containers=[first, *second]), dry_run=True, show=_SHOW)
    c.create(_asking("one", containers=[first]), dry_run=True, show=_SHOW)
    init = {"initContainers": [container(resources={"limits": {"cpu": "3"}}) | {"name": "i"}]}
    c.create(_asking("init", {"cpu": "1"}, {"cpu": "1"}, **init), dry_run=True, show=_SHOW)
    always = {"initContainers": [init["initContainers"][0] | {"restartPolicy": "Always"}]}
    c.create(_asking("side", {"cpu": "1"}, {"cpu": "1"}, **always), dry_run=True, show=_SHOW)
    for name, request, limit in (
        ("twice", "1Mi", "2Mi"),
        ("more", "1Mi", "2049Ki"),
        ("no-request", None, "1Mi"),
        ("no-limit", "1Mi", None),
        ("zero", "0", "1Mi"),
    ):
        requests = {"cpu": "1"} | ({"memory": request} if request else {})
        limits = {"cpu": "1"} | ({"memory": limit} if limit else {})
        c.create(_asking(name, requests, limits), dry_run=True, show=_SHOW)
    c.delete(LIMIT_RANGE, "l", show=["spec.limits.0"])
