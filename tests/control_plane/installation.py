"""A reference controller as a user installs it, and its container as a process of this machine.

Fake kubelets only say that a container runs. So the same container is started here: with the
arguments that the API server stored in its pod, the files that its volumes hold, the token of
its service account. What cannot be the same are its ports, its paths and its address.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes import config, utils

from clusters.control_plane import (
    Api,
    ControlPlane,
    FakeNode,
    Settings,
    audit,
    kubeconfig,
    nodes,
    wait_until,
)
from clusters.control_plane.crds import CRDS
from clusters.control_plane.ports import LOOPBACK, free_ports
from reference_controller import programs
from reference_controller.manifests import Manifests
from vocabulary.kinds import DEPLOYMENT, POD
from vocabulary.objects import Object, name_of

IMAGE = "registry.example.org/assay:1.0"
LIMIT_SECONDS = 60.0
START_SECONDS = 120.0
"""On a busy machine, a program takes half a minute until it responds."""

ROOT = Path(__file__).parents[2]


RBAC = "/apis/rbac.authorization.k8s.io/v1"
REGISTRATIONS = "/apis/admissionregistration.k8s.io/v1"
ENFORCES_BLOCKING_OWNERS = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
_REPLICAS = 2


@dataclass(frozen=True)
class Installation:
    """The manifests of a program, and the names in them."""

    program: str

    @property
    def namespace(self) -> str:
        return f"{self.program}-system"

    @property
    def service_account(self) -> str:
        return f"{self.program}-controller"

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{self.namespace}:{self.service_account}"

    @property
    def manifests(self) -> Manifests:
        return programs.load(self.program).manifests

    def documents(self) -> list[dict[str, Any]]:
        """The output of `assay controller manifests`, parsed."""
        return list(yaml.safe_load_all(self.manifests.installation(IMAGE)))

    @contextmanager
    def on_a_plane(self, folder: Path, crds: Iterable[Object] = ()) -> Iterator[ControlPlane]:
        """A cluster on which the manifests have been applied by a user with the official client.

        RBAC is on, and so is the admission plugin by which blocking owner references need a
        right. The audit log holds every request of the service account, reads included.
        """
        policy = folder / "policy.yaml"
        rules = [{"level": "Metadata", "users": [self.user]}]
        audit_policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": rules}
        policy.write_text(yaml.safe_dump(audit_policy))
        extra = (ENFORCES_BLOCKING_OWNERS, f"--audit-policy-file={policy}")
        plane = ControlPlane(folder / "plane", Settings(extra_arguments={"kube-apiserver": extra}))
        plane.start(crds)
        try:
            api = plane.api()
            nodes.create(api, [FakeNode("n0"), FakeNode("n1", capacity={"nvidia.com/gpu": "8"})])
            nodes.wait_ready(api, ["n0", "n1"])
            admin = config.new_client_from_config(str(plane.kubeconfig()))
            for document in self.documents():
                utils.create_from_dict(admin, document, field_validation="Strict")
            yield plane
        finally:
            plane.stop()

    def running_pod(self, plane: ControlPlane) -> dict[str, Any]:
        """A pod of the Deployment, once all of them run."""
        api = plane.api()
        deployment = DEPLOYMENT.path(self.namespace, self.service_account)
        wait_until(
            lambda: api.get(deployment)["status"].get("availableReplicas") == _REPLICAS,
            "both replicas are available",
            limit_seconds=LIMIT_SECONDS,
        )
        found: dict[str, Any] = api.get(POD.path(self.namespace))["items"][0]
        return found

    def lead_here(
        self, plane: ControlPlane, operator: InstalledOperator, is_served: Callable[[], bool]
    ) -> None:
        """Replace the Service's address, unreachable without kube-proxy, by a name.

        The API server goes on to demand a certificate for the Service's own name.
        """
        api = plane.api()
        name = f"{self.program}-webhook"
        services = f"/api/v1/namespaces/{self.namespace}/services"
        api.delete(f"{services}/{name}")
        spec = {"type": "ExternalName", "externalName": "localhost", "ports": []}
        api.post(services, {"metadata": {"name": name}, "spec": spec})
        (shipped,) = (found for found in self.documents() if found["kind"] == "Service")
        (served,) = shipped["spec"]["ports"]
        port = operator.port(served["targetPort"])
        for plural in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            (found,) = api.get(f"{REGISTRATIONS}/{plural}")["items"]
            for webhook in found["webhooks"]:
                webhook["clientConfig"]["service"]["port"] = port
            api.put(f"{REGISTRATIONS}/{plural}/{found['metadata']['name']}", found)
        for crd in self.manifests.definitions(self.manifests.converter):
            if "conversion" in crd["spec"]:
                service = {"service": {"port": port}}
                moved = {"conversion": {"webhook": {"clientConfig": service}}}
                api.patch(f"{CRDS}/{name_of(crd)}", {"spec": moved})
        wait_until(
            is_served, "the API server calls the webhooks there", limit_seconds=LIMIT_SECONDS
        )

    def rights(self, plane: ControlPlane) -> set[tuple[str, str, str]]:
        """Group, resource and verb of all that the service account's roles grant."""
        api = plane.api()
        found = set()
        for bindings in ("clusterrolebindings", "rolebindings"):
            for binding in api.get(f"{RBAC}/{bindings}")["items"]:
                names = [subject.get("name") for subject in binding.get("subjects", ())]
                if self.service_account not in names:
                    continue
                reference = binding["roleRef"]
                scope = (
                    "" if reference["kind"] == "ClusterRole" else f"/namespaces/{self.namespace}"
                )
                plural = f"{reference['kind'].lower()}s"
                for rule in api.get(f"{RBAC}{scope}/{plural}/{reference['name']}")["rules"]:
                    found |= {
                        (group, resource, verb)
                        for group in rule["apiGroups"]
                        for resource in rule["resources"]
                        for verb in rule["verbs"]
                    }
        return found


def used(plane: ControlPlane) -> set[tuple[str, str, str]]:
    """The rights that the service account has made use of: group, resource, verb."""
    return {(*_resource(event["objectRef"]), event["verb"]) for event in requests(plane)}


def requests(plane: ControlPlane) -> list[dict[str, Any]]:
    """Every request of the service account that is about objects."""
    return [event for event in audit.read(plane.audit_log)[0] if "objectRef" in event]


def refused(plane: ControlPlane) -> list[str]:
    """Its requests without permission."""
    return [
        f"{event['verb']} {event['requestURI']}"
        for event in requests(plane)
        if event.get("responseStatus", {}).get("code") == 403
    ]


def _resource(reference: dict[str, str]) -> tuple[str, str]:
    """Group and resource as roles name them."""
    below = f"/{reference['subresource']}" if "subresource" in reference else ""
    return reference.get("apiGroup", ""), reference["resource"] + below


def written_files(
    pod: Mapping[str, Any], folder: Path, contents: Mapping[tuple[str, str], Mapping[str, str]]
) -> None:
    """Writes below `folder` what the pod's first container finds at its mount paths.

    `contents` holds the files of each volume's source, by ("configMap" or "secret", its name).
    """
    sources = {
        volume["name"]: (kind, volume[kind].get("name") or volume[kind]["secretName"])
        for volume in pod["volumes"]
        for kind in ("configMap", "secret")
        if kind in volume
    }
    for mount in pod["containers"][0]["volumeMounts"]:
        target = folder / mount["mountPath"].lstrip("/")
        target.mkdir(parents=True)
        for name, text in contents[sources[mount["name"]]].items():
            (target / name).write_text(text)


def arguments_here(
    pod: Mapping[str, Any], folder: Path, ports: Mapping[int, int], namespace: str
) -> list[str]:
    """The first container's arguments with the paths, ports and addresses of this machine."""
    container = pod["containers"][0]
    paths = [mount["mountPath"] for mount in container["volumeMounts"]]
    given = []
    for argument in container["args"]:
        option, _, value = argument.partition("=")
        if any(value.startswith(path) for path in paths):
            value = f"{folder}{value}"
        elif value.isdigit():
            value = str(ports[int(value)])
        elif value == "0.0.0.0":
            value = LOOPBACK
        given.append(f"{option}={value}" if value else option)
    # In a pod it is read from the service account's files.
    return [*given, f"--lease-namespace={namespace}"]


class InstalledOperator:
    """The container of one of the Deployment's pods; use it as a context manager."""

    def __init__(
        self,
        installation: Installation,
        plane: ControlPlane,
        pod: Mapping[str, Any],
        folder: Path,
    ) -> None:
        self.pod = pod
        container = pod["spec"]["containers"][0]
        declared = [port["containerPort"] for port in container["ports"]]
        self._ports = dict(zip(declared, free_ports(len(declared)), strict=True))
        self._names = {port["name"]: port["containerPort"] for port in container["ports"]}
        api = plane.api()
        written_files(pod["spec"], folder, _stored_files(api, installation.namespace))
        self._log = folder / "operator.log"
        accounts = f"/api/v1/namespaces/{installation.namespace}/serviceaccounts"
        account = f"{accounts}/{pod['spec']['serviceAccount']}"
        token = api.post(f"{account}/token", {"spec": {}})["status"]["token"]
        access = kubeconfig.write(
            folder / "kubeconfig",
            kubeconfig.with_token(plane.server, plane.ca, installation.user, token),
        )
        arguments = arguments_here(pod["spec"], folder, self._ports, installation.namespace)
        self._argv = [*_assay(), *arguments, f"--kubeconfig={access}"]

    def __enter__(self) -> InstalledOperator:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, stderr=log
            )
        try:
            wait_until(
                self._is_ready_or_ended, "the operator is ready", limit_seconds=2 * LIMIT_SECONDS
            )
            assert self._process.poll() is None, self._log.read_text()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()  # it gives its Lease back, for whom the next test starts
        try:
            self._process.wait(LIMIT_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()

    def port(self, name_or_number: str | int) -> int:
        """The local address of a port of the container."""
        return self._ports[self._names.get(str(name_or_number), name_or_number)]  # type: ignore[index]

    def probe(self, name: str) -> int:
        """The status with which the pod's probe of that name is answered; 0: not at all."""
        get = self.pod["spec"]["containers"][0][name]["httpGet"]
        url = f"http://{LOOPBACK}:{self.port(get['port'])}{get['path']}"
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def terminate(self) -> int:
        """SIGTERM, as a kubelet sends it; returns the exit code."""
        self._process.terminate()
        return self._process.wait(self.pod["spec"]["terminationGracePeriodSeconds"])

    def _is_ready_or_ended(self) -> bool:
        return self._process.poll() is not None or self.probe("readinessProbe") == 200


def _assay() -> Sequence[str]:
    """The image's entry point, without having to be installed."""
    return (sys.executable, "-m", "conformance.cli")


def _stored_files(api: Api, namespace: str) -> dict[tuple[str, str], dict[str, str]]:
    """The files that a kubelet would write to volumes, read from the API server."""
    path = f"/api/v1/namespaces/{namespace}"
    found = {
        ("configMap", stored["metadata"]["name"]): dict(stored.get("data") or {})
        for stored in api.get(f"{path}/configmaps")["items"]
    }
    for stored in api.get(f"{path}/secrets")["items"]:
        decoded = {
            name: base64.b64decode(text).decode() for name, text in stored.get("data", {}).items()
        }
        found["secret", stored["metadata"]["name"]] = decoded
    return found
