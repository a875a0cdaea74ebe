"""The Indexed Job of a campaign: an API server takes it, and its pods make the report of one run,
also if one of them is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from clusters.simulated.cluster import SimulatedCluster
from conformance.cli.exit_code import ExitCode
from conformance.in_cluster.campaign import REPORTS
from tests.cli.conftest import Assay
from tests.cli.test_shards import SOME_RUNS, report_of, runs_of, stored_in
from vocabulary.clock import MINUTE
from vocabulary.kinds import JOB, POD
from vocabulary.objects import annotations_of
from vocabulary.requests import Create, List, ObjectList

CAMPAIGN = ("slow-pods-hold-their-quota", "--random-plans", "120", "--jobs", "1")
SHARDS = 2
INDEX = "JOB_COMPLETION_INDEX"
INDEX_ANNOTATION = "batch.kubernetes.io/job-completion-index"
DEADLINE_SECONDS = 300


@pytest.fixture
def job(assay: Assay) -> dict[str, Any]:
    asked = ("campaign", "manifests", "--shards", SHARDS, "--claim", "reports", "--", *CAMPAIGN)
    printed = assay(*asked)
    assert printed.code == 0, printed.err
    found: dict[str, Any] = yaml.safe_load(printed.out)
    return found


def test_an_api_server_takes_it_and_each_index_has_a_pod(job: dict[str, Any]) -> None:
    cluster = SimulatedCluster(seed=1)
    cluster.api.handle(Create(JOB, job, "default", job["metadata"]["name"], strict=True), "user")
    cluster.loop.run_until(lambda: False, cluster.loop.now_us + MINUTE)
    found = cluster.api.handle(List(POD, "default", live=True), "user")
    assert isinstance(found, ObjectList)
    indexes = {
        annotations_of(pod)["batch.kubernetes.io/job-completion-index"] for pod in found.items
    }
    assert indexes == {str(n) for n in range(SHARDS)}
    (pod, *_) = found.items
    names = {each["name"] for each in pod["spec"]["containers"][0]["env"]}
    assert INDEX in names, "arguments can name it"


def start(job: dict[str, Any], index: int, volume: Path) -> subprocess.Popen[bytes]:
    """A pod of an index, as a kubelet starts it: with its variable, and the volume mounted."""
    arguments = [
        each.replace(f"$({INDEX})", str(index)).replace(REPORTS, str(volume))
        for each in job["spec"]["template"]["spec"]["containers"][0]["args"]
    ]
    return subprocess.Popen(
        [sys.executable, "-m", "conformance.cli", *arguments],
        env={**os.environ, INDEX: str(index)},
        stdout=subprocess.DEVNULL,
    )


def test_a_pod_that_is_killed_is_replaced_and_nothing_is_lost(
    assay: Assay, job: dict[str, Any], tmp_path: Path
) -> None:
    name = job["metadata"]["name"]
    journal = tmp_path / name / "0" / "unfinished" / "campaign.sqlite3"
    with start(job, 0, tmp_path) as first:
        began = time.monotonic()
        while first.poll() is None and time.monotonic() - began < DEADLINE_SECONDS:
            if stored_in(journal) >= SOME_RUNS:
                break
            time.sleep(0.01)
        first.send_signal(signal.SIGKILL)
    assert first.returncode == -signal.SIGKILL, "it was to be killed before its end"
    for index in range(SHARDS):
        assert start(job, index, tmp_path).wait() == ExitCode.CONFORMANT
    merged, whole = tmp_path / "merged", tmp_path / "whole"
    shards = [tmp_path / name / str(index) for index in range(SHARDS)]
    assert assay("report", "merge", *shards, "--out", merged, "--quiet").code == 0
    assert assay("run", *CAMPAIGN, "--quiet", "--out", whole).code == 0
    assert report_of(merged) == report_of(whole)
    assert runs_of(merged) == runs_of(whole)
    assert assay("verify", merged).code == 0


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("--shard", "1/2"), "--shard: the Job sets it; leave it out"),
        (("--cluster", "control-plane"), "a campaign is made in virtual time"),
        (("no-suite",), "no-suite"),
        (("--random-plan", "3"), "no such option: --random-plan"),
    ],
)
def test_what_no_campaign_can_have_is_refused(
    assay: Assay, words: tuple[str, ...], advice: str
) -> None:
    ended = assay("campaign", "manifests", "--shards", 2, "--claim", "reports", "--", *words)
    assert ended.code == ExitCode.BAD_INPUT
    assert advice in ended.err


def test_an_index_outside_of_an_indexed_job_is_refused(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(INDEX, raising=False)
    ended = assay("run", "appwrapper", "--shard", "index/2")
    assert ended.code == ExitCode.BAD_INPUT
    assert f"{INDEX} is not set" in ended.err
