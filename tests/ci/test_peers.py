"""`ci/peers`: its comparisons, with peers that were written for the test."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PEER = """\
import argparse, json, yaml
parser = argparse.ArgumentParser()
for option in "ino":
    parser.add_argument(f"-{{option}}")
given = parser.parse_args()
label = {{"kueue.x-k8s.io/queue-name": "{queue}"}}
wrapper = {{
    "apiVersion": "workload.codeflare.dev/v1beta2",
    "kind": "AppWrapper",
    "metadata": {{"name": given.n, "labels": label, "annotations": {{}}}},
    "spec": {{"components": [{{"template": yaml.safe_load(open(given.i))}}]}},
}}
json.dump(wrapper, open(given.o, "w"))
"""


@pytest.mark.parametrize(
    ("queue", "code", "told"),
    [
        ("default-queue", 0, "0 otherwise"),
        ("elsewhere", 1, "1 otherwise"),
    ],
)
def test_a_field_that_differs_is_named_and_its_value_is_not(
    queue: str, code: int, told: str, tmp_path: Path
) -> None:
    peer = tmp_path / "tools" / "appwrapper-packager" / "awpack.py"
    peer.parent.mkdir(parents=True)
    peer.write_text(PEER.format(queue=queue))
    ended = subprocess.run(
        [sys.executable, ROOT / "ci" / "peers", "tools", "--mlbatch", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (code, "")
    assert f"appwrapper-packager sample-pod.yaml: 14 fields, {14 - code} equal" in ended.stdout
    assert told in ended.stdout
    assert "pytorch-generator: NOT SHOWN: " in ended.stdout
    differs = "  differs: /metadata/labels/kueue.x-k8s.io~queue-name\n"
    assert (differs in ended.stdout) == bool(code)
    assert queue not in ended.stdout.replace(differs, "")


def test_lines_of_the_checkers_are_compared_without_their_blanks(tmp_path: Path) -> None:
    peer = tmp_path / "tools" / "cluster-checker" / "checker.js"
    peer.parent.mkdir(parents=True)
    expected = ROOT / "tests" / "tools" / "expected" / "guide-cluster-latest.txt"
    text = f"{expected.read_text()}\nWARNING: in other words\n".replace("   ", " ")
    peer.write_text(f"console.log({json.dumps(text)})")
    ended = subprocess.run(
        [sys.executable, ROOT / "ci" / "peers", "tools", "--mlbatch", tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    if shutil.which("node") is None:
        assert "cluster-checker: NOT SHOWN: node is not installed" in ended.stdout
    else:
        assert "cluster-checker guide-cluster.yaml: 12 fields, 12 equal" in ended.stdout


def test_specs_that_fail_without_a_cause_or_pass_in_spite_of_one_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "ci" / "bench"))
    peer_suites = importlib.import_module("peer_suites")
    result = peer_suites.Result(peer_suites.SUITES[0], 3, ("fails", "is known"), 1.5)
    causes = {"is known": "a cause", "is fixed": "another one"}
    assert peer_suites.told(result, causes) == 2
    told = capsys.readouterr().out
    assert "jobset-v0.12.0 test/integration/controller: 1 of 3 specs pass, 2 s" in told
    assert "has no cause for it: fails" in told
    assert "remove it from peer_failures.yaml: is fixed" in told
    kept = "| jobset-v0.12.0 | `test/integration/webhook` | 34 | 35 | 21 | 2026-11-30 |"
    both = {result.suite.name: causes, "jobset-v0.12.0 test/integration/webhook": {"w": "why"}}
    text = peer_suites.section([result], both, f"{kept}\n")
    assert "| jobset-v0.12.0 | is known | a cause |" in text
    assert "| jobset-v0.12.0 | `test/integration/controller` | 1 | 3 | 2 | " in text
    assert f"\n{kept}\n" in text, "the row of a suite that was not run"
    assert "| jobset-v0.12.0 | w | why |" in text
    aborted = result._replace(specs=0, failed=(), aborted="BeforeSuite failed")
    assert peer_suites.told(aborted, {"BeforeSuite": "a cause"}) == 0
    assert peer_suites.told(aborted, {}) == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nonesuch"], "no suite has nonesuch in its name; the suites are:"),
        (["--checkout", "jobset=/nonesuch"], "give RELEASE=DIR, with a release of jobset-v0.12.0"),
    ],
)
def test_unknown_suites_and_checkouts_are_refused(arguments: list[str], told: str) -> None:
    ended = subprocess.run(
        [sys.executable, ROOT / "ci" / "peers", "suites", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert told in ended.stdout + ended.stderr
