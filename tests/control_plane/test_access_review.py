"""SubjectAccessReviews of the reference against a real API server."""

from __future__ import annotations

import pytest

from clusters.control_plane import ControlPlane, crds
from reference_controller.runtime.access_review import AccessReviewer
from reference_controller.runtime.admission_review import UserInfo
from reference_controller.runtime.connection import connect
from vocabulary.clock import SECOND
from vocabulary.kinds import kind_of

from .namespace import Namespace

pytestmark = pytest.mark.control_plane

DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: data.tests.assay.dev}
spec:
  group: tests.assay.dev
  scope: Namespaced
  names: {kind: Datum, plural: data, singular: datum, listKind: DatumList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
"""
RBAC = "rbac.authorization.k8s.io"
ANN = UserInfo("ann", groups=("system:authenticated",), extra={"scopes": ("a",)})
ADMIN = UserInfo("root", groups=("system:masters",))


def test_a_user_with_rights_to_an_irregular_plural_may_create_it_and_nothing_unknown(
    plane: ControlPlane, namespace: Namespace
) -> None:
    crds.install(plane.api(), crds.parse([DEFINITION]))
    roles = f"/apis/{RBAC}/v1/namespaces/{namespace.name}"
    rules = [{"apiGroups": ["tests.assay.dev"], "resources": ["data"], "verbs": ["create"]}]
    api = plane.api()
    api.post(
        f"{roles}/roles",
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "Role",
            "metadata": {"name": "ann"},
            "rules": rules,
        },
    )
    api.post(
        f"{roles}/rolebindings",
        {
            "apiVersion": f"{RBAC}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "ann"},
            "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "ann"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": ANN.username}],
        },
    )
    may_create = AccessReviewer(
        connect(plane.kubeconfig(), None, user_agent="tests", timeout_us=30 * SECOND, pool_size=1)
    )
    datum = kind_of({"apiVersion": "tests.assay.dev/v1", "kind": "Datum"})
    unknown = kind_of({"apiVersion": "nowhere.assay.dev/v1", "kind": "Datum"})
    assert datum.plural != "data"
    assert may_create(ANN, datum, namespace.name)
    assert not may_create(ANN, datum, "default")
    assert not may_create(ANN, unknown, namespace.name)
    assert may_create(ADMIN, unknown, namespace.name)
