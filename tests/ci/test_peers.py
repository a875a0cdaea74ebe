"""`ci/peers tools`: its comparison, with a peer that was written for the test."""

from __future__ import annotations

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
