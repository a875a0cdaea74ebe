"""The objects of a running cluster, by kubeconfig; Kueue's in the newest version that is served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from mlbatch_tools.cluster_checker.cluster import KUEUE, KUEUE_VERSIONS, OPERATORS
from mlbatch_tools.problems import ToolError
from reference_controller.runtime.connection import Connection, connect
from vocabulary.clock import MINUTE
from vocabulary.errors import ApiError
from vocabulary.objects import Object, get_path

PAGE: Final = 500
"""The number of objects in one reply."""
_CORE: Final = (
    ("Node", "nodes", ""),
    ("Pod", "pods", "status.phase!=Succeeded,status.phase!=Failed"),
)
"""Kinds, their resources, and the field selectors of those that matter."""
_KUEUE: Final = (
    ("ClusterQueue", "clusterqueues"),
    ("LocalQueue", "localqueues"),
    ("Workload", "workloads"),
)
_ADVICE: Final = {
    401: "renew your credentials",
    403: "give your user the right to get and list it in all namespaces",
}


class LiveCluster:
    """A running cluster."""

    def __init__(self, kubeconfig: Path | None, context: str | None) -> None:
        """Raises OptionsError if the kubeconfig cannot be read."""
        self._connection: Connection = connect(
            kubeconfig, context, user_agent="assay-tools", timeout_us=MINUTE, pool_size=1
        )

    def objects(self) -> list[Object]:
        """Return all objects that a report needs. Raises ConnectionError, or ToolError."""
        found = list(self._configurations())
        for kind, resource, selector in _CORE:
            found += self._list(f"/api/v1/{resource}", "v1", kind, selector)
        version = self._kueue_version()
        for kind, resource in _KUEUE:
            found += self._list(f"/apis/{version}/{resource}", version, kind)
        return found

    def _configurations(self) -> Iterator[Object]:
        for namespace, name, _ in OPERATORS:
            path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
            # The report says so if none can be read.
            found = self._get(path, but_for=(403, 404))
            if found:
                yield {"apiVersion": "v1", "kind": "ConfigMap", **found}

    def _kueue_version(self) -> str:
        group = self._get(f"/apis/{KUEUE}", but_for=(404,))
        served = [each.get("version") for each in get_path(group, "versions") or ()]
        version = next((each for each in KUEUE_VERSIONS if each in served), None)
        if version is None:
            there = ", ".join(map(str, served)) or "nothing"
            raise ToolError(
                f"{self._connection.server} serves {there} of {KUEUE}; install Kueue there, in a "
                f"release with {' or '.join(KUEUE_VERSIONS)}"
            )
        return f"{KUEUE}/{version}"

    def _list(self, path: str, api_version: str, kind: str, selector: str = "") -> list[Object]:
        found: list[Object] = []
        query = {"limit": str(PAGE), **({"fieldSelector": selector} if selector else {})}
        while True:
            page = self._get(f"{path}?{urlencode(query)}")
            items = page.get("items") or ()
            found += [{"apiVersion": api_version, "kind": kind, **each} for each in items]
            if not get_path(page, "metadata.continue"):
                return found
            query["continue"] = page["metadata"]["continue"]

    def _get(self, path: str, but_for: tuple[int, ...] = ()) -> Any:
        """The JSON at a path; empty for an error with one of these codes."""
        try:
            return self._connection.get(path)
        except ApiError as error:
            if error.code in but_for:
                return {}
            advice = _ADVICE.get(error.code, "check the cluster, --kubeconfig and --context")
            raise ConnectionError(f"{self._connection.server}: {error}; {advice}") from error
