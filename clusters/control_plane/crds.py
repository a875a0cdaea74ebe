"""CRDs: install them and wait until discovery has them.

Install CRDs *before* starting the controller manager: its garbage collector reads the list of
kinds at its start and then only every 30 seconds; until then a deleted owner's dependents stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from clusters.control_plane.api import Api
from clusters.control_plane.waiting import wait_until
from vocabulary.errors import ApiError

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ESTABLISH_LIMIT_SECONDS = 120.0
PARALLEL_REQUESTS = 4


def parse(texts: Iterable[str]) -> list[dict[str, Any]]:
    """Return the CRDs in YAML texts; other kinds are left out."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    documents = [document for text in texts for document in yaml.load_all(text, Loader=loader)]
    return [
        document
        for document in documents
        if document and document.get("kind") == "CustomResourceDefinition"
    ]


def install(api: Api, crds: Iterable[Mapping[str, Any]]) -> None:
    """Create (or replace) the CRDs and return when all are served."""
    wanted = list(crds)
    if not wanted:
        return
    with ThreadPoolExecutor(PARALLEL_REQUESTS) as pool:
        list(pool.map(lambda crd: _apply(api, crd), wanted))
        list(pool.map(lambda crd: _wait_served(api, crd), wanted))


def _apply(api: Api, crd: Mapping[str, Any]) -> None:
    try:
        api.post(CRDS, crd)
    except ApiError as error:
        if not error.is_already_exists:
            raise
        path = f"{CRDS}/{crd['metadata']['name']}"
        version = api.get(path)["metadata"]["resourceVersion"]
        api.put(path, {**crd, "metadata": {**crd["metadata"], "resourceVersion": version}})


def _wait_served(api: Api, crd: Mapping[str, Any]) -> None:
    spec = crd["spec"]
    versions = [version["name"] for version in spec["versions"] if version["served"]]

    def is_served() -> bool:
        return all(
            spec["names"]["plural"] in _resources(api, spec["group"], version)
            for version in versions
        )

    wait_until(
        is_served,
        f"the API server serves {crd['metadata']['name']}",
        limit_seconds=ESTABLISH_LIMIT_SECONDS,
    )


def _resources(api: Api, group: str, version: str) -> set[str]:
    try:
        listed = api.get(f"/apis/{group}/{version}")
    except ApiError as error:
        if error.is_not_found:
            return set()
        raise
    return {resource["name"] for resource in listed["resources"]}
