"""Six tasks of an operator's tests, tried with assay_cluster and with other fixtures for tests.

    python ci/bench/fixture_peers.py assay         with the interpreter that has the library
    python ci/bench/fixture_peers.py kmock

Peers: assay, kmock, mockernetes, openshift (the fake client of openshift-python-wrapper),
kubernetes-lite (envtest, with KUBEBUILDER_ASSETS; its own setup downloads the programs), and any
cluster of a kubeconfig: `kubeconfig FILE [COMMAND]`, where the command, if any, is timed as its
start. A line says what came of each task. The table in docs/pytest.md has been filled in by hand
from these lines.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

EXAMPLES = Path(__file__).parents[2] / "tests" / "assay_cluster"
PATIENCE_SECONDS = 30
BACKUP = yaml.safe_load((EXAMPLES / "backup.yaml").read_text())
BACKUP["metadata"]["namespace"] = "default"  # which not every peer fills in
OF_BACKUP = ("example.dev", "v1", "default", "backups")


class NotOffered(Exception):  # noqa: N818 - no error
    """The peer has nothing for a task; the message says what."""


class Peer:
    """A started fixture, as far as the tasks need it."""

    kubeconfig: str = ""
    """Where programs find it; empty: they cannot."""

    def __init__(self, api: Any) -> None:
        self.api = api

    def load(self, path: Path) -> None:
        """Create the objects of a file."""
        from kubernetes.utils import create_from_yaml

        create_from_yaml(self.api, str(path))
        time.sleep(1)  # a real API server serves a new kind a little later

    def create_custom(self, obj: Any) -> None:
        from kubernetes.client import CustomObjectsApi

        CustomObjectsApi(self.api).create_namespaced_custom_object(*OF_BACKUP, obj)

    def create_job(self, job: Any) -> None:
        from kubernetes.client import BatchV1Api

        BatchV1Api(self.api).create_namespaced_job("default", job)

    def job(self, name: str) -> Any:
        """A Job, None if there is none."""
        from kubernetes.client import ApiException, BatchV1Api

        try:
            return BatchV1Api(self.api).read_namespaced_job(name, "default")
        except ApiException as error:
            if error.status != 404:
                raise
            return None

    def advance(self, span: timedelta) -> None:
        """Let time pass."""
        if span > timedelta(seconds=PATIENCE_SECONDS):
            raise NotOffered(f"no virtual time: {span} would pass in real time")
        time.sleep(span.total_seconds())

    def run(self) -> None:
        """Start the operator."""
        if not self.kubeconfig:
            raise NotOffered("no server: only this process reaches it")
        environment = {**os.environ, "KUBECONFIG": self.kubeconfig}
        self.program = subprocess.Popen(
            [sys.executable, "backup_operator.py"], cwd=EXAMPLES, env=environment
        )
        time.sleep(3)

    def refuse(self) -> None:
        """Have the next creation of a Job refused with 503."""
        raise NotOffered("no faults")

    def writers(self) -> list[str]:
        """The creations of Jobs, refused ones included, each with its writer."""
        raise NotOffered("no history of requests with who sent them")

    def end(self) -> None:
        if hasattr(self, "program"):
            self.program.kill()


def definition_of(name: str) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "command": ["sleep", "5"]}
    pod = {"restartPolicy": "Never", "containers": [container]}
    return {
        "metadata": {"name": name},
        "spec": {"ttlSecondsAfterFinished": 7 * 24 * 3600, "template": {"spec": pod}},
    }


def checks_schema(peer: Peer) -> str:
    peer.load(EXAMPLES / "backups.yaml")
    peer.create_custom(BACKUP)
    try:
        peer.create_custom({**BACKUP, "metadata": {"name": "bad"}, "spec": {"volume": 5}})
    except Exception as error:  # noqa: BLE001 - each peer has its own
        return f"refused: {type(error).__name__} {getattr(error, 'status', '')}"
    raise NotOffered("an object against the CRD's schema is accepted")


def runs_job(peer: Peer) -> str:
    peer.create_job(definition_of("a"))
    for _ in range(PATIENCE_SECONDS // 5):
        peer.advance(timedelta(seconds=5))
        job = peer.job("a")
        done = job["status"] if isinstance(job, dict) else job.status
        if getattr(done, "succeeded", None) or (isinstance(done, dict) and done.get("succeeded")):
            return "the Job has succeeded"
    raise NotOffered("no controllers: the Job has no pods")


def week_passes(peer: Peer) -> str:
    runs_job(peer)
    peer.advance(timedelta(days=8))
    if peer.job("a") is not None:
        raise NotOffered("the Job is still there")
    return "the Job is gone"


def runs_program(peer: Peer) -> str:
    peer.load(EXAMPLES / "backups.yaml")
    peer.run()
    peer.create_custom(BACKUP)
    return _job_of_operator(peer)


def _job_of_operator(peer: Peer) -> str:
    for _ in range(PATIENCE_SECONDS):
        peer.advance(timedelta(seconds=1))
        if peer.job("nightly") is not None:
            return "the operator has created its Job"
    raise NotOffered("the operator has created nothing within 30 s")


def fault_is_survived(peer: Peer) -> str:
    peer.load(EXAMPLES / "backups.yaml")
    peer.run()
    peer.refuse()
    peer.create_custom(BACKUP)
    _job_of_operator(peer)
    return f"creations: {', '.join(peer.writers())}"


TASKS: dict[str, Callable[[Peer], str]] = {
    "CRD from a file, its schema checked": checks_schema,
    "a Job runs to its end": runs_job,
    "seven days pass": week_passes,
    "an operator in a process of its own": runs_program,
    "one write refused with 503, and who wrote": fault_is_survived,
}


# Peers.


class Assay(Peer):
    def __init__(self, cluster: Any) -> None:
        super().__init__(cluster.client)
        self.cluster = cluster
        self.kubeconfig = str(cluster.operator_kubeconfig)

    def load(self, path: Path) -> None:
        self.cluster.load(path.resolve())

    def advance(self, span: timedelta) -> None:
        self.cluster.advance(span)

    def run(self) -> None:
        self.cluster.run([sys.executable, "backup_operator.py"], cwd=EXAMPLES.resolve())

    def refuse(self) -> None:
        self.cluster.inject({"api_error": {"code": 503, "verb": "create", "kind": "Job"}})

    def writers(self) -> list[str]:
        history = self.cluster.history
        faults = [each.text for each in history.faults]
        created = history.by_kind["Job.batch"]
        return [*faults, *(f"{each} by {each.created.actor}" for each in created)]


@contextmanager
def assay() -> Iterator[Peer]:
    from conformance.as_tests import AssayCluster

    with tempfile.TemporaryDirectory() as folder:
        cluster = AssayCluster(Path(folder))
        try:
            yield Assay(cluster)
        finally:
            cluster.close()


class KMock(Peer):
    def __init__(self, api: Any, handler: Any, kubeconfig: str) -> None:
        super().__init__(api)
        self._handler = handler
        self.kubeconfig = kubeconfig

    def refuse(self) -> None:
        # The reaction is used up by the first request that it fits.
        self._handler["post /apis/batch/v1/namespaces/default/jobs"][:1] << 503

    def writers(self) -> list[str]:
        found = self._handler["post /apis/batch/v1/namespaces/default/jobs"]
        return [f"{each.method.value} by {each.headers.get('User-Agent')}" for each in found]


@contextmanager
def kmock() -> Iterator[Peer]:
    import kmock as library
    from kubernetes import client

    started: Any = threading.Event()
    found: dict[str, Any] = {}

    async def serve() -> None:
        async with library.KubernetesEmulator() as handler, library.Server(handler) as server:
            for each in ("v1/configmaps", "batch/v1/jobs", "example.dev/v1/backups"):
                handler.resources[each] = {"namespaced": True, "kind": each, "verbs": ["get"]}
            found.update(url=str(server.url), handler=handler, stop=asyncio.Event())
            found["loop"] = asyncio.get_running_loop()
            started.set()
            await found["stop"].wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    started.wait(30)
    url = found["url"].rstrip("/")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        context = {"cluster": "c", "user": "u"}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": context}],
            "current-context": "x",
        }
        yaml.safe_dump(config, file)
        file.flush()
        configuration = client.Configuration(host=url)
        yield KMock(client.ApiClient(configuration), found["handler"], file.name)
    found["loop"].call_soon_threadsafe(found["stop"].set)


class Mockernetes(Peer):
    def create_job(self, job: Any) -> None:  # noqa: ARG002 - refused
        raise NotOffered("no Jobs: its mocks are of core, apps, networking, policy, custom objects")

    def load(self, path: Path) -> None:
        """It has no definitions: any custom object is accepted."""


@contextmanager
def mockernetes() -> Iterator[Peer]:
    from kubernetes import client
    from mockernetes import mock_kubernetes

    with mock_kubernetes():
        yield Mockernetes(client.ApiClient())


class OpenShift(Peer):
    def __init__(self, api: Any) -> None:
        super().__init__(api)
        self._register("batch", "Job")

    def load(self, path: Path) -> None:
        """Kinds are registered by their names: it has no definitions."""
        crd = next(yaml.safe_load_all(path.read_text()))["spec"]
        self._register(crd["group"], crd["names"]["kind"])

    def _register(self, group: str, kind: str) -> None:
        of = {"kind": kind, "api_version": "v1", "group": group, "namespaced": True}
        self.api.register_resources(of)

    def _of(self, version: str, kind: str) -> Any:
        return self.api.resources.get(api_version=version, kind=kind)

    def create_custom(self, obj: Any) -> None:
        self._of(obj["apiVersion"], obj["kind"]).create(body=obj, namespace="default")

    def create_job(self, job: Any) -> None:
        self._of("batch/v1", "Job").create(body=job, namespace="default")

    def job(self, name: str) -> Any:
        found = self._of("batch/v1", "Job").get(name=name, namespace="default").to_dict()
        return {"status": {}, **found}


@contextmanager
def openshift() -> Iterator[Peer]:
    from fake_kubernetes_client import FakeDynamicClient

    yield OpenShift(FakeDynamicClient())


@contextmanager
def of_kubeconfig(text: str, kubeconfig: str) -> Iterator[Peer]:
    from kubernetes.config import new_client_from_config_dict

    found = Peer(new_client_from_config_dict(yaml.safe_load(text)))
    found.kubeconfig = kubeconfig
    yield found


@contextmanager
def kubernetes_lite() -> Iterator[Peer]:
    from kubernetes_lite.envtest import EnvTest

    environment = EnvTest()
    text = environment.start(auto_setup="KUBEBUILDER_ASSETS" not in os.environ).read().decode()
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file, ExitStack() as until_end:
        until_end.callback(environment.stop)
        file.write(text)
        file.flush()
        yield until_end.enter_context(of_kubeconfig(text, file.name))


@contextmanager
def kubeconfig(path: str, *command: str) -> Iterator[Peer]:
    if command:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    with of_kubeconfig(Path(path).read_text(), path) as found:
        yield found


def answers(peer: Peer) -> None:
    """The first answer, where there is a server."""
    if peer.kubeconfig:
        from kubernetes.client import CoreV1Api

        CoreV1Api(peer.api).list_namespaced_config_map("default")


def main(name: str, *arguments: str) -> None:
    peers: dict[str, Callable[..., Any]] = {
        "assay": assay,
        "kmock": kmock,
        "mockernetes": mockernetes,
        "openshift": openshift,
        "kubernetes-lite": kubernetes_lite,
        "kubeconfig": kubeconfig,
    }
    for number in range(3):  # the first one imports
        began = time.perf_counter()
        with peers[name](*arguments) as peer:
            with suppress(NotOffered):
                answers(peer)
            shown = (time.perf_counter() - began) * 1e3
        print(f"{name}: start {number + 1}: {shown:.0f} ms", flush=True)
        if name in ("kubernetes-lite", "kubeconfig"):
            break
    for task, attempt in TASKS.items():
        with peers[name](*arguments) as peer:
            try:
                came = f"yes: {attempt(peer)}"
            except NotOffered as error:
                came = f"no: {error}"
            except Exception as error:  # noqa: BLE001 - a peer that fails is a result
                text = str(error).replace("\n", " ")[:300]
                came = f"failed: {type(error).__name__}: {text}"
            finally:
                peer.end()
        print(f"{name}: {task}: {came}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
