"""Discovery over HTTP: clients choose the form by `Accept`, and look at the content type."""

from __future__ import annotations

import json
import urllib.request

import pytest

from clusters.simulated.serve.server import ServedCluster
from tests.simulated_api.served import TOKEN

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OF_CLIENT_GO = f"{AGGREGATED},{AGGREGATED.replace('v=v2', 'v=v2beta1')},application/json"
OLDER = f"{AGGREGATED.replace('v=v2', 'v=v2beta1')},application/json"


@pytest.mark.parametrize(
    ("accept", "content_type", "kind"),
    [
        (OF_CLIENT_GO, AGGREGATED, "APIGroupDiscoveryList"),
        (OLDER, "application/json", "APIGroupList"),
        ("application/json", "application/json", "APIGroupList"),
    ],
)
def test_the_content_type_tells_the_form(
    served: ServedCluster, accept: str, content_type: str, kind: str
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": accept}
    request = urllib.request.Request(f"{served.url}/apis", headers=headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.headers["Content-Type"] == content_type
        assert json.load(answer)["kind"] == kind
