"""The recordings are still true: a sample of the scripts, run on a real control plane again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.differential import scripts
from tests.differential.compare import differences
from tests.differential.real_target import RealTarget, started
from tests.differential.script import Script
from tests.differential.transcript import load, play

pytestmark = pytest.mark.control_plane

SAMPLE = (
    "update-replaces",
    "strategic-patch",
    "watch-replays",
    "policies-of-jobs-and-pods",
    "foreground-waits",
    "graceful-deletion",
    "schema-validation",
    "rule-fail-job",
    "status-failed",
    "deployment",
    "taint-evicts",
    "exclusive-topology",
    "preempts-for-anti-affinity",
    "custom-table",
)
"""One script of nearly every subject, and no slow one."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealTarget]:
    with started(tmp_path_factory.mktemp("differential")) as running:
        yield running


@pytest.mark.parametrize("script", scripts.chosen(SAMPLE), ids=lambda script: script.name)
def test_a_control_plane_still_answers_as_recorded(script: Script, target: RealTarget) -> None:
    changed = [str(one) for one in differences(load(script), play(script, target))]
    assert not changed, "record it anew with `python -m tests.differential.record`:\n" + "\n".join(
        changed
    )
