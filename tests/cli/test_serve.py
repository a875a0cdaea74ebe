"""`assay serve` as a process: it requires its token, and ends cleanly on a signal."""

from __future__ import annotations

import json
import re
import signal
import ssl
import subprocess
import sys
import threading
import urllib.request
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import assay
from vocabulary.history import Write, read_history

IN_THE_BACKGROUND = 'trap "" INT; exec "$@"'
"""Start a process in the background, as a shell does: with SIGINT ignored."""


def test_the_kubeconfig_of_a_server_that_was_started_later_stays(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="install assay[cluster]")
    path = tmp_path / "kubeconfig"
    command = [sys.executable, "-m", "conformance.cli", "serve", "--kubeconfig", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("server: ")
        assert process.stdout.readline() == f"kubeconfig: {path}\n"
        path.write_text("another one's")
        process.send_signal(signal.SIGTERM)
    assert path.read_text() == "another one's"


def test_a_served_cluster_in_the_background_answers_and_sigterm_ends_it_without_a_trace(
    tmp_path: Path,
) -> None:
    pytest.importorskip("cryptography", reason="install assay[cluster]")
    path = tmp_path / "kubeconfig"
    code = "from conformance.cli import main; main()"
    serve = [sys.executable, "-c", code, "serve", "--kubeconfig", str(path), "--nodes", "3"]
    process = subprocess.Popen(
        ["sh", "-c", IN_THE_BACKGROUND, "sh", *serve],
        stdout=subprocess.PIPE,
        text=True,
    )
    give_up = threading.Timer(60, process.kill)
    give_up.start()
    try:
        assert process.stdout is not None
        server = process.stdout.readline().removeprefix("server: ").strip()
        assert process.stdout.readline() == f"kubeconfig: {path}\n"
        config = yaml.safe_load(path.read_text())
        assert path.stat().st_mode & 0o077 == 0
        authority = b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"])
        token = config["users"][0]["user"]["token"]
        request = urllib.request.Request(
            f"{server}/api/v1/nodes", headers={"Authorization": f"Bearer {token}"}
        )
        trusted = ssl.create_default_context(cadata=authority.decode())
        with urllib.request.urlopen(request, timeout=10, context=trusted) as reply:
            nodes = json.load(reply)["items"]
        assert [node["metadata"]["name"] for node in nodes] == ["n0", "n1", "n2"]
    finally:
        process.send_signal(signal.SIGTERM)
        rest, _ = process.communicate(timeout=60)
        give_up.cancel()
    assert rest == "stopped\n"
    assert process.returncode == 0
    assert not path.exists()


def test_a_mistake_in_a_simulated_controller_ends_the_server_and_names_the_object(
    tmp_path: Path,
) -> None:
    code = (
        "from clusters.simulated.controllers.nodes.node_lifecycle import NodeLifecycle\n"
        "NodeLifecycle.sync = lambda self, key: 1 // 0\n"
        "NodeLifecycle.everything = lambda self: ['planted']\n"
        "from conformance.cli import main; main()"
    )
    path = tmp_path / "kubeconfig"
    serve = [sys.executable, "-c", code, "serve", "--kubeconfig", str(path), "--plain"]
    ended = subprocess.run(serve, check=False, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 70
    assert "node-lifecycle at planted: ZeroDivisionError" in ended.stderr
    assert "a bug of Assay" in ended.stderr
    assert not path.exists()


def test_only_the_chosen_controllers_run_and_definitions_of_a_directory_are_served(
    tmp_path: Path,
) -> None:
    (tmp_path / "shims.yaml").write_text(yaml.safe_dump(SHIMS))
    (tmp_path / "kustomization.yaml").write_text("resources: [shims.yaml]\n")
    chosen = ["--controllers", "job,gc", "--crds", str(tmp_path), "--clock", "advanced"]
    path = tmp_path / "kubeconfig"
    command = [sys.executable, "-m", "conformance.cli", "serve", *chosen, "--plain"]
    with subprocess.Popen(
        [*command, "--kubeconfig", str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        server = process.stdout.readline().removeprefix("server: ").strip()
        process.stdout.readline()
        token = yaml.safe_load(path.read_text())["users"][0]["user"]["token"]

        def ask(path: str, body: object = None) -> Any:
            data = None if body is None else json.dumps(body).encode()
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            request = urllib.request.Request(server + path, data, headers)
            with urllib.request.urlopen(request, timeout=10) as reply:
                return json.load(reply)

        pod = {"containers": [{"name": "c", "image": "i"}], "restartPolicy": "Never"}
        job = {"metadata": {"name": "a"}, "spec": {"template": {"spec": pod}}}
        ask("/apis/batch/v1/namespaces/default/jobs", job)
        ask("/apis/test.dev/v1/namespaces/default/shims", {**SHIM, "metadata": {"name": "s"}})
        ask("/assay/clock", {"advance": "1m"})
        (made,) = ask("/api/v1/namespaces/default/pods")["items"]
        process.send_signal(signal.SIGTERM)
    assert made["metadata"]["ownerReferences"][0]["name"] == "a"
    assert made["status"]["phase"] == "Pending"
    assert "nodeName" not in made["spec"]


def test_objects_are_loaded_and_the_history_tells_the_operator_from_the_user(
    tmp_path: Path,
) -> None:
    (tmp_path / "shims.yaml").write_text(
        yaml.safe_dump_all([{**SHIM, "metadata": {"name": "s"}}, SHIMS])
    )
    paths = {
        option: tmp_path / option for option in ("kubeconfig", "operator-kubeconfig", "history")
    }
    files = [text for option, path in paths.items() for text in (f"--{option}", str(path))]
    command = [sys.executable, "-m", "conformance.cli", "serve", "--plain", *files]
    with subprocess.Popen(
        [*command, "--load", str(tmp_path / "shims.yaml")], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        server = process.stdout.readline().removeprefix("server: ").strip()
        process.stdout.readline()
        config = yaml.safe_load(paths["operator-kubeconfig"].read_text())
        token = config["users"][0]["user"]["token"]
        request = urllib.request.Request(
            f"{server}/apis/test.dev/v1/namespaces/default/shims/s",
            headers={"Authorization": f"Bearer {token}"},
            method="DELETE",
        )
        with urllib.request.urlopen(request, timeout=10) as reply:
            assert reply.status == 200
        process.send_signal(signal.SIGTERM)
        assert process.stdout.read() == f"stopped\nhistory: {paths['history']}\n"
    found = read_history(paths["history"])
    writes = [each for each in found.entries if isinstance(each, Write) and each.name == "s"]
    assert [(each.actor, each.verb) for each in writes] == [
        ("user", "create"),
        ("operator", "delete"),
    ]
    assert found.is_whole
    assert not paths["operator-kubeconfig"].exists()


SHIM = {"apiVersion": "test.dev/v1", "kind": "Shim"}
SHIMS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "shims.test.dev"},
    "spec": {
        "group": "test.dev",
        "scope": "Namespaced",
        "names": {"plural": "shims", "kind": "Shim"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def test_unknown_controllers_and_malformed_addresses_are_refused_with_what_to_write(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*arguments: str) -> str:
        ended = assay(monkeypatch, capsys, "serve", *arguments)
        assert (ended.code, ended.out) == (2, "")
        return ended.err

    told = refused("--controllers", "job, gargabe-collector")
    assert "scheduler, job, " in told
    assert "garbage-collector?" in told
    assert "exclude each other" in refused("--controllers", "job", "--no-controllers")
    address = "hooks/hook=127.0.0.1:9443"
    assert "is given twice" in refused("--service", address, "--service", address)
    for text in ("hook=127.0.0.1:9443", "hooks/hook=9443", "hooks/hook=127.0.0.1:70000"):
        assert "NAMESPACE/NAME=HOST:PORT, for instance" in refused("--service", text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no .json, .yaml, .yml file there has a CustomResourceDefinition"),
        (yaml.safe_dump({**SHIMS, "apiVersion": "apiextensions.k8s.io/v1beta1"}), "convert it to"),
        (yaml.safe_dump({**SHIMS, "spec": {"group": 5}}), "a.yaml:6:10: spec.group: expected"),
        (f"---\n{json.dumps({**SHIMS, 'spec': []})}\n---\na: b\n", "document 1: spec: expected"),
        (f"{json.dumps(SHIMS)}\n---\n{json.dumps(SHIMS)}\n", "in .*document 1, too; remove one"),
        (yaml.safe_dump({**SHIMS, "metadata": {"name": "shim"}}), "metadata.name: Invalid value"),
        ("a: [", "a.yaml:"),
    ],
)
def test_definitions_that_cannot_be_served_are_refused_with_their_place(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    text: str,
    told: str,
) -> None:
    (tmp_path / "a.yaml").write_text(text)
    ended = assay(monkeypatch, capsys, "serve", "--crds", tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert re.search(told, ended.err), ended.err
    ended = assay(monkeypatch, capsys, "serve", "--crds", tmp_path / "a.yaml")
    assert "is not a directory" in ended.err
