"""Pods: defaults, validation, and admission."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.builtin.pods import qos_class
from tests.simulated_api.cluster import Cluster, job, pod
from vocabulary.kinds import (
    JOB,
    POD,
    PRIORITY_CLASS,
)
from vocabulary.objects import condition
from vocabulary.requests import Create, Patch


class TestPods:
    def test_a_pod_is_given_all_that_its_kubelet_relies_on(self, cluster: Cluster) -> None:
        created = cluster.create(pod(), POD)
        spec, status = created["spec"], created["status"]
        assert spec["restartPolicy"] == "Always"
        assert spec["terminationGracePeriodSeconds"] == 30
        assert spec["dnsPolicy"] == "ClusterFirst"
        assert spec["schedulerName"] == "default-scheduler"
        assert spec["enableServiceLinks"] is True
        assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
        assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"
        assert status == {"phase": "Pending", "qosClass": "BestEffort"}

    def test_a_lost_node_is_tolerated_for_five_minutes_unless_the_pod_says_otherwise(
        self, cluster: Cluster
    ) -> None:
        own = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"}
        created = cluster.create(pod(tolerations=[own]), POD)
        first, second = created["spec"]["tolerations"]
        assert first == own
        assert second["key"] == "node.kubernetes.io/unreachable"
        assert second["tolerationSeconds"] == 300

    def test_what_is_limited_is_requested_in_pods_but_not_in_templates(
        self, cluster: Cluster
    ) -> None:
        limits = {"limits": {"cpu": 0.5, "nvidia.com/gpu": 1}}
        containers = [{"name": "m", "image": "x", "resources": limits}]
        made = cluster.create(pod(containers=containers), POD)
        resources = made["spec"]["containers"][0]["resources"]
        assert resources["requests"] == {"cpu": "500m", "nvidia.com/gpu": "1"}
        template = {"spec": {"restartPolicy": "Never", "containers": containers}}
        kept = cluster.create(job(template=template), JOB)
        resources = kept["spec"]["template"]["spec"]["containers"][0]["resources"]
        assert "requests" not in resources

    @pytest.mark.parametrize(
        ("resources", "quality"),
        [
            ({}, "BestEffort"),
            ({"requests": {"cpu": "1"}}, "Burstable"),
            ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
            (
                {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}},
                "Burstable",
            ),
            ({"limits": {"nvidia.com/gpu": "1"}}, "BestEffort"),
        ],
    )
    def test_the_quality_of_service_follows_requests_and_limits(
        self, resources: dict[str, Any], quality: str
    ) -> None:
        assert qos_class({"containers": [{"name": "m", "resources": resources}]}) == quality

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"containers": []}, "spec.containers: Required value"),
            ({"containers": [{"name": "m"}]}, "spec.containers[0].image: Required value"),
            (
                {"containers": [{"name": "M", "image": "x"}]},
                "a lowercase RFC 1123 label must consist",
            ),
            (
                {"containers": [{"name": "m", "image": "x"}] * 2},
                'spec.containers[1].name: Duplicate value: "m"',
            ),
            (
                {
                    "containers": [
                        {
                            "name": "m",
                            "image": "x",
                            "volumeMounts": [{"name": "v", "mountPath": "/v"}],
                        }
                    ]
                },
                'spec.containers[0].volumeMounts[0].name: Not found: "v"',
            ),
            (
                {
                    "containers": [
                        {
                            "name": "m",
                            "image": "x",
                            "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}},
                        }
                    ]
                },
                'Invalid value: "2": must be less than or equal to cpu limit of 1',
            ),
            ({"restartPolicy": "Perhaps"}, 'Unsupported value: "Perhaps": supported values'),
            ({"activeDeadlineSeconds": 0}, "must be between 1 and 2147483647, inclusive"),
            (
                {"tolerations": [{"key": "k", "operator": "Exists", "tolerationSeconds": 1}]},
                "effect must be 'NoExecute' when `tolerationSeconds` is set",
            ),
            (
                {
                    "affinity": {
                        "nodeAffinity": {
                            "preferredDuringSchedulingIgnoredDuringExecution": [
                                {
                                    "weight": 1,
                                    "preference": {
                                        "matchExpressions": [{"key": "a", "operator": "Like"}]
                                    },
                                }
                            ]
                        }
                    }
                },
                '[0].preference.matchExpressions[0].operator: Invalid value: "Like"',
            ),
            ({"priorityClassName": "gold"}, "no PriorityClass with name gold was found"),
        ],
    )
    def test_a_mistake_in_a_pod_is_named(
        self, cluster: Cluster, spec: dict[str, Any], message: str
    ) -> None:
        assert message in cluster.refused(Create(POD, pod(**spec))).message

    def test_of_a_running_pod_little_more_than_its_image_can_change(self, cluster: Cluster) -> None:
        cluster.create(pod(), POD)
        image = {"spec": {"containers": [{"name": "main", "image": "y:2"}]}}
        changed = cluster.patch(POD, "p", image, patch_type="strategic")
        assert changed["metadata"]["generation"] == 2
        error = cluster.refused(Patch(POD, "default", "p", {"spec": {"nodeName": "n"}}))
        assert "pod updates may not change fields other than" in error.message

    def test_a_priority_class_gives_its_value(self, cluster: Cluster) -> None:
        for name, value, default in (("low", 5, True), ("high", 100, False)):
            class_ = {"metadata": {"name": name}, "value": value, "globalDefault": default}
            cluster.create(class_, PRIORITY_CLASS)
        high = cluster.create(pod("a", priorityClassName="high"), POD)
        assert high["spec"]["priority"] == 100
        by_default = cluster.create(pod("b"), POD)["spec"]
        assert (by_default["priority"], by_default["priorityClassName"]) == (5, "low")

    def bind(self, name: str, node: str, **metadata: Any) -> Create:
        binding = {"metadata": {"name": name, **metadata}, "target": {"name": node}}
        return Create(POD, binding, "default", name, "binding")

    def test_a_binding_places_a_pod_once(self, cluster: Cluster) -> None:
        cluster.create(pod(), POD)
        answer = cluster.user(self.bind("p", "n0", annotations={"a": "b"}))
        assert (answer["kind"], answer["status"]) == ("Status", "Success")
        bound = cluster.get(POD, "p")
        assert bound is not None
        assert bound["spec"]["nodeName"] == "n0"
        assert bound["metadata"]["annotations"] == {"a": "b"}
        assert bound["metadata"]["generation"] == 1
        scheduled = condition(bound, "PodScheduled")
        assert scheduled is not None
        assert scheduled["status"] == "True"
        error = cluster.refused(self.bind("p", "n1"))
        assert error.is_conflict
        assert 'pods/binding "p": pod p is already assigned to node "n0"' in error.message

    def test_a_gated_pod_says_so_and_cannot_be_bound(self, cluster: Cluster) -> None:
        created = cluster.create(pod(schedulingGates=[{"name": "x/y"}]), POD)
        gated = condition(created, "PodScheduled")
        assert gated is not None
        assert gated["reason"] == "SchedulingGated"
        assert "non-empty .spec.schedulingGates" in cluster.refused(self.bind("p", "n0")).message

    def test_where_a_gated_pod_may_run_can_be_narrowed(self, cluster: Cluster) -> None:
        cluster.create(pod(schedulingGates=[{"name": "x/y"}], nodeSelector={"a": "b"}), POD)
        narrowed = cluster.patch(POD, "p", {"spec": {"nodeSelector": {"c": "d"}}})
        assert narrowed["spec"]["nodeSelector"] == {"a": "b", "c": "d"}
        for change in ({"a": None}, {"a": "x"}):
            error = cluster.refused(Patch(POD, "default", "p", {"spec": {"nodeSelector": change}}))
            assert "only additions to spec.nodeSelector are allowed" in error.message
        cluster.patch(POD, "p", {"spec": {"schedulingGates": None}})
        late = Patch(POD, "default", "p", {"spec": {"nodeSelector": {"e": "f"}}})
        assert "pod updates may not change fields" in cluster.refused(late).message

    def test_a_terminating_pod_cannot_be_bound(self, cluster: Cluster) -> None:
        obj = pod()
        obj["metadata"]["finalizers"] = ["x.y/hold"]
        cluster.create(obj, POD)
        cluster.delete(POD, "p")
        assert "is being deleted" in cluster.refused(self.bind("p", "n0")).message

    def test_an_eviction_says_that_it_is_one_and_deletes_gracefully(self, cluster: Cluster) -> None:
        cluster.create(pod(nodeName="n0"), POD)
        since = cluster.store.revision
        eviction = {"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 7}}
        cluster.user(Create(POD, eviction, "default", "p", "eviction"))
        assert cluster.events(since) == [("MODIFIED", "p"), ("MODIFIED", "p")]
        evicted = cluster.get(POD, "p")
        assert evicted is not None
        disrupted = condition(evicted, "DisruptionTarget")
        assert disrupted is not None
        assert disrupted["reason"] == "EvictionByEvictionAPI"
        assert evicted["metadata"]["deletionGracePeriodSeconds"] == 7

    def test_an_eviction_of_another_pod_leaves_no_trace(self, cluster: Cluster) -> None:
        before = cluster.create(pod(nodeName="n0"), POD)
        eviction = {
            "metadata": {"name": "p"},
            "deleteOptions": {"preconditions": {"uid": "other"}},
        }
        assert cluster.refused(Create(POD, eviction, "default", "p", "eviction")).is_conflict
        assert cluster.get(POD, "p") == before
