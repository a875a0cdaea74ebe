"""The built-in kinds: their defaults, what they refuse, what admission does to them."""

from __future__ import annotations

from typing import Any

import pytest

from fixtures.simulated.builtin.pods import qos_class
from fixtures.simulated.builtin.quantities import canonical_quantity
from tests.simulated_api.cluster import Cluster, config_map, job, pod
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    PRIORITY_CLASS,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    STATEFUL_SET,
)
from vocabulary.objects import Object, condition
from vocabulary.quantities import parse_quantity
from vocabulary.requests import Create, Get, Patch


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


class TestJobs:
    def test_a_job_is_given_defaults_a_selector_and_labels(self, cluster: Cluster) -> None:
        created = cluster.create(job(), JOB)
        spec, uid = created["spec"], created["metadata"]["uid"]
        assert (spec["parallelism"], spec["completions"], spec["backoffLimit"]) == (1, 1, 6)
        assert (spec["completionMode"], spec["suspend"]) == ("NonIndexed", False)
        assert spec["podReplacementPolicy"] == "TerminatingOrFailed"
        assert spec["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "controller-uid": uid,
            "batch.kubernetes.io/job-name": "j",
            "job-name": "j",
        }
        assert spec["template"]["metadata"]["labels"] == labels
        assert created["metadata"]["labels"] == labels

    def test_retries_per_index_lift_the_limit_of_the_whole(self, cluster: Cluster) -> None:
        spec = {"completionMode": "Indexed", "completions": 2, "backoffLimitPerIndex": 1}
        assert cluster.create(job(**spec), JOB)["spec"]["backoffLimit"] == 2**31 - 1

    def test_with_a_failure_policy_only_failed_pods_are_replaced(self, cluster: Cluster) -> None:
        rules = [{"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]
        spec = cluster.create(job(podFailurePolicy={"rules": rules}), JOB)["spec"]
        assert spec["podReplacementPolicy"] == "Failed"
        pattern = spec["podFailurePolicy"]["rules"][0]["onPodConditions"][0]
        assert pattern == {"type": "DisruptionTarget", "status": "True"}

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            ({"parallelism": -1}, "spec.parallelism: Invalid value: -1: must be greater than"),
            ({"completionMode": "Mixed"}, 'Unsupported value: "Mixed"'),
            ({"backoffLimitPerIndex": 1}, "requires indexed completion mode"),
            ({"maxFailedIndexes": 1}, "when maxFailedIndexes is specified"),
            ({"managedBy": "me"}, "must be a domain-prefixed path"),
            (
                {"podFailurePolicy": {"rules": [{"action": "Ignore"}]}},
                "specifying one of OnExitCodes and OnPodConditions is required",
            ),
            (
                {
                    "podFailurePolicy": {
                        "rules": [
                            {"action": "Ignore", "onExitCodes": {"operator": "In", "values": [0]}}
                        ]
                    }
                },
                "must not be 0 for the In operator",
            ),
            (
                {"podFailurePolicy": {"rules": []}, "podReplacementPolicy": "TerminatingOrFailed"},
                'supported values: "Failed"',
            ),
            ({"successPolicy": {"rules": []}}, "requires indexed completion mode"),
            (
                {"template": {"spec": {"containers": [{"name": "m", "image": "x"}]}}},
                'Required value: valid values: "OnFailure", "Never"',
            ),
        ],
    )
    def test_a_mistake_in_a_job_is_named(
        self, cluster: Cluster, spec: dict[str, Any], message: str
    ) -> None:
        assert message in cluster.refused(Create(JOB, job(**spec))).message

    @pytest.mark.parametrize(
        "spec",
        [
            {"completions": 2},
            {"managedBy": "other.dev/x"},
            {"podFailurePolicy": {"rules": []}},
            {"template": {"spec": {"nodeSelector": {"a": "b"}}}},
        ],
    )
    def test_what_a_job_is_made_of_cannot_change(
        self, cluster: Cluster, spec: dict[str, Any]
    ) -> None:
        cluster.create(job(), JOB)
        error = cluster.refused(Patch(JOB, "default", "j", {"spec": spec}))
        assert "field is immutable" in error.message

    def test_a_job_at_rest_can_be_sent_to_other_nodes_but_not_run_another_image(
        self, cluster: Cluster
    ) -> None:
        cluster.create(job(suspend=True), JOB)
        cluster.patch(JOB, "j", {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}})
        other = [{"name": "m", "image": "y"}]
        body = {"spec": {"template": {"spec": {"containers": other}}}}
        assert "spec.template.spec" in cluster.refused(Patch(JOB, "default", "j", body)).message

    @pytest.mark.parametrize(
        ("status", "message"),
        [
            ({"conditions": [{"type": "Failed", "status": "True"}]}, "FailureTarget"),
            ({"conditions": [{"type": "Complete", "status": "True"}]}, "SuccessCriteriaMet"),
            ({"ready": 1}, "cannot set more ready pods than active"),
            ({"failed": 1}, "cannot decrease the failed counter"),
            ({"completionTime": "2026-01-01T00:00:00Z"}, "no Complete=True condition"),
            ({"startTime": "2026-01-02T00:00:00Z"}, "immutable for unsuspended job once set"),
            ({"completedIndexes": "0"}, "when non-indexed completion mode"),
        ],
    )
    def test_a_status_that_no_controller_should_write_is_refused(
        self, cluster: Cluster, status: dict[str, Any], message: str
    ) -> None:
        cluster.create(job(), JOB)
        begun = {"startTime": "2026-01-01T00:00:00Z", "failed": 2}
        cluster.patch(JOB, "j", {"status": begun}, "status")
        request = Patch(JOB, "default", "j", {"status": status}, subresource="status")
        assert message in cluster.refused(request).message

    def test_a_job_fails_in_two_steps_and_stays_failed(self, cluster: Cluster) -> None:
        cluster.create(job(), JOB)
        target = {"type": "FailureTarget", "status": "True"}
        failed = {"type": "Failed", "status": "True"}
        begun = {"startTime": "2026-01-01T00:00:00Z", "conditions": [target]}
        cluster.patch(JOB, "j", {"status": begun}, "status")
        cluster.patch(JOB, "j", {"status": {"conditions": [target, failed]}}, "status")
        undo = Patch(JOB, "default", "j", {"status": {"conditions": []}}, subresource="status")
        assert "cannot disable the terminal Failed=True condition" in cluster.refused(undo).message


class TestTheOthers:
    labels = {"app": "x"}  # noqa: RUF012

    def workload(self, **spec: Any) -> dict[str, Any]:
        containers = [{"name": "m", "image": "x:1"}]
        template = {"metadata": {"labels": self.labels}, "spec": {"containers": containers}}
        selector = {"matchLabels": self.labels}
        return {
            "metadata": {"name": "d", "namespace": "default"},
            "spec": {"selector": selector, "template": template, **spec},
        }

    def test_a_deployment_rolls_a_quarter_at_a_time(self, cluster: Cluster) -> None:
        spec = cluster.create(self.workload(), DEPLOYMENT)["spec"]
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
        assert (spec["replicas"], spec["progressDeadlineSeconds"]) == (1, 600)

    def test_a_selector_has_to_match_the_template_and_cannot_change(self, cluster: Cluster) -> None:
        other = {"selector": {"matchLabels": {"app": "y"}}}
        error = cluster.refused(Create(DEPLOYMENT, self.workload(**other)))
        assert "`selector` does not match template `labels`" in error.message
        cluster.create(self.workload(), DEPLOYMENT)
        error = cluster.refused(Patch(DEPLOYMENT, "default", "d", {"spec": other}))
        assert "spec.selector: Invalid value" in error.message

    def test_a_deployment_is_scaled_through_its_scale(self, cluster: Cluster) -> None:
        cluster.create(self.workload(), DEPLOYMENT)
        cluster.patch(DEPLOYMENT, "d", {"spec": {"replicas": 3}}, "scale")
        scale = cluster.api.scale(Get(DEPLOYMENT, "default", "d"))
        assert scale["spec"] == {"replicas": 3}
        assert scale["status"] == {"replicas": 0, "selector": "app=x"}
        request = Patch(DEPLOYMENT, "default", "d", {"spec": {"replicas": -1}}, subresource="scale")
        assert cluster.refused(request).is_invalid

    def test_of_a_stateful_set_only_named_fields_can_change(self, cluster: Cluster) -> None:
        cluster.create(self.workload(serviceName="s"), STATEFUL_SET)
        cluster.patch(STATEFUL_SET, "d", {"spec": {"replicas": 2}})
        error = cluster.refused(Patch(STATEFUL_SET, "default", "d", {"spec": {"serviceName": "t"}}))
        assert "updates to statefulset spec for fields other than 'replicas'" in error.message

    def test_each_service_has_an_address_of_its_own_and_keeps_it(self, cluster: Cluster) -> None:
        def service(name: str, **spec: Any) -> Object:
            metadata = {"name": name, "namespace": "default"}
            return cluster.create(
                {"metadata": metadata, "spec": {"ports": [{"port": 80}], **spec}}, SERVICE
            )

        addresses = {service(name)["spec"]["clusterIP"] for name in "abc"}
        assert len(addresses) == 3
        assert service("headless", clusterIP="None")["spec"]["clusterIP"] == "None"
        body = {"spec": {"clusterIP": "10.96.9.9"}}
        error = cluster.refused(Patch(SERVICE, "default", "a", body))
        assert "may not change once set" in error.message

    def test_plain_secrets_are_encoded(self, cluster: Cluster) -> None:
        metadata = {"name": "s", "namespace": "default"}
        created = cluster.create({"metadata": metadata, "stringData": {"a": "b"}}, SECRET)
        assert (created["type"], created["data"]) == ("Opaque", {"a": "Yg=="})
        assert "stringData" not in created

    def test_immutable_data_stays_as_it_is(self, cluster: Cluster) -> None:
        cluster.create({**config_map(), "immutable": True}, CONFIG_MAP)
        error = cluster.refused(Patch(CONFIG_MAP, "default", "c", {"data": {"key": "new"}}))
        assert "field is immutable when `immutable` is set" in error.message

    def test_a_claim_is_protected_from_the_start(self, cluster: Cluster) -> None:
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        metadata = {"name": "v", "namespace": "default"}
        created = cluster.create({"metadata": metadata, "spec": spec}, PERSISTENT_VOLUME_CLAIM)
        assert created["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]

    def test_a_cordon_is_a_patch_like_any_other(self, cluster: Cluster) -> None:
        cluster.create({"metadata": {"name": "n0"}}, NODE)
        request = Patch(NODE, "", "n0", {"spec": {"unschedulable": True}}, "strategic")
        assert cluster.user(request)["spec"]["unschedulable"] is True


class TestQuota:
    def quota(self, cluster: Cluster, **hard: str) -> None:
        metadata = {"name": "q", "namespace": "default"}
        named = {name.replace("_", "/"): value for name, value in hard.items()}
        cluster.create({"metadata": metadata, "spec": {"hard": named}}, RESOURCE_QUOTA)

    def test_a_quota_of_zero_refuses_the_first_pod(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="0")
        error = cluster.refused(Create(POD, pod()))
        assert error.code == 403
        assert error.message == (
            'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, '
            "limited: pods=0"
        )

    def test_pods_that_have_stopped_do_not_count(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="1")
        cluster.create(pod("a"), POD)
        cluster.refused(Create(POD, pod("b")))
        cluster.patch(POD, "a", {"status": {"phase": "Succeeded"}}, "status")
        cluster.create(pod("b"), POD)

    def test_objects_of_any_kind_can_be_counted(self, cluster: Cluster) -> None:
        self.quota(cluster, **{"count_jobs.batch": "1"})
        cluster.create(job("a"), JOB)
        assert "requested: count/jobs.batch=1" in cluster.refused(Create(JOB, job("b"))).message

    def test_requested_resources_add_up(self, cluster: Cluster) -> None:
        self.quota(cluster, **{"requests.cpu": "1500m"})
        containers = [{"name": "m", "image": "x", "resources": {"requests": {"cpu": "1"}}}]
        cluster.create(pod("a", containers=containers), POD)
        error = cluster.refused(Create(POD, pod("b", containers=containers)))
        assert "requested: requests.cpu=1, used: requests.cpu=1" in error.message

    def test_other_namespaces_are_not_its_business(self, cluster: Cluster) -> None:
        self.quota(cluster, pods="0")
        elsewhere = pod()
        elsewhere["metadata"]["namespace"] = "kube-system"
        assert cluster.create(elsewhere, POD)["metadata"]["uid"]


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("0.5", "500m"),
        (0.5, "500m"),
        (2, "2"),
        ("1000m", "1"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("1000", "1k"),
        ("1000000", "1M"),
        ("100Ki", "100Ki"),
        ("0.1Gi", "107374182400m"),
        ("0", "0"),
        ("1e3", "1e3"),
        ("2e-3", "2e-3"),
    ],
)
def test_a_quantity_is_stored_in_its_one_canonical_form(given: str | float, stored: str) -> None:
    assert canonical_quantity(given) == stored
    assert parse_quantity(stored) == parse_quantity(str(given))


def test_what_is_finer_than_a_thousandth_is_rounded_up() -> None:
    assert canonical_quantity("1.0001") == "1001m"
    assert canonical_quantity("1n") == "1m"
