"""`assay serve` as a process: it requires its token, and ends cleanly on a signal."""

from __future__ import annotations

import json
import signal
import ssl
import subprocess
import sys
import threading
import urllib.request
from base64 import b64decode
from pathlib import Path

import pytest
import yaml

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
        "from fixtures.simulated.controllers.nodes.node_lifecycle import NodeLifecycle\n"
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
