"""The files that components read, and small parts that need no cluster."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from cryptography import x509

from clusters.control_plane import Settings, WaitTimeoutError, crds, kwok, pki, users, wait_until
from clusters.control_plane.ports import LOOPBACK, free_ports
from clusters.control_plane.process import Process, start


def test_certificates_are_signed_by_the_authority_and_keys_are_private(tmp_path: Path) -> None:
    made = pki.create(tmp_path)
    authority = x509.load_pem_x509_certificate(made.ca.certificate.read_bytes())
    for pair in (made.serving, made.webhook):
        certificate = x509.load_pem_x509_certificate(pair.certificate.read_bytes())
        certificate.verify_directly_issued_by(authority)
        assert pair.key.stat().st_mode & 0o077 == 0


def test_every_user_has_a_token_of_its_own(tmp_path: Path) -> None:
    tokens = users.create_tokens()
    assert len(set(tokens.values())) == len(users.ALL)
    users.write_token_file(tmp_path / "tokens", tokens)
    lines = (tmp_path / "tokens").read_text().splitlines()
    assert f'{tokens["kwok"]},kwok,kwok,"system:masters"' in lines
    assert f"{tokens['operator-0']},operator-0,operator-0" in lines


def test_each_zone_gets_all_stages_and_addresses_of_its_own() -> None:
    settings = Settings(zones=("x", "y"), node_monitor_grace_seconds=33)
    options, *stages = yaml.safe_load_all(kwok.configuration(settings, "y"))
    other, *_ = yaml.safe_load_all(kwok.configuration(settings, "x"))
    assert options["options"]["cidr"] != other["options"]["cidr"]
    by_name = {stage["metadata"]["name"]: stage for stage in stages}
    assert {"pod-start", "pod-exit", "pod-terminate", "pod-delete"} <= by_name.keys()
    assert by_name["node-heartbeat"]["spec"]["delay"]["durationMilliseconds"] == 10_000


def test_only_crds_are_taken_from_a_manifest() -> None:
    text = "kind: Namespace\n---\n---\nkind: CustomResourceDefinition\nspec: {}\n"
    assert [document["kind"] for document in crds.parse([text])] == ["CustomResourceDefinition"]


def test_free_ports_are_distinct_and_free() -> None:
    with socket.socket() as taken:
        port = next(port for port in free_ports(20) if _is_bound(taken, port))
        taken.listen()
        found = free_ports(9_000)
        assert len(set(found)) == 9_000
        assert port not in found


def _is_bound(own: socket.socket, port: int) -> bool:
    """True if no other process was faster, such as one that looks for free ports, too."""
    try:
        own.bind((LOOPBACK, port))
    except OSError:
        return False
    return True


def test_a_free_port_is_not_given_out_again_before_its_server_had_time_to_bind_it() -> None:
    found = [port for _ in range(50) for port in free_ports(10)]
    assert len(set(found)) == len(found)


def test_waiting_says_what_for() -> None:
    with pytest.raises(WaitTimeoutError, match="until pigs fly"):
        wait_until(lambda: False, "pigs fly", limit_seconds=0.05)


def test_a_process_is_not_mistaken_for_another_with_the_same_id() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as stranger:
        remembered = Process(stranger.pid, start_ticks=1)
        assert not remembered.is_alive()
        assert remembered.memory_bytes() == 0
        remembered.signal(signal.SIGKILL)
        assert remembered.wait_ended(limit_seconds=1)
        assert stranger.poll() is None
        stranger.communicate(b"\n", timeout=10)
    assert stranger.returncode == 0


@pytest.mark.parametrize("outlives_parent", [True, False])
def test_a_started_process_is_paused_resumed_and_ended(
    tmp_path: Path, outlives_parent: bool
) -> None:
    log = tmp_path / "log"
    process = start(
        ["/bin/sh", "-c", "echo hello; exec sleep 60"],
        environment={"PATH": os.defpath},
        log=log,
        folder=tmp_path,
        outlives_parent=outlives_parent,
    )
    wait_until(lambda: log.read_text() == "hello\n", "it says hello", limit_seconds=10)
    assert process.is_alive()
    # The shell may be between its old and its new program just now, when it has no memory at all.
    wait_until(lambda: process.memory_bytes() > 0, "it has memory", limit_seconds=10)
    assert not process.wait_ended(limit_seconds=0.01)
    process.signal(signal.SIGSTOP)
    wait_until(process.is_paused, "it is paused", limit_seconds=10)
    process.signal(signal.SIGCONT)
    wait_until(lambda: not process.is_paused(), "it is resumed", limit_seconds=10)
    process.signal(signal.SIGKILL)
    assert process.wait_ended()
    assert not process.is_alive()
