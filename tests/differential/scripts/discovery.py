"""Discovery: the documents from which clients learn what is served."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.differential.dialogue import Dialogue
from tests.differential.script import script

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
RESOURCES: Final = (
    (
        "",
        "v1",
        "configmaps endpoints events namespaces nodes persistentvolumeclaims persistentvolumes "
        "pods podtemplates replicationcontrollers secrets serviceaccounts services",
    ),
    ("apps", "v1", "daemonsets deployments replicasets statefulsets controllerrevisions"),
    ("batch", "v1", "cronjobs jobs"),
    ("autoscaling", "v1", "horizontalpodautoscalers"),
    ("autoscaling", "v2", "horizontalpodautoscalers"),
    ("certificates.k8s.io", "v1", "certificatesigningrequests"),
    (
        "networking.k8s.io",
        "v1",
        "ingresses ingressclasses ipaddresses networkpolicies servicecidrs",
    ),
    ("policy", "v1", "poddisruptionbudgets"),
    (
        "storage.k8s.io",
        "v1",
        "csidrivers csinodes csistoragecapacities storageclasses volumeattachments "
        "volumeattributesclasses",
    ),
    (
        "admissionregistration.k8s.io",
        "v1",
        "mutatingadmissionpolicies mutatingadmissionpolicybindings validatingadmissionpolicies "
        "validatingadmissionpolicybindings",
    ),
    (
        "resource.k8s.io",
        "v1",
        "deviceclasses resourceclaims resourceclaimtemplates resourceslices",
    ),
    ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas prioritylevelconfigurations"),
    ("node.k8s.io", "v1", "runtimeclasses"),
    ("events.k8s.io", "v1", "events"),
    ("coordination.k8s.io", "v1", "leases"),
    ("scheduling.k8s.io", "v1", "priorityclasses"),
    ("rbac.authorization.k8s.io", "v1", "roles rolebindings clusterroles clusterrolebindings"),
    ("authentication.k8s.io", "v1", "tokenreviews selfsubjectreviews"),
    (
        "authorization.k8s.io",
        "v1",
        "localsubjectaccessreviews selfsubjectaccessreviews selfsubjectrulesreviews "
        "subjectaccessreviews",
    ),
    ("apiregistration.k8s.io", "v1", "apiservices"),
    ("discovery.k8s.io", "v1", "endpointslices"),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions"),
    ("tests.assay.dev", "v1", "widgets gadgets"),
    ("workload.codeflare.dev", "v1beta2", "appwrappers"),
)
"""Of each, the subresources below."""
GROUPS: Final = tuple(dict.fromkeys(group for group, _, _ in RESOURCES if group))
SUBRESOURCES: Final = frozenset(
    {"approval", "binding", "eviction", "finalize", "scale", "status", "token"}
)
"""Those that are served here, but for logs; a real server has more."""
NOT_SERVED: Final = frozenset({"bindings", "componentstatuses"})
"""Another way to a pod's `binding`, and a deprecated view of the components."""


def _versions(document: Mapping[str, Any]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    for group in document["items"]:
        for version in group["versions"]:
            name = group["metadata"].get("name", "")
            yield name, version["version"], version.get("resources", [])


@script("Aggregated discovery shows all resources in one document, in order.", ["7.4"])
def aggregated_discovery(c: Dialogue) -> None:
    documents = {
        path: c.consult("GET", path, accept=f"{AGGREGATED},application/json").body
        for path in ("/api", "/apis")
    }
    for path, document in documents.items():
        head = {key: value for key, value in document.items() if key != "items"}
        c.note(f"{path} is", head)
    groups = [group["metadata"].get("name") for group in documents["/apis"]["items"]]
    c.note("groups", [name for name in groups if name in GROUPS])
    c.note("the core group's name", documents["/api"]["items"][0]["metadata"].get("name", ""))
    for group, version, plurals in RESOURCES:
        found = {
            resource["resource"]: resource
            for name, at, resources in _versions(documents["/apis" if group else "/api"])
            if (name, at) == (group, version)
            for resource in resources
        }
        for plural in plurals.split():
            shown = dict(found[plural])
            parts = shown.pop("subresources", [])
            c.note(f"{plural} of {group}/{version}", shown)
            known = [part for part in parts if part["subresource"] in SUBRESOURCES]
            c.note(f"subresources of {plural} of {group}/{version}", known)


@script("Every built-in resource of a stable version is served.", ["7.4"])
def every_resource(c: Dialogue) -> None:
    groups = c.consult("GET", "/apis").body["groups"]
    of_others = [*_CUSTOM, *(each["name"] for each in groups if each["name"].endswith(".dev"))]
    for group in groups:
        for version in group["versions"]:
            if group["name"] not in of_others:
                c.note(version["groupVersion"], _plurals(c, f"/apis/{version['groupVersion']}"))
    c.note("v1", _plurals(c, "/api/v1"))


_CUSTOM: Final = ("kubeflow.org", "ray.io")
"""Groups of custom resources that the simulation knows without a definition."""


def _plurals(c: Dialogue, path: str) -> list[str]:
    names = (each["name"] for each in c.consult("GET", path).body["resources"])
    return sorted(name for name in names if "/" not in name and name not in NOT_SERVED)


@script("Clients that prefer another form of discovery get that.", ["7.4"])
def forms_of_discovery(c: Dialogue) -> None:
    beta = AGGREGATED.replace("v=v2", "v=v2beta1")
    for label, accept in (
        ("plain", "application/json"),
        ("plain first", f"application/json,{AGGREGATED}"),
        ("aggregated first", f"{AGGREGATED},application/json"),
        ("an older form first", f"{beta},application/json"),
        ("an unknown version first", f"{AGGREGATED.replace('v=v2', 'v=v9')},application/json"),
        ("an unknown form first", f"{AGGREGATED.replace('Discovery', 'X')},application/json"),
        ("protobuf or aggregated", f"application/vnd.kubernetes.protobuf;as=x,{AGGREGATED}"),
    ):
        for path in ("/api", "/apis"):
            answer = c.consult("GET", path, accept=accept)
            c.note(f"{path}, {label}", [answer.code, answer.body.get("kind")])


@script("Plain discovery lists the resources of one group and version.", ["7.4"])
def plain_discovery(c: Dialogue) -> None:
    for group, version, plurals in RESOURCES:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        answer = c.consult("GET", path)
        names = set(plurals.split())
        c.note(path, {key: answer.body[key] for key in ("kind", "groupVersion")})
        # Custom resources stand in the order in which the server has met their definitions.
        for resource in sorted(answer.body["resources"], key=lambda each: str(each["name"])):
            plural, _, part = resource["name"].partition("/")
            if plural in names and (not part or part in SUBRESOURCES):
                shown = {key: resource[key] for key in resource if key != "storageVersionHash"}
                c.note(f"{resource['name']} of {path}", shown)
    groups = c.consult("GET", "/apis").body["groups"]
    names_in_order = [each["name"] for each in groups if each["name"] in GROUPS]
    c.note("groups", names_in_order)
    c.raw("GET", "/apis/tests.assay.dev")
    c.raw("GET", "/apis/authentication.k8s.io")
    c.raw("GET", "/apis/none.example.org")


@script("A new definition shows in discovery, and leaves it when it is deleted.", ["7.4"])
def discovery_of_definitions(c: Dialogue) -> None:
    group = f"{c.namespace}.assay.dev"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {
                "kind": "Thing",
                "plural": "things",
                "singular": "athing",
                "shortNames": ["th"],
                "categories": ["all", "odd"],
            },
            "versions": [
                {
                    "name": name,
                    "served": name != "v1alpha1",
                    "storage": name == "v1",
                    "schema": {"openAPIV3Schema": {"type": "object"}},
                    **({"subresources": {"status": {}}} if name == "v1" else {}),
                }
                for name in ("v1beta1", "v1", "v2", "v1alpha1")
            ],
        },
    }
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    c.raw("POST", path, definition, show=["spec.names"])

    def shown() -> list[Any]:
        document = c.consult("GET", "/apis", accept=AGGREGATED).body
        return [each for each in document["items"] if each["metadata"]["name"] == group]

    c.until_true("it is discovered", lambda: bool(shown()))
    c.note("aggregated", shown())
    c.until_true("its group is", lambda: c.consult("GET", f"/apis/{group}/v1").code == 200)
    c.raw("GET", f"/apis/{group}")
    for version in ("v1", "v1beta1"):
        for resource in c.consult("GET", f"/apis/{group}/{version}").body["resources"]:
            rest = {key: resource[key] for key in resource if key != "storageVersionHash"}
            c.note(f"{resource['name']} of {version}", rest)
    c.raw("GET", f"/apis/{group}/v1alpha1")
    c.consult("DELETE", f"{path}/things.{group}")
    c.until_true("it is gone", lambda: not shown())
