"""CRDs installed at start are known to the garbage collector from the first moment on."""

from __future__ import annotations

import pytest

from clusters.control_plane import ControlPlane, wait_until

from .namespace import LIMIT_SECONDS, Namespace

pytestmark = pytest.mark.control_plane

# A controller manager that was started before the CRD needs 30 seconds to learn of it.
COLLECTED_LIMIT_SECONDS = LIMIT_SECONDS / 2


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_dependents_of_a_custom_resource_are_collected(
    plane: ControlPlane, namespace: Namespace, policy: str
) -> None:
    widgets = f"/apis/tests.assay.dev/v1/namespaces/{namespace.name}/widgets"
    owner = namespace.api.post(
        widgets,
        {"apiVersion": "tests.assay.dev/v1", "kind": "Widget", "metadata": {"name": "owner"}},
    )
    reference = {
        "apiVersion": "tests.assay.dev/v1",
        "kind": "Widget",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": True,
    }
    namespace.api.post(
        f"{namespace.path}/configmaps",
        {"metadata": {"name": "dependent", "ownerReferences": [reference]}},
    )
    namespace.api.delete(f"{widgets}/owner", {"propagationPolicy": policy})
    wait_until(
        lambda: (
            not namespace.api.exists(f"{widgets}/owner")
            and not namespace.api.exists(f"{namespace.path}/configmaps/dependent")
        ),
        "owner and dependent are gone",
        limit_seconds=COLLECTED_LIMIT_SECONDS,
    )


def test_status_is_a_subresource_of_its_own(plane: ControlPlane, namespace: Namespace) -> None:
    widgets = f"/apis/tests.assay.dev/v1/namespaces/{namespace.name}/widgets"
    namespace.api.post(
        widgets,
        {
            "apiVersion": "tests.assay.dev/v1",
            "kind": "Widget",
            "metadata": {"name": "w"},
            "status": {"phase": "ignored"},
        },
    )
    answer = namespace.api.patch(f"{widgets}/w/status", {"status": {"phase": "kept"}})
    assert answer["status"] == {"phase": "kept"}
    assert answer["metadata"]["generation"] == 1
