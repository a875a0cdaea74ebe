"""team: the manifests that were written by hand, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mlbatch_tools.problems import ToolError
from mlbatch_tools.team import Quota, team
from tests.cli.command import assay

EXPECTED = Path(__file__).parent / "expected"


def test_the_manifests_are_those_that_were_written_by_hand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    platform = ("tools", "team", "platform", "--gpus", 8)
    ended = assay(monkeypatch, capsys, *platform)
    assert (ended.code, ended.err) == (0, "")
    own = list(yaml.safe_load_all((EXPECTED / "team-platform.yaml").read_text()))
    assert list(yaml.safe_load_all(ended.out)) == own
    ended = assay(monkeypatch, capsys, *platform, "--with-shared", "--slack-gpus", 4)
    shared = list(yaml.safe_load_all((EXPECTED / "shared-by-teams.yaml").read_text()))
    assert list(yaml.safe_load_all(ended.out)) == [*shared, *own]


def test_amounts_and_users_are_as_said() -> None:
    objects = team("a", Quota.for_gpus(0, "4", "16Gi"), (), ("ann",))
    queue, binding = objects[1], objects[4]
    resources = queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"]
    assert [each["nominalQuota"] for each in resources] == ["4", "16Gi", 0, 0, 100]
    assert [each["name"] for each in binding["subjects"]] == ["ann"]


@pytest.mark.parametrize(
    ("name", "gpus", "cpus", "memory", "message"),
    [
        ("Team", 1, None, None, "NAME is 'Team'; write at most 63 lower-case letters"),
        ("a" * 60, 1, None, None, "NAME-cluster-queue is"),
        ("a", 0, None, None, "--gpus 0 has no share of CPUs and memory; give --cpus and --memory"),
        ("a", 1, "many", None, "--cpus: 'many' is not a resource quantity"),
        ("a", 1, None, "0", "--memory: '0' is nothing; write more than 0"),
    ],
)
def test_what_makes_no_team_is_refused(
    name: str, gpus: int, cpus: str | None, memory: str | None, message: str
) -> None:
    with pytest.raises(ToolError) as raised:
        team(name, Quota.for_gpus(gpus, cpus, memory), ("g",), ())
    assert str(raised.value).startswith(message)


def test_slack_without_what_is_shared_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = assay(monkeypatch, capsys, "tools", "team", "a", "--gpus", 1, "--slack-gpus", 1)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("assay: --slack-gpus is for the slack queue")
