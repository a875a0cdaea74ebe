"""Cells of tables about objects that lack something, or have more of it than fits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.exchange import TABLE, Answer
from tests.differential.script import script
from tests.differential.scripts.every_kind import KINDS, MERGE, manifests, merged

_AGE: Final = re.compile(r"\d{1,2}s|<unknown>|<invalid>")
_DEFAULT: Final = "is-default-class"
_OLD_DEFAULT: Final = {"annotations": {f"storageclass.beta.kubernetes.io/{_DEFAULT}": "true"}}


def _addresses(count: int) -> list[dict[str, str]]:
    return [{"ip": f"10.0.0.{number}"} for number in range(1, count + 1)]


_PORT: Final = {"port": 80}
_SPECS: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    *(
        ("Endpoints", {"subsets": subsets})
        for subsets in (
            None,
            [],
            [{"addresses": _addresses(2)}],
            *([{"addresses": _addresses(count), "ports": [_PORT]}] for count in (2, 3, 4, 5)),
            [{"notReadyAddresses": _addresses(1), "ports": [_PORT]}],
            [{"addresses": _addresses(1), "ports": None}],
        )
    ),
    *(
        (kind, {"metadata": metadata})
        for kind, group in (
            ("StorageClass", "storageclass.kubernetes.io"),
            ("IngressClass", "ingressclass.kubernetes.io"),
            ("VolumeAttributesClass", "storageclass.kubernetes.io"),
        )
        for metadata in (
            {},
            {"annotations": {f"{group}/{_DEFAULT}": "true"}},
            {"annotations": {f"{group}/{_DEFAULT}": "false", "a": "true"}},
            {"annotations": {"a": "true"}},
        )
    ),
    ("StorageClass", {"metadata": _OLD_DEFAULT}),
    *(
        ("CertificateSigningRequest", {"spec": {"expirationSeconds": seconds}})
        for seconds in (600, 3600, 86400)
    ),
    *(("NetworkPolicy", {"spec": {"podSelector": each}}) for each in (None, {})),
    *(
        ("IPAddress", {"spec": {"parentRef": parent}})
        for parent in (
            {"group": "", "resource": "services", "namespace": "n", "name": "a"},
            {"group": "", "resource": "services", "namespace": None, "name": "a"},
            {"group": "a.b", "resource": "gateways", "namespace": "n", "name": "a"},
        )
    ),
    *(
        ("CSIDriver", {"spec": spec})
        for spec in (
            {"tokenRequests": []},
            {"tokenRequests": [{"audience": ""}]},
            {"tokenRequests": [{"audience": "a"}, {"audience": "b", "expirationSeconds": 600}]},
            {"volumeLifecycleModes": ["Persistent", "Ephemeral"]},
            {"attachRequired": False},
        )
    ),
    *(
        (kind, {"spec": {"paramRef": reference}})
        for kind in ("ValidatingAdmissionPolicyBinding", "MutatingAdmissionPolicyBinding")
        for reference in (
            None,
            {"name": "a", "parameterNotFoundAction": "Allow"},
            {"name": "a", "namespace": "n", "parameterNotFoundAction": "Allow"},
        )
    ),
    *(
        ("PodDisruptionBudget", {"spec": {"minAvailable": None, "maxUnavailable": each}})
        for each in (1, "10%", None)
    ),
    *(
        ("Ingress", {"spec": {"rules": [{"host": f"h{n}.a"} for n in range(count)]}})
        for count in (1, 3, 4)
    ),
)
_STATUSES: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    *(
        ("Ingress", {"loadBalancer": {"ingress": each}})
        for each in (
            None,
            [{"hostname": "a.b"}],
            [{"ip": "1.2.3.4"}, {"hostname": "a.b"}],
            [{"ip": "1.2.3.4"}, {"ip": "1.2.3.4"}],
        )
    ),
    *(
        ("FlowSchema", {"conditions": each})
        for each in (
            None,
            [{"type": "Other", "status": "True"}],
            [{"type": "Dangling", "status": "False"}],
            [{"type": "Other", "status": "True"}, {"type": "Dangling", "status": "True"}],
        )
    ),
    *(
        ("HorizontalPodAutoscaler", {"currentMetrics": each, "desiredReplicas": 1})
        for each in (
            None,
            [{"type": "Resource", "resource": {"name": "cpu", "current": {"value": "1"}}}],
            [
                {
                    "type": "Resource",
                    "resource": {"name": "cpu", "current": {"averageUtilization": 7}},
                }
            ],
        )
    ),
    *(
        ("CronJob", each)
        for each in ({"active": [{"name": "a"}, {"name": "b"}]}, {"lastScheduleTime": None})
    ),
    *(
        ("DaemonSet", each)
        for each in ({"desiredNumberScheduled": 3, "numberReady": 2}, {"numberAvailable": 1})
    ),
    *(("VolumeAttachment", {"attached": each}) for each in (True, False)),
)


def _cells(answer: Answer) -> Any:
    """The cells of the one row, or the refusal."""
    if answer.code >= 300:
        return [answer.code, answer.body.get("message")]
    (row,) = answer.body["rows"]
    # That of an IPAddress has a cell more than columns.
    cells = row["cells"][: len(answer.body["columnDefinitions"])]
    return ["<age>" if isinstance(it, str) and _AGE.fullmatch(it) else it for it in cells]


@script("A cell about what is missing, or about more than fits, is as a real server's.", ["4.16"])
def odd_cells(c: Dialogue) -> None:
    objects = {obj["kind"]: obj for obj in manifests("uncontrolled.yaml")}
    for name, change in _SPECS:
        kind, obj = KINDS[name], merged(objects[name], change)
        path = f"{kind.path(c.namespace if kind.namespaced else '')}?dryRun=All"
        answer = c.consult("POST", path, obj, accept=TABLE)
        c.note(f"{name} {change}", _cells(answer))


@script("A cell about a status is as a real server's.", ["4.16"])
def cells_of_statuses(c: Dialogue) -> None:
    objects = {obj["kind"]: obj for obj in manifests("uncontrolled.yaml")}
    for name, obj in objects.items():
        changes = [change for kind, change in _STATUSES if kind == name]
        if not changes:
            continue
        kind, obj["metadata"]["name"] = KINDS[name], c.namespace
        collection = kind.path(c.namespace if kind.namespaced else "")
        c.consult("POST", collection, obj)
        path = f"{collection}/{c.namespace}/status?dryRun=All"
        for change in changes:
            body = {"status": change}
            answer = c.consult("PATCH", path, body, content_type=MERGE, accept=TABLE)
            c.note(f"{name} {change}", _cells(answer))
        c.consult("DELETE", f"{collection}/{c.namespace}")
