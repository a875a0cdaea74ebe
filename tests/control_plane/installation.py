"""The reference controller as a user installs it, and its container as a process of this machine.

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
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from fixtures.control_plane import Api, ControlPlane, kubeconfig, wait_until
from fixtures.control_plane.ports import LOOPBACK, free_ports
from reference_controller.appwrapper.manifests import MANIFESTS

NAMESPACE = "appwrapper-system"
SERVICE_ACCOUNT = "appwrapper-controller"
OPERATOR_USER = f"system:serviceaccount:{NAMESPACE}:{SERVICE_ACCOUNT}"
IMAGE = "registry.example.org/assay:1.0"
LIMIT_SECONDS = 60.0
START_SECONDS = 120.0
"""On a busy machine, a program takes half a minute until it responds."""

ROOT = Path(__file__).parents[2]


def documents() -> list[dict[str, Any]]:
    """The output of `assay controller manifests`, parsed."""
    return list(yaml.safe_load_all(MANIFESTS.installation(IMAGE)))


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

    def __init__(self, plane: ControlPlane, pod: Mapping[str, Any], folder: Path) -> None:
        self.pod = pod
        container = pod["spec"]["containers"][0]
        declared = [port["containerPort"] for port in container["ports"]]
        self._ports = dict(zip(declared, free_ports(len(declared)), strict=True))
        self._names = {port["name"]: port["containerPort"] for port in container["ports"]}
        api = plane.api()
        written_files(pod["spec"], folder, _stored_files(api))
        self._log = folder / "operator.log"
        account = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{pod['spec']['serviceAccount']}"
        token = api.post(f"{account}/token", {"spec": {}})["status"]["token"]
        access = kubeconfig.write(
            folder / "kubeconfig",
            kubeconfig.with_token(plane.server, plane.ca, OPERATOR_USER, token),
        )
        arguments = arguments_here(pod["spec"], folder, self._ports, NAMESPACE)
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


def _stored_files(api: Api) -> dict[tuple[str, str], dict[str, str]]:
    """The files that a kubelet would write to volumes, read from the API server."""
    path = f"/api/v1/namespaces/{NAMESPACE}"
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
