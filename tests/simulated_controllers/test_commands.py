"""Commands that the simulated kubelet understands, and others."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.commands import UnknownCommandError, behaviour_of

FOREVER: dict[str, str] = {}
COURSES: list[tuple[list[str], dict[str, str]]] = [
    (["sleep", "100s"], {"run-for": "100s", "exit": "0"}),
    (["/usr/bin/sleep", "1.5m"], {"run-for": "90s", "exit": "0"}),
    (["sleep", "infinity"], FOREVER),
    (["true"], {"run-for": "0s", "exit": "0"}),
    (["/bin/false"], {"run-for": "0s", "exit": "1"}),
    (["sh", "-c", "sleep 15; exit 1"], {"run-for": "15s", "exit": "1"}),
    (["/bin/sh", "-c", "echo 'a; b' && sleep 10"], {"run-for": "10s", "exit": "0"}),
    (["bash", "-xc", "sleep 1000\n"], {"run-for": "1000s", "exit": "0"}),
    (
        ["bash", "-c", 'echo "I am $HOME"\n\nsleep 1\nexit 3\nsleep 9'],
        {"run-for": "1s", "exit": "3"},
    ),
    (["sh", "-c", "false && sleep 5"], {"run-for": "0s", "exit": "1"}),
    (["sh", "-c", "false || exit 3"], {"run-for": "0s", "exit": "3"}),
    (["sh", "-c", "true || exit 3; sleep 2"], {"run-for": "2s", "exit": "0"}),
    (["sh", "-c", "sleep 2 &&\n exit 4"], {"run-for": "2s", "exit": "4"}),
    (["sh", "-c", "false; exit"], {"run-for": "0s", "exit": "1"}),
    (["sh", "-c", "false; sleep 5"], {"run-for": "5s", "exit": "0"}),
    (["sh", "-ec", "false; sleep 5"], {"run-for": "0s", "exit": "1"}),
    (["sh", "-ec", "false || true; sleep 5"], {"run-for": "5s", "exit": "0"}),
    (["sh", "-c", ""], {"run-for": "0s", "exit": "0"}),
    (["sh", "-c", "sleep 3; sleep infinity; exit 1"], FOREVER),
]
UNKNOWN = [
    [],
    ["python3", "train.py"],
    ["sleep", "10; exit 1"],
    ["sleep 10; exit 1"],
    ["sleep"],
    ["sleep", "$(SECONDS)"],
    ["exit", "1"],
    ["bash"],
    ["sh", "script.sh"],
    ["sh", "-c", "sleep 1", "$0"],
    ["sh", "-c", "sleep 5 & exit 1"],
    ["sh", "-c", "echo a > /tmp/file"],
    ["sh", "-c", "echo 'a"],
    ["sh", "-c", "sleep $N"],
    ["sh", "-c", "exit 256"],
    ["sh", "-c", "(sleep 5)"],
    ["sh", "-c", "for i in 1 2; do sleep 1; done"],
    ["sh", "-c", "if true; then exit 1; fi"],
]


def container(command: list[str], **more: Any) -> dict[str, Any]:
    return {"name": "main", "command": command[:1], "args": command[1:], **more}


def of(*commands: list[str], **more: Any) -> dict[str, str]:
    found = behaviour_of({"containers": [*map(container, commands)], **more})
    return {key.removeprefix("assay.dev/"): value for key, value in found.items()}


@pytest.mark.parametrize(("command", "behaviour"), COURSES, ids=" ".join)
def test_a_plain_command_is_understood(command: list[str], behaviour: dict[str, str]) -> None:
    assert of(command) == behaviour


@pytest.mark.parametrize("command", UNKNOWN, ids=" ".join)
def test_anything_else_is_not(command: list[str]) -> None:
    with pytest.raises(UnknownCommandError, match="the command of container 'main'"):
        of(command)


def test_a_pod_runs_as_long_as_its_slowest_container() -> None:
    assert of(["sleep", "5"], ["sleep", "10"]) == {"run-for": "10s", "exit": "0"}
    assert of(["sleep", "5"], ["sleep", "infinity"]) == FOREVER
    with pytest.raises(UnknownCommandError):
        of(["sleep", "5"], ["false"])


def test_init_containers_keep_it_pending_one_after_the_other() -> None:
    first, second = container(["sleep", "10"]), container(["sleep", "5"])
    sidecar = container(["python3"], restartPolicy="Always")
    waiting = {"ready-after": "15s", "run-for": "1s", "exit": "0"}
    assert of(["sleep", "1"], initContainers=[first, sidecar, second]) == waiting
    with pytest.raises(UnknownCommandError):
        of(["sleep", "1"], initContainers=[container(["false"])])
