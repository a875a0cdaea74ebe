"""Jobs and the other built-in kinds: defaults and validation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import Cluster, config_map, job
from vocabulary.kinds import (
    CONFIG_MAP,
    DEPLOYMENT,
    JOB,
    NODE,
    PERSISTENT_VOLUME_CLAIM,
    SECRET,
    SERVICE,
    STATEFUL_SET,
)
from vocabulary.objects import Object
from vocabulary.requests import Create, Get, Patch


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
            (
                {
                    "template": {
                        "spec": {
                            "restartPolicy": "Perhaps",
                            "containers": [{"name": "m", "image": "x"}],
                        }
                    }
                },
                'Unsupported value: "Perhaps": supported values: "OnFailure", "Never"',
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
