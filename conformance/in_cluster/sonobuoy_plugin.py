"""The suite as a plugin that `sonobuoy run --plugin` starts, and whose results it collects.

Sonobuoy (0.50 and later) runs the container below beside one of its own, which waits for a file
`done` in the folder that both mount, and sends in what that names. `sonobuoy_results` is what
the container does.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.in_cluster.suite_pod import TMP, SuiteRun, container, pod_spec
from conformance.report.sonobuoy import FILE_NAME
from conformance.report.yaml_text import dump

PLUGIN_NAME: Final = "assay"
RESULTS: Final = "/tmp/sonobuoy/results"
SERVICE_ACCOUNT: Final = "sonobuoy-serviceaccount"
"""Sonobuoy's own; by default it may do everything."""
DESCRIPTION: Final = "Whether a controller of batch workloads keeps its promises while things break"
SOURCE_FORMAT: Final = "manual"
"""The container writes results in Sonobuoy's own format."""


def plugin(run: SuiteRun, service_account: str = SERVICE_ACCOUNT) -> str:
    """The definition of the plugin, as YAML; `service_account` is in Sonobuoy's namespace."""
    definition: dict[str, Any] = {
        "sonobuoy-config": {
            "driver": "Job",
            "plugin-name": PLUGIN_NAME,
            "description": DESCRIPTION,
            "result-format": SOURCE_FORMAT,
            "result-files": [FILE_NAME],
        },
        "podSpec": {**pod_spec(service_account, run.node_selector), "containers": []},
        "spec": container(run.image, ("in-cluster", "sonobuoy-run", "--", *run.arguments), RESULTS),
        # The volume `results` is Sonobuoy's.
        "extra-volumes": [{"name": TMP.strip("/"), "emptyDir": {}}],
    }
    return dump(definition)
