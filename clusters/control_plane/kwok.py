"""KWOK as the fake kubelet: its configuration, and the annotations and labels that control it.

Pod annotations and node labels set the behaviour: `clusters.behaviour` lists them. The stages
that implement it are in `stages/`, one file each. A stage's selector is one jq expression; the
expressions exclude each other, because KWOK picks at random among matching stages. (Only
`pod-idle` always matches; its weight 0 selects it if nothing else matches.)

Each zone of nodes has its own KWOK process. Stopping that process looks like losing the zone's
nodes: no heartbeats, no pod status, no end of terminations.

Not covered, because stages see one object and no clock of their own:

- All containers of a pod exit together, with one exit code.
- `run-for`, `term-for`, grace periods and the other delays restart when the pod is written
  meanwhile, or when KWOK restarts. Usually no other client writes a pod's status.
- The crash loop back-off doubles with the restart count, and is never reset.
- A failed or lost write is not retried until the pod changes or KWOK restarts (therefore
  `ControlPlane.restart` of the API server restarts it).
- Init containers succeed immediately, unless the pod is held there.
- The kubelet's final delete has no precondition: a process paused exactly before it could
  delete a new pod of the same name.
- With every node lost, or more than 55 % of a failure domain's (three or more), the node
  controller evicts nothing, as in production: keep half of the nodes healthy.
- No probes, logs, exec, volumes, networking.
"""

from __future__ import annotations

import textwrap
from functools import cache
from importlib import resources
from typing import Any

import yaml

from clusters.control_plane.settings import Settings

FINISHED_AT = "assay.dev/finished-at"
"""Annotation: the reported finishedAt. A time in the past ends the Job controller's back-off."""
ZONE = "assay.dev/kubelet"
"""Node label: the zone, that is, the KWOK process which plays the node."""

PRELUDE = """\
{{ define "condition" -}}
{{ $since := index . 0 }}{{ $type := index . 1 }}{{ $status := index . 2 }}
{type: {{ $type }}, status: "{{ $status }}",
lastTransitionTime: {{ or ( index $since ( printf "%s=%s" $type $status ) ) Now | Quote }},
reason: {{ or ( index . 3 ) "null" }}}
{{- end }}
{{ define "readiness" -}}
{{ template "condition" ( list ( index . 0 ) "Ready" ( index . 1 ) ( index . 2 ) ) }},
{{ template "condition" ( list ( index . 0 ) "ContainersReady" ( index . 1 ) ( index . 2 ) ) }}
{{- end }}
{{ $now := Now }}
{{ $annotations := or .metadata.annotations dict }}
{{ $since := dict }}
{{ range .status.conditions }}
{{ $_ := set $since ( printf "%s=%s" .type .status ) .lastTransitionTime }}
{{ end }}
"""
"""Definitions for all status templates.

`$now`, `$annotations`, and two templates for conditions, whose lastTransitionTime changes only
with the status: "condition" (list $since TYPE STATUS REASON), and "readiness"
(list $since STATUS REASON) for Ready and ContainersReady together.
"""


def component(zone: str) -> str:
    """Return the component name of a zone's process."""
    return f"kwok-{zone}"


def zone_of(component_name: str) -> str:
    """Return the zone of a component name; inverse of `component`."""
    return component_name.removeprefix("kwok-")


def configuration(settings: Settings, zone: str) -> str:
    """Return the file for `kwok --config`: options and all stages."""
    options = {
        # Pods of different zones must not share addresses.
        "cidr": f"10.{100 + settings.zones.index(zone) % 100}.0.0/16",
        # With the defaults of these three, a restarted KWOK forgets pods bound meanwhile.
        "podsOnNodeSyncParallelism": 4,
        "enablePodsOnNodeSyncStreamWatch": False,
        "enablePodsOnNodeSyncListPager": False,
        # Setting any option drops the default of 4 of all others.
        "podPlayStageParallelism": 16,
        "nodePlayStageParallelism": 4,
        "nodeLeaseParallelism": 4,
    }
    documents: list[Any] = [
        {
            "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
            "kind": "KwokConfiguration",
            "options": options,
        }
    ]
    for stage in _stages():
        spec = dict(stage["spec"])
        if stage["metadata"]["name"] == "node-heartbeat":
            spec["delay"] = {"durationMilliseconds": settings.heartbeat_milliseconds}
        if "statusTemplate" in spec["next"]:
            spec["next"] = _status_patch(spec["next"]["statusTemplate"])
        documents.append({**stage, "spec": spec})
    return yaml.safe_dump_all(documents, sort_keys=False)


def _status_patch(template: str) -> dict[str, Any]:
    """Return a status template as a patch that fails with a conflict if the object has changed.

    KWOK acts on its cache. Without this precondition, a process that was paused or restarted
    could write an old pod's status to a new one of the same name, or play a stage twice. After a
    conflict, KWOK plays the stages of the newer version once it sees it.
    """
    body = (
        PRELUDE
        + "metadata: {resourceVersion: {{ .metadata.resourceVersion | Quote }}}\n"
        + "status:\n"
        + textwrap.indent(template, "  ")
    )
    return {"patches": [{"subresource": "status", "type": "strategic", "template": body}]}


@cache
def _stages() -> tuple[dict[str, Any], ...]:
    folder = resources.files(__package__) / "stages"
    files = sorted((file for file in folder.iterdir()), key=lambda file: file.name)
    return tuple(yaml.safe_load(file.read_text()) for file in files)
