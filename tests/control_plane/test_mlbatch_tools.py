"""`assay tools` on a real API server: the rights of a team, and the report on its quota."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from clusters.control_plane import ControlPlane, crds
from clusters.control_plane.waiting import wait_until
from mlbatch_tools.cluster_checker.finding import Condition
from mlbatch_tools.cluster_checker.live import LiveCluster
from mlbatch_tools.cluster_checker.report import report
from mlbatch_tools.team import SLACK_QUEUE, Quota, shared, team
from reference_controller import programs
from vocabulary.kinds import kind_of

pytestmark = pytest.mark.control_plane

TEAM = "research"
MEMBER = {"user": "bob", "groups": ["system:authenticated", f"{TEAM}-edit-group"]}
STRANGER = {"user": "eve", "groups": ["system:authenticated", "other-edit-group"]}
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
ALLOWED = (
    # MLB-071
    ("workload.codeflare.dev/v1beta2", "AppWrapper"),
    ("kubeflow.org/v1", "PyTorchJob"),
    ("ray.io/v1", "RayJob"),
    ("ray.io/v1", "RayCluster"),
    # MLB-072
    ("v1", "Service"),
    ("v1", "Secret"),
    ("v1", "ConfigMap"),
    ("v1", "PersistentVolumeClaim"),
    ("scheduling.x-k8s.io/v1alpha1", "PodGroup"),
)
REFUSED = (
    # MLB-007
    ("v1", "Pod"),
    ("batch/v1", "Job"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "DaemonSet"),
    ("v1", "ReplicationController"),
    ("batch/v1", "CronJob"),
    ("jobset.x-k8s.io/v1alpha2", "JobSet"),
    # Quotas, and the right to more rights
    ("kueue.x-k8s.io/v1beta1", "LocalQueue"),
    ("kueue.x-k8s.io/v1beta1", "ClusterQueue"),
    ("kueue.x-k8s.io/v1beta1", "Workload"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("v1", "ServiceAccount"),
)


class Reviews:
    """Access reviews of a cluster that has taken the team's objects."""

    def __init__(self, plane: ControlPlane) -> None:
        self._api = plane.api()
        kueue = programs.load("kueue").manifests
        # Without a converter: all objects here are of one version.
        crds.install(self._api, kueue.objects(*kueue.crds))
        groups = (f"{TEAM}-edit-group",)
        made = [*shared(slack_gpus=8), *team(TEAM, Quota.for_gpus(8), groups, ())]
        self._paths = [self._created(each) for each in made]
        # The authorizer follows roles and bindings by watches: it knows them a little later.
        wait_until(
            lambda: self.may(MEMBER, "create", *ALLOWED[0]),
            "the team's rights hold",
            limit_seconds=30,
        )

    def _created(self, obj: dict[str, Any]) -> str:
        place = kind_of(obj).path(obj["metadata"].get("namespace", ""))
        self._api.post(f"{place}?fieldValidation=Strict", obj)
        return f"{place}/{obj['metadata']['name']}"

    def may(
        self, user: dict[str, Any], verb: str, api_version: str, kind: str, namespace: str = TEAM
    ) -> bool:
        of = kind_of({"apiVersion": api_version, "kind": kind})
        asked = {
            "verb": verb,
            "group": of.group,
            "resource": of.plural,
            "namespace": namespace,
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {**user, "resourceAttributes": asked},
        }
        return bool(self._api.post(REVIEWS, review)["status"]["allowed"])

    def delete(self) -> None:
        for path in self._paths:
            self._api.delete(path)


@pytest.fixture(scope="module")
def reviews(plane: ControlPlane) -> Iterator[Reviews]:
    found = Reviews(plane)
    yield found
    found.delete()


@pytest.mark.parametrize(("api_version", "kind"), ALLOWED)
def test_a_team_may_create(reviews: Reviews, api_version: str, kind: str) -> None:
    assert reviews.may(MEMBER, "create", api_version, kind)
    assert not reviews.may(MEMBER, "create", api_version, kind, "default")
    assert not reviews.may(STRANGER, "create", api_version, kind)


@pytest.mark.parametrize(("api_version", "kind"), REFUSED)
def test_a_team_may_not_create(reviews: Reviews, api_version: str, kind: str) -> None:
    assert not reviews.may(MEMBER, "create", api_version, kind)
    # Nor write it in another way.
    for verb in ("update", "patch"):
        assert not reviews.may(MEMBER, verb, api_version, kind)


@pytest.mark.parametrize(
    ("api_version", "kind"),
    [
        ("v1", "Pod"),
        ("batch/v1", "Job"),
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
    ],
)
def test_a_team_may_delete_what_was_wrapped(reviews: Reviews, api_version: str, kind: str) -> None:
    for verb in ("get", "list", "watch", "delete"):
        assert reviews.may(MEMBER, verb, api_version, kind)


@pytest.mark.usefixtures("reviews")
def test_the_cluster_checker_reads_a_real_api_server(plane: ControlPlane) -> None:
    """One node has 8 GPUs; a team and the slack queue are promised 8 each."""
    found = report(LiveCluster(plane.kubeconfig(), None).objects(), slack_queue=SLACK_QUEUE)
    assert [(row.name, row.quota, row.usage) for row in found.queues] == [
        (f"{TEAM}-cluster-queue", 8, 0)
    ]
    assert (found.total, found.nominal, found.slack_lendable) == (8, 8, 8)
    assert Condition.QUOTA_ABOVE_CLUSTER in [each.condition for each in found.findings]
