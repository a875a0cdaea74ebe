"""Manifests that run the suite once, as a Job, with exactly the permissions that it needs.

The roles are generated from the preflight's list of permissions, so both always agree. An admission
policy (`bounds`) adds restrictions that roles cannot express.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.implementations.under_test import UnderTest
from conformance.in_cluster.bounds import policy, policy_binding
from conformance.in_cluster.suite_pod import CONTAINER, TMP, SuiteRun, container, pod_spec
from conformance.report.yaml_text import dump
from conformance.worlds.control_plane.session import installed_crds
from conformance.worlds.existing import rights
from conformance.worlds.existing.rights import Right
from vocabulary.objects import Object

NAMESPACE: Final = "assay"
ACCOUNT: Final = "assay"
USERNAME: Final = f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}"
JOB: Final = "assay"
RESULTS: Final = "/results"
_RBAC: Final = "rbac.authorization.k8s.io"
_LABELS: Final = {"app.kubernetes.io/name": "assay"}


@dataclass(frozen=True, slots=True)
class Document:
    """One object, and why it is there."""

    why: str
    content: Object


def documents(
    run: SuiteRun,
    implementations: Mapping[str, UnderTest],
    extra_crds: Iterable[Object],
    claim: str = "",
) -> list[Document]:
    """In the order in which they are applied. `claim` names the PersistentVolumeClaim, in the
    namespace, that gets the report; without one only the log of the pod keeps what was found."""
    extra = tuple(extra_crds)
    crds = installed_crds(implementations, extra)
    return [
        Document(
            "Where the suite itself lives; each of its runs has a namespace of its own.",
            _object("v1", "Namespace", NAMESPACE, {}, namespaced=False),
        ),
        Document("Whom it acts as.", _object("v1", "ServiceAccount", ACCOUNT, {})),
        Document(_BOUNDS, policy(USERNAME, run.node_selector, crds)),
        Document("Puts these bounds in force.", policy_binding()),
        *_granted("assay-suite", rights.required(implementations, extra), _SUITE),
        *_granted("assay-definitions", rights.INSTALLING, _DEFINITIONS),
        *_granted("assay-accounts", rights.ACCOUNTS, _ACCOUNTS),
        Document(_JOB, _job(run, claim)),
    ]


def as_text(found: Iterable[Document]) -> str:
    """As YAML for `kubectl apply -f -`, each object below the reason for it."""
    return "---\n".join(f"# {each.why}\n{dump(each.content)}" for each in found)


_BOUNDS: Final = (
    "What roles cannot say: writes stay within the namespaces of runs and the nodes they may "
    "break. Needs Kubernetes 1.30; without it nothing holds the account to that."
)
_SUITE: Final = "What a suite cannot do without: what runs, their users and their operators do."
_DEFINITIONS: Final = (
    "Needed only where definitions of custom resources are missing, to bring and remove them."
)
_ACCOUNTS: Final = (
    "Gives each operator under test an account with no rights but its own. Without this role "
    "operators act as the suite."
)
_JOB: Final = (
    "Completes if every claim held. Otherwise its condition names the exit code (1: a claim is "
    "violated; 3: a core claim could not be judged, as without an audit log), and the status of "
    "its pod has the last that was said."
)


def _granted(name: str, granted: Iterable[Right], why: str) -> Iterator[Document]:
    rules = rights.policy_rules(granted)
    role = _object(f"{_RBAC}/v1", "ClusterRole", name, {"rules": rules}, namespaced=False)
    yield Document(why, role)
    bound = {
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
    }
    binding = _object(f"{_RBAC}/v1", "ClusterRoleBinding", name, bound, namespaced=False)
    yield Document(f"Grants {name} to the suite's account.", binding)


def _job(run: SuiteRun, claim: str) -> Object:
    command = ("run", *run.arguments, "--out", f"{RESULTS}/report")
    kept: dict[str, Any] = (
        {"persistentVolumeClaim": {"claimName": claim}} if claim else {"emptyDir": {}}
    )
    pod = {
        **pod_spec(ACCOUNT, run.node_selector),
        "containers": [container(run.image, command, RESULTS)],
        "volumes": [{"name": "results", **kept}, {"name": TMP.strip("/"), "emptyDir": {}}],
    }
    named = {"containerName": CONTAINER, "operator": "NotIn", "values": [0]}
    spec = {
        # A suite that ended is not begun anew: it has said what it found.
        "backoffLimit": 0,
        "podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes": named}]},
        "template": {"metadata": {"labels": _LABELS}, "spec": pod},
    }
    return _object("batch/v1", "Job", JOB, {"spec": spec})


def _object(
    api_version: str, kind: str, name: str, rest: Object, *, namespaced: bool = True
) -> Object:
    metadata: dict[str, Any] = {"name": name, "labels": _LABELS}
    if namespaced:
        metadata["namespace"] = NAMESPACE
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
