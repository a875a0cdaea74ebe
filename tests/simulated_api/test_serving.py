"""The served cluster: what the official client and kubectl see of it, and what it keeps safe."""

from __future__ import annotations

import json
import shutil
import ssl
import stat
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from kubernetes import client, config, watch
from kubernetes.client.exceptions import ApiException

from clusters.simulated.serve.server import ServedCluster, serve
from tests.simulated_api.cluster import WIDGET, Cluster, config_map, job, pod, widget
from tests.simulated_api.served import TOKEN, ask
from vocabulary.kinds import CONFIG_MAP, POD
from vocabulary.requests import Create, Delete


@pytest.fixture
def kubeconfig(cluster: Cluster, tmp_path: Path) -> Iterator[Path]:
    """A kubeconfig for the cluster over TLS, its clock following the wall."""
    path = tmp_path / "kubeconfig"
    with serve(cluster, token=TOKEN) as running:
        running.write_kubeconfig(path)
        yield path


class TestOfficialClient:
    @pytest.fixture
    def api(self, kubeconfig: Path) -> client.ApiClient:
        return config.new_client_from_config(str(kubeconfig))

    def test_it_creates_reads_patches_and_deletes(self, api: client.ApiClient) -> None:
        core = client.CoreV1Api(api)
        made = core.create_namespaced_pod("default", pod())
        assert made.status.phase == "Pending"
        core.patch_namespaced_pod("p", "default", {"metadata": {"labels": {"a": "b"}}})
        listed = core.list_namespaced_pod("default", label_selector="a=b")
        assert [item.metadata.name for item in listed.items] == ["p"]
        core.delete_namespaced_pod("p", "default")
        with pytest.raises(ApiException) as refusal:
            core.read_namespaced_pod("p", "default")
        assert refusal.value.status == 404

    def test_it_binds_evicts_and_writes_a_status(
        self, cluster: Cluster, api: client.ApiClient
    ) -> None:
        core = client.CoreV1Api(api)
        core.create_namespaced_pod("default", pod())
        binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n0"}}
        core.create_namespaced_pod_binding("p", "default", binding, _preload_content=False)
        core.patch_namespaced_pod_status("p", "default", {"status": {"phase": "Running"}})
        core.create_namespaced_pod_eviction(
            "p", "default", {"metadata": {"name": "p"}}, _preload_content=False
        )
        left = core.read_namespaced_pod("p", "default")
        assert left.spec.node_name == "n0"
        assert left.metadata.deletion_grace_period_seconds == 30
        assert left.status.conditions[-1].reason == "EvictionByEvictionAPI"

    def test_it_reads_what_a_container_has_echoed(
        self, cluster: Cluster, api: client.ApiClient
    ) -> None:
        core = client.CoreV1Api(api)
        made = pod()
        (container,) = made["spec"]["containers"]
        container["command"] = ["sh", "-c", "echo no data; echo 'at all' && sleep 1; exit 3"]
        core.create_namespaced_pod("default", made)
        with pytest.raises(client.ApiException, match="is waiting to start: ContainerCreating"):
            core.read_namespaced_pod_log("p", "default")
        binding = {"metadata": {"name": "p"}, "target": {"kind": "Node", "name": "n0"}}
        core.create_namespaced_pod_binding("p", "default", binding, _preload_content=False)
        running = {
            **{"name": container["name"], "image": "busybox", "imageID": "", "ready": True},
            **{"restartCount": 0, "state": {"running": {}}},
        }
        status = {"status": {"phase": "Running", "containerStatuses": [running]}}
        core.patch_namespaced_pod_status("p", "default", status)
        assert core.read_namespaced_pod_log("p", "default") == "no data\nat all\n"
        assert core.read_namespaced_pod_log("p", "default", tail_lines=1) == "at all\n"
        with pytest.raises(client.ApiException, match="container x is not valid for pod p"):
            core.read_namespaced_pod_log("p", "default", container="x")

    def test_its_watch_hears_of_what_others_do(
        self, cluster: Cluster, api: client.ApiClient
    ) -> None:
        core = client.CoreV1Api(api)
        version = core.list_namespaced_config_map("default").metadata.resource_version
        stream = watch.Watch()
        seen: list[tuple[str, str]] = []
        begun = threading.Event()

        def listen() -> None:
            begun.set()
            for event in stream.stream(
                core.list_namespaced_config_map,
                "default",
                resource_version=version,
                timeout_seconds=10,
            ):
                seen.append((event["type"], event["object"].metadata.name))
                if event["type"] == "DELETED":
                    stream.stop()

        listener = threading.Thread(target=listen)
        listener.start()
        begun.wait()
        core.create_namespaced_config_map("default", config_map())
        core.delete_namespaced_config_map("c", "default")
        listener.join(timeout=60)
        assert not listener.is_alive()
        assert seen == [("ADDED", "c"), ("DELETED", "c")]

    def test_it_pages_through_a_list(self, cluster: Cluster, api: client.ApiClient) -> None:
        for name in "abc":
            cluster.create(config_map(name), CONFIG_MAP)
        core = client.CoreV1Api(api)
        first = core.list_namespaced_config_map("default", limit=2)
        rest = core.list_namespaced_config_map(
            "default", limit=2, _continue=first.metadata._continue
        )
        assert [len(first.items), len(rest.items)] == [2, 1]

    def test_it_handles_custom_resources(self, widgets: Cluster, api: client.ApiClient) -> None:
        custom = client.CustomObjectsApi(api)
        where = (WIDGET.group, WIDGET.version, "default", WIDGET.plural)
        made = custom.create_namespaced_custom_object(*where, widget())
        assert made["spec"]["colour"] == "red"
        with pytest.raises(ApiException) as refusal:
            custom.create_namespaced_custom_object(*where, widget("x", spec={"size": 99}))
        status = json.loads(refusal.value.body)
        assert status["details"]["causes"][0]["field"] == "spec.size"


class TestKubectl:
    @pytest.fixture
    def kubectl(self, kubeconfig: Path, tmp_path: Path) -> Callable[..., str]:
        binary = shutil.which("kubectl")
        if binary is None:
            pytest.skip("kubectl is not installed")
        known = (binary, "--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache"))

        def run(*arguments: str, text: str = "") -> str:
            done = subprocess.run(
                [*known, *arguments],
                input=text,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        return run

    def test_generators_work_which_send_protobuf(self, kubectl: Callable[..., str]) -> None:
        kubectl("create", "configmap", "c", "--from-literal=key=value")
        assert kubectl("get", "configmap", "c", "-o", "jsonpath={.data.key}") == "value"

    def test_apply_creates_then_finds_nothing_to_change(self, kubectl: Callable[..., str]) -> None:
        manifest = yaml.safe_dump(job())
        assert kubectl("apply", "-f", "-", text=manifest) == "job.batch/j created\n"
        assert kubectl("apply", "-f", "-", text=manifest) == "job.batch/j unchanged\n"

    def test_get_prints_the_table_of_the_server(
        self, cluster: Cluster, kubectl: Callable[..., str]
    ) -> None:
        cluster.create(pod(), POD)
        titles, row = kubectl("get", "pods").splitlines()
        assert titles.split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
        assert row.split()[:4] == ["p", "0/1", "Pending", "0"]

    def test_a_custom_resource_goes_by_its_short_name(
        self, widgets: Cluster, kubectl: Callable[..., str]
    ) -> None:
        assert "created" in kubectl("create", "-f", "-", text=yaml.safe_dump(widget()))
        assert kubectl("get", "wd", "-o", "jsonpath={.items[0].spec.colour}") == "red"

    def test_explain_knows_the_fields_of_a_custom_resource(
        self, widgets: Cluster, kubectl: Callable[..., str]
    ) -> None:
        assert "colour\t<string>" in kubectl("explain", "widget.spec")
        assert "<integer>" in kubectl("explain", "wd.spec.size")
        assert "spec\t<Object>" in kubectl(
            "explain", "widget", "--api-version", "test.assay.dev/v1"
        )

    @pytest.mark.parametrize(
        ("field", "shown"),
        [
            ("job.spec.completions", "FIELD: completions <integer>"),
            ("pod.spec.containers.resources.limits", "FIELD: limits <map[string]Quantity>"),
            ("pod.spec.containers", "name\t<string> -required-"),
            ("deployment.spec.template.metadata", "FIELD: metadata <ObjectMeta>"),
            ("service.spec.ports.targetPort", "FIELD: targetPort <IntOrString>"),
            ("widget.metadata.labels", "FIELD: labels <map[string]string>"),
        ],
    )
    def test_explain_knows_the_fields_of_a_kind(
        self, widgets: Cluster, kubectl: Callable[..., str], field: str, shown: str
    ) -> None:
        assert shown in kubectl("explain", field)

    def test_server_side_apply_works(self, kubectl: Callable[..., str]) -> None:
        manifest = yaml.safe_dump(config_map())
        applied = kubectl("apply", "--server-side", "-f", "-", text=manifest)
        assert applied == "configmap/c serverside-applied\n"

    def test_delete_waits_until_the_object_is_gone(
        self, cluster: Cluster, kubectl: Callable[..., str]
    ) -> None:
        cluster.create(config_map(), CONFIG_MAP)
        assert "deleted" in kubectl("delete", "configmap", "c", "--wait")
        assert cluster.get(CONFIG_MAP, "c") is None

    def test_a_refusal_reaches_the_user(self, kubeconfig: Path, tmp_path: Path) -> None:
        binary = shutil.which("kubectl")
        if binary is None:
            pytest.skip("kubectl is not installed")
        options = ("--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache"))
        broken = yaml.safe_dump(pod(containers=[{"name": "m"}]))
        done = subprocess.run(
            [binary, *options, "create", "-f", "-"],
            input=broken,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert "spec.containers[0].image: Required value" in done.stderr


def test_the_kubeconfig_is_for_its_owner_only(kubeconfig: Path) -> None:
    assert stat.S_IMODE(kubeconfig.stat().st_mode) == 0o600


def test_a_client_that_does_not_trust_the_certificate_harms_nobody(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(cluster, token=TOKEN) as served:
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(
                f"{served.url}/readyz", timeout=10, context=ssl.create_default_context()
            )
        trusting = ssl.create_default_context()
        trusting.check_hostname = False
        trusting.verify_mode = ssl.CERT_NONE
        with urllib.request.urlopen(f"{served.url}/readyz", timeout=10, context=trusting) as answer:
            assert answer.status == 200
    assert capsys.readouterr().err == ""


def test_requests_of_many_threads_are_carried_out_one_by_one(
    cluster: Cluster, served: ServedCluster
) -> None:
    path = "/api/v1/namespaces/default/configmaps"

    def create(prefix: str) -> None:
        for number in range(10):
            assert ask(served, path, "POST", config_map(f"{prefix}{number}"))[0] == 201

    threads = [threading.Thread(target=create, args=(prefix,)) for prefix in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cluster.names(CONFIG_MAP)) == 40
    versions = [change.rv for change in cluster.store.changes]
    assert versions == sorted(set(versions))


def test_what_is_served_is_in_the_history_like_everything_else(
    cluster: Cluster, served: ServedCluster
) -> None:
    ask(served, "/api/v1/namespaces/default/configmaps", "POST", config_map())
    cluster.api.handle(Delete(CONFIG_MAP, "default", "c"), "chaos")
    cluster.refused(Create(CONFIG_MAP, {"metadata": {"name": "A", "namespace": "default"}}))
    recorded = [
        (entry.actor, entry.verb, entry.code)
        for entry in cluster.recorder.entries  # type: ignore[union-attr]
    ]
    assert recorded == [("user", "create", 201), ("chaos", "delete", 200), ("user", "create", 422)]
