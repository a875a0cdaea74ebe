"""The tools on a served cluster, where the reference controllers run the guide's workloads."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import yaml

from mlbatch_tools.appwrapper_packager import package
from mlbatch_tools.team import Quota, shared, team
from reference_controller.runtime.connection import Connection, connect
from tests.cli.command import assay
from vocabulary.clock import MINUTE
from vocabulary.kinds import kind_of
from vocabulary.objects import get_path, namespace_of
from vocabulary.requests import Create

pytest.importorskip("kubernetes", reason="install assay[cluster]")

HERE = Path(__file__).parent
LIMIT_SECONDS = 120
CONFIGURATION = """\
appwrapper:
  slackQueueName: slack-cluster-queue
"""


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cluster of three nodes with 8 GPUs each, with Kueue and AppWrapper."""
    folder = tmp_path_factory.mktemp("served")
    path = folder / "kubeconfig"
    with ExitStack() as running:

        def start(*arguments: object) -> subprocess.Popen[str]:
            command = [sys.executable, "-m", "conformance.cli", *map(str, arguments)]
            process = running.enter_context(
                subprocess.Popen(
                    command,
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                )
            )
            running.callback(process.terminate)
            return process

        served = start("serve", "--nodes", 3, "--gpus", 8, "--kubeconfig", path)
        assert served.stdout is not None
        assert served.stdout.readline().startswith("server: ")
        assert served.stdout.readline().startswith("kubeconfig: ")
        for name in ("kueue", "appwrapper"):
            start("controller", "run", name, "--kubeconfig", path)
        yield path


@pytest.fixture(scope="module")
def api(kubeconfig: Path) -> Connection:
    return connect(kubeconfig, None, user_agent="tests", timeout_us=MINUTE, pool_size=1)


def create(api: Connection, *objects: Any) -> None:
    for obj in objects:
        api.handle(Create(kind_of(obj), obj, strict=True))


@pytest.fixture(scope="module")
def teams(api: Connection) -> None:
    """The guide's two teams, and what they share."""
    create(api, *shared(slack_gpus=8))
    platform = team("platform", Quota.for_gpus(8), ("platform-edit-group",), ())
    code = team("code", Quota.for_gpus(8), (), ("alice",))
    create(api, *platform, *(each for each in code if each["kind"] != "ClusterRole"))


@pytest.fixture
def kubectl(kubeconfig: Path, tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    binary = shutil.which("kubectl")
    if binary is None:
        pytest.skip("kubectl is not installed")
    known = (binary, "--kubeconfig", str(kubeconfig), "--cache-dir", str(tmp_path / "cache"))

    def run(*arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
        command = [*known, "-n", "platform", *arguments]
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def wrapped(folder: Path, name: str, team: str, pods: int, gpus: int) -> Any:
    """An AppWrapper with a Job, as the packager makes it of a file."""
    resources = {"requests": {"cpu": 1, "nvidia.com/gpu": gpus}, "limits": {"nvidia.com/gpu": gpus}}
    spec = {
        "restartPolicy": "Never",
        "priorityClassName": "default-priority",
        # No scheduler has that name: the pods wait, and their quota is used.
        "schedulerName": "scheduler-plugins-scheduler",
        "containers": [{"name": "main", "image": "i", "resources": resources}],
    }
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": team},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": spec}},
    }
    file = folder / f"{name}.json"
    file.write_text(json.dumps(job))
    return yaml.safe_load(package([file], name, "default-queue").text)


@pytest.mark.usefixtures("teams")
def test_the_guides_table_comes_out_of_a_running_cluster(
    kubeconfig: Path,
    api: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The output of the other tools is taken, admitted and run; borrowed GPUs are counted."""
    system = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "mlbatch-system"}}
    configuration = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "appwrapper-operator-config", "namespace": "mlbatch-system"},
        "data": {"config.yaml": CONFIGURATION},
    }
    create(api, system, configuration)
    wrappers = [wrapped(tmp_path, f"tune-{each}", "platform", 1, 1) for each in range(4)]
    wrappers.append(wrapped(tmp_path, "train", "code", 2, 8))
    create(api, *wrappers)

    def quota_reserved(wrapper: Any) -> bool:
        path = kind_of(wrapper).path(namespace_of(wrapper), wrapper["metadata"]["name"])
        conditions = get_path(api.get(path), "status.conditions") or ()
        return ("ResourcesDeployed", "True") in [(c["type"], c["status"]) for c in conditions]

    deadline = time.monotonic() + LIMIT_SECONDS
    while not all(map(quota_reserved, wrappers)):
        assert time.monotonic() < deadline, "the AppWrappers' resources were not deployed"
        time.sleep(0.2)
    expected = (HERE / "expected" / "guide-cluster.txt").read_text()
    command = ("tools", "cluster-checker", "--kubeconfig", kubeconfig)
    ended = assay(monkeypatch, capsys, *command)
    while ended.out != expected and time.monotonic() < deadline:
        time.sleep(0.2)  # the queue's numbers are written after the workload's
        ended = assay(monkeypatch, capsys, *command)
    assert (ended.code, ended.out, ended.err) == (0, expected, "")


@pytest.mark.usefixtures("teams")
def test_logs_of_a_failed_app_wrappers_pod_are_read_until_it_is_deleted(
    kubectl: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """MLB-082: the pod is kept for as long as the user asks."""
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "failing"},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "main",
                    "image": "i",
                    "command": ["sh", "-c", "echo no data; exit 3"],
                    "resources": {"requests": {"cpu": 1}},
                }
            ],
        },
    }
    file = tmp_path / "failing.json"
    file.write_text(json.dumps(pod))
    wrapper = yaml.safe_load(package([file], "failing", "default-queue").text)
    settings = {
        "retryLimit": "0",
        "failureGracePeriodDuration": "1s",
        "deletionOnFailureGracePeriodDuration": "1h",
    }
    wrapper["metadata"]["annotations"] = {
        f"workload.codeflare.dev.appwrapper/{key}": value for key, value in settings.items()
    }
    assert kubectl("apply", "-f", "-", text=yaml.safe_dump(wrapper)).returncode == 0
    failed = "--for=jsonpath={.status.phase}=Failed"
    waited = kubectl("wait", "appwrapper/failing", failed, "--timeout=50s")
    assert waited.returncode == 0, waited.stderr
    assert kubectl("logs", "failing").stdout == "no data\n"
    events = kubectl("get", "events").stdout
    assert "FoundFailedPods" in events
    assert "<invalid>" not in events
    assert kubectl("delete", "appwrapper", "failing", "--timeout=50s").returncode == 0
    assert "NotFound" in kubectl("logs", "failing").stderr


@pytest.mark.usefixtures("teams")
@pytest.mark.parametrize("sample", [0, 1])
def test_the_guides_samples_reach_their_end(
    sample: int, kubectl: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    """Controllers that run beside a served cluster serve no webhook: the queue that AppWrapper's
    would name is written here. `mlbatch/lifecycle/wrapped-pod` has the webhook."""
    samples = yaml.safe_load_all((HERE / "manifests" / "guide-samples.yaml").read_text())
    wrapper = list(samples)[sample]
    wrapper["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "default-queue"}
    assert kubectl("apply", "-f", "-", text=yaml.safe_dump(wrapper)).returncode == 0
    succeeded = "--for=jsonpath={.status.phase}=Succeeded"
    waited = kubectl("wait", "appwrapper/wrapped-pod", succeeded, "--timeout=50s")
    assert waited.returncode == 0, waited.stderr
    shown = kubectl("get", "appwrappers", "wrapped-pod").stdout.splitlines()[-1].split()
    assert shown[:5] == ["wrapped-pod", "Succeeded", "False", "True", "False"]
    assert kubectl("delete", "appwrapper", "wrapped-pod", "--timeout=50s").returncode == 0


def test_a_cluster_that_does_not_answer_is_the_environments_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": "http://127.0.0.1:9"}}],
        "users": [{"name": "a", "user": {}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    ended = assay(monkeypatch, capsys, "tools", "cluster-checker", "--kubeconfig", path)
    assert (ended.code, ended.out) == (4, "")
    assert ended.err.endswith("; check the cluster, --kubeconfig and --context\n")
