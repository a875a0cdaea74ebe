"""`assay check --audit-log` of a Kueue controller: the quota ledger of a cluster in production."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import Assay
from tests.cli.recording_kueue import CONFIG, OPERATOR_USER, SOUND_LOG, WRONG_LOG

KNOWN = ("--operator-user", OPERATOR_USER, "--config", CONFIG, "--detection-latency", "1s")
QUEUES = ("clusterqueues", "localqueues", "namespaces", "resourceflavors")
LEDGER = ("QL-001", "QL-003", "QL-004", "QL-005")

Event = dict[str, Any]


def changed(log: Path, path: Path, change: Callable[[Event], Event | None]) -> Path:
    events = [json.loads(line) for line in gzip.decompress(log.read_bytes()).splitlines()]
    kept = [event for event in map(change, events) if event is not None]
    path.write_text("".join(json.dumps(event) + "\n" for event in kept))
    return path


def of_metadata(*resources: str) -> Callable[[Event], Event]:
    """The event as a policy records it that has these resources, or all, at level Metadata."""

    def change(event: Event) -> Event:
        if resources and event["objectRef"]["resource"] not in resources:
            return event
        kept = {k: v for k, v in event.items() if k not in ("requestObject", "responseObject")}
        return {**kept, "level": "Metadata"}

    return change


def policy_of(out: str) -> set[tuple[str, str]]:
    """Group and resource of each line of the policy that is printed."""
    _, _, lines = out.partition("rules of the audit policy:\n")
    (rule,) = yaml.safe_load(lines)
    assert rule["level"] == "RequestResponse"
    return {(each["group"], each["resources"][0]) for each in rule["resources"]}


def test_the_log_of_a_sound_controller_keeps_the_ledger(assay: Assay) -> None:
    ended = assay("check", "--audit-log", SOUND_LOG, *KNOWN)
    assert ended.code == 0, ended
    for claim in (*LEDGER, "QL-007", "KQ-206"):
        assert f"✓ passed       {claim}" in ended.out
    assert "✗" not in ended.out
    assert "quota strict (there are strict, mlbatch, kep, released)" in ended.out


def test_the_log_of_a_mutant_shows_quota_that_is_released_while_pods_run(assay: Assay) -> None:
    ended = assay("check", "--audit-log", WRONG_LOG, *KNOWN)
    assert ended.code == 1
    assert "QL-003 release-follows-the-last-pod  FAILED" in ended.out
    ended = assay("check", "--audit-log", WRONG_LOG, *KNOWN, "--edition", "kep", "-c", "QL-001")
    assert ended.code == 0


@pytest.mark.parametrize("log", [SOUND_LOG, WRONG_LOG])
def test_at_level_metadata_the_verdict_is_inconclusive_and_the_policy_is_told(
    assay: Assay, tmp_path: Path, log: Path
) -> None:
    path = changed(log, tmp_path / "audit.log", of_metadata())
    ended = assay("check", "--audit-log", path, *KNOWN)
    assert ended.code == 3
    assert "? inconclusive: no claim can be evaluated" in ended.out
    assert not {"✓", "✗"} & {*ended.out}
    kueue = {("kueue.x-k8s.io", each) for each in (*QUEUES, "workloads") if each != "namespaces"}
    assert policy_of(ended.out) >= {("", "pods"), ("batch", "jobs"), *kueue}


def test_pods_at_level_metadata_and_jobs_at_level_none_leave_the_ledger_open(
    assay: Assay, tmp_path: Path
) -> None:
    bare = of_metadata("pods")

    def change(event: Event) -> Event | None:
        return None if event["objectRef"]["resource"] == "jobs" else bare(event)

    path = changed(WRONG_LOG, tmp_path / "audit.log", change)
    ended = assay("check", "--audit-log", path, *KNOWN, "--all")
    assert ended.code == 3
    for claim in LEDGER:
        assert f"? inconclusive {claim}" in ended.out
    assert "note: No write of jobs.batch is in the log." in ended.out
    assert policy_of(ended.out) == {("", "pods"), ("batch", "jobs")}


def test_queues_that_were_there_before_the_log_began_convict_nobody(
    assay: Assay, tmp_path: Path
) -> None:
    def change(event: Event) -> Event | None:
        is_queue = event["objectRef"]["resource"] in QUEUES
        return None if is_queue and event["verb"] == "create" else event

    path = changed(SOUND_LOG, tmp_path / "audit.log", change)
    ended = assay("check", "--audit-log", path, *KNOWN, "--all")
    assert ended.code == 0, ended
    for claim in LEDGER:
        assert f"✓ passed       {claim}" in ended.out
    for claim in ("QL-007", "KQ-101", "KQ-105"):
        assert f"? inconclusive {claim}" in ended.out
