"""`assay run` shrinks by itself, says so, and leaves a plan that replays what it shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from chaos.menu import FAULT_MENU
from chaos.plan import load_plan
from conformance.cli.exit_code import ExitCode
from conformance.report.yaml_text import read_report
from tests.cli.command import Ended
from tests.cli.command import assay as run_assay
from tests.shrinking.noisy import SLOW_PODS
from vocabulary.history import history_digest, read_history

Assay = Callable[..., Ended]
RUN = ("run", SLOW_PODS, "-q", "-j", 1, "--implementation", "mutant:quota-released-on-failed")


@pytest.fixture
def assay(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Assay:
    """The command, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: run_assay(monkeypatch, capsys, *arguments)


def digest_of(path: str) -> str:
    header, entries, is_whole, _ = read_history(Path(path))
    assert is_whole
    return history_digest(header, entries)


def test_the_plan_beside_a_shrunk_failure_replays_it_byte_for_byte(assay: Assay) -> None:
    ended = assay(*RUN)
    assert "AW-015 quota-released-after-last-pod  FAILED   (seed 1729, 2 nodes → 1, " in ended.out
    replayed = assay("replay", ".assay/aw-015.yaml", "--history", "again.jsonl.gz")
    assert replayed.code == ExitCode.VIOLATED
    assert "AW-015 quota-released-after-last-pod  FAILED" in replayed.out
    report = read_report(Path(".assay/report.yaml"))
    told = next(claim.shrunk for claim in report.claims if claim.id == "AW-015")
    assert told is not None
    assert f"the same history as recorded (sha256 {told.history_sha256})\n" in replayed.out
    assert digest_of("again.jsonl.gz") == told.history_sha256
    assert digest_of(f".assay/{told.history}") == told.history_sha256
    assert told.history_sha256 in Path(".assay/aw-015.html").read_text(encoding="utf-8")


def test_a_report_with_shrunk_failures_can_be_verified(assay: Assay) -> None:
    assay(*RUN)
    assert assay("verify", ".assay").code == 0
    shrunk = Path(".assay/histories/aw-015-shrunk.jsonl.gz")
    shrunk.write_bytes(shrunk.read_bytes()[:-40])
    ended = assay("verify", ".assay")
    assert ended.code == ExitCode.VIOLATED
    assert "aw-015-shrunk" in ended.out


def test_without_shrinking_the_run_is_shown_as_it_was_found(assay: Assay) -> None:
    ended = assay(*RUN, "--no-shrink")
    assert "AW-015 quota-released-after-last-pod  FAILED   (seed 1729)\n" in ended.out
    report = read_report(Path(".assay/report.yaml"))
    assert all(claim.shrunk is None for claim in report.claims)
    plan = load_plan(Path(".assay/aw-015.yaml"))
    assert plan.faults == () and not plan.exhaustive
    assay("replay", ".assay/aw-015.yaml", "--history", "again.jsonl.gz")
    (found,) = Path(".assay/histories").iterdir()
    assert digest_of("again.jsonl.gz") == digest_of(str(found))


def test_random_plans_are_counted_and_reproduced_by_the_command_of_the_report(
    assay: Assay,
) -> None:
    ended = assay("run", SLOW_PODS, "--random-plans", 3, "-j", 1)
    assert "random plans: 3 were run" in ended.out
    report = read_report(Path(".assay/report.yaml"))
    assert report.coverage.random_plans == 3
    assert report.reproduce.command == f"assay run {SLOW_PODS} --seed 1729 --random-plans 3"


@pytest.mark.parametrize("cluster", ["kind", "existing"])
def test_random_plans_are_refused_on_clusters_with_nodes_of_their_own(
    assay: Assay, cluster: str
) -> None:
    ended = assay("run", "--random-plans", 3, "--cluster", cluster)
    assert ended.code == ExitCode.BAD_INPUT
    assert "only the simulated cluster and a control plane run them" in ended.err


def test_the_help_says_what_shrinking_is_and_how_to_do_without(assay: Assay) -> None:
    told = " ".join(assay("run", "--help").out.split())
    assert "--no-shrink" in told and "--random-plans" in told


def test_fault_pairs_try_every_fault_alone_and_with_every_other(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    menu = dict(list(FAULT_MENU.items())[:3])
    monkeypatch.setattr("chaos.campaign._menu", lambda _: menu)
    ended = assay("run", SLOW_PODS, "--fault-pairs", "-j", 1)
    assert "random plans: 6 were run" in ended.out
