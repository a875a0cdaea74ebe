"""`ci/agreement`: accepted differences between two reports, and problems."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from conformance import claims
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome, Verdict
from conformance.profiles.reading import read_profile
from conformance.report.build import build_report
from conformance.report.run_result import Implementation, RunResult
from conformance.report.yaml_text import write_report
from conformance.running.run_options import RunOptions
from conformance.running.runner import run_one
from conformance.running.suite import run_suite
from conformance.running.why_not_run import out_of_reach
from conformance.scenarios import SCENARIOS
from conformance.suite import shipped_profiles

ROOT = Path(__file__).parents[2]
SCENARIO = "appwrapper/retry/one-failure-is-retried"
ITS_CLAIM = "AW-049"
OUT_OF_REACH = "AW-079"
RELEASED = "appwrapper-v1.1.2"


@pytest.fixture(scope="module")
def ran() -> RunResult:
    return run_one(SCENARIOS[SCENARIO], implementation("reference", "appwrapper"), 1)


def with_verdict(run: RunResult, verdict: Verdict) -> RunResult:
    others = [each for each in run.verdicts if each.claim != verdict.claim]
    return msgspec.structs.replace(run, verdicts=(*others, verdict))


def whole(run: RunResult) -> RunResult:
    """The run with a verdict on the claim that only the simulation can arm."""
    return with_verdict(run, Verdict(claim=OUT_OF_REACH, outcome=Outcome.PASSED, armed=1))


def report(path: Path, cluster: str, *runs: RunResult, release: str = "") -> Path:
    """The report of these runs as if they were all of a suite; only two claims were asked for.

    With the name of a shipped profile, it is a report of the profile's implementation.
    """
    suite = run_suite([SCENARIO], RunOptions(), lambda _: None)
    told = msgspec.structs.replace(
        suite,
        runs=runs,
        cluster=cluster,
        claims=(ITS_CLAIM, OUT_OF_REACH),
        out_of_reach=out_of_reach(cluster),
    )
    built = build_report(told, claims.CLAIMS, version="1", git_commit="", date="2026-01-01")
    if release:
        made = read_profile(shipped_profiles()[release]).implementation
        released = Implementation(
            organization=made.organization, project=made.project, url=made.url, version=made.version
        )
        built = msgspec.structs.replace(built, implementation=released)
    path.write_text(write_report(built), encoding="utf-8")
    return path


def agreement(first: Path, *others: Path | str) -> tuple[int, str]:
    ended = ended_agreement(first, *others)
    assert not ended.stderr
    return ended.returncode, ended.stdout


def refused_agreement(first: Path, *others: Path | str) -> str:
    """The message of a command that ends with 2."""
    ended = ended_agreement(first, *others)
    assert (ended.returncode, ended.stdout) == (2, ""), ended.stderr
    return ended.stderr.splitlines()[-1]


def ended_agreement(first: Path, *others: Path | str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "ci" / "agreement"), str(first), *map(str, others)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def simulated(tmp_path: Path, ran: RunResult) -> Path:
    return report(tmp_path / "simulated.yaml", "simulated", whole(ran))


def test_a_claim_that_only_the_simulation_can_arm_may_be_inconclusive_elsewhere(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    second = report(tmp_path / "second.yaml", "control-plane", ran)
    table = tmp_path / "table.md"
    code, text = agreement(simulated, second, "--write", str(table))
    assert code == 0, text
    reason = out_of_reach("control-plane")[OUT_OF_REACH]
    assert f"compared in no scenario: {OUT_OF_REACH}. {reason}" in text
    assert f"- {OUT_OF_REACH}: {reason}." in table.read_text(encoding="utf-8")
    assert reason in second.read_text(encoding="utf-8").replace("\n      ", " ")


def test_of_several_reports_of_a_cluster_the_last_verdict_counts(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    silent = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.INCONCLUSIVE))
    wrong = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.FAILED, armed=1))
    earlier = report(tmp_path / "earlier.yaml", "kind", wrong)
    nothing = report(tmp_path / "nothing.yaml", "kind", silent)
    again = report(tmp_path / "again.yaml", "kind", ran)
    table = tmp_path / "table.md"
    code, text = agreement(simulated, earlier, again, nothing, "--write", table)
    assert code == 0, text
    assert f"| {ITS_CLAIM} | retry-pause-lasts-its-period | 1 | 0 | 0 |" in table.read_text("utf-8")
    code, text = agreement(simulated, again, earlier)
    assert code == 1
    assert f"contradiction: {ITS_CLAIM} {SCENARIO}: passed, failed" in text


def test_any_other_inconclusive_claim_is_a_problem(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    silent = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.INCONCLUSIVE))
    code, text = agreement(simulated, report(tmp_path / "2.yaml", "control-plane", silent))
    assert code == 1
    assert f"inconclusive on control-plane: {ITS_CLAIM}" in text
    assert f"inconclusive on control-plane: {OUT_OF_REACH}" not in text


def test_a_run_that_broke_off_is_a_problem(tmp_path: Path, ran: RunResult, simulated: Path) -> None:
    broke_off = msgspec.structs.replace(ran, error="not reached: AppWrapper a is Running")
    code, text = agreement(simulated, report(tmp_path / "2.yaml", "control-plane", broke_off))
    assert code == 1
    assert f"broke off on control-plane: {SCENARIO}: not reached" in text


def test_opposite_verdicts_are_a_contradiction(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    failed = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.FAILED, armed=1))
    code, text = agreement(simulated, report(tmp_path / "2.yaml", "control-plane", failed))
    assert code == 1
    assert f"contradiction: {ITS_CLAIM} {SCENARIO}: passed, failed" in text


@pytest.mark.parametrize("is_known", [True, False])
def test_a_contradiction_whose_cause_a_profile_names_is_no_problem(
    tmp_path: Path, ran: RunResult, is_known: bool
) -> None:
    shown = "created after 3s, and not before 90s had passed"
    failed = with_verdict(
        ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.FAILED, armed=1, because=shown)
    )
    first = report(tmp_path / "1.yaml", "simulated", whole(ran), release=RELEASED)
    second = report(tmp_path / "2.yaml", "control-plane", failed, release=RELEASED)
    profile = shipped_profiles()[RELEASED]
    if not is_known:
        text, _, _ = profile.read_text(encoding="utf-8").partition("knownDifferences:")
        profile = tmp_path / f"{RELEASED}.yaml"
        profile.write_text(text, encoding="utf-8")
    table = tmp_path / "table.md"
    code, text = agreement(first, second, "--profile", profile, "--write", table)
    assert code == (0 if is_known else 1), text
    unknown = f"contradiction of unknown cause: {ITS_CLAIM} in {SCENARIO}"
    assert (unknown in text) is not is_known
    written = table.read_text(encoding="utf-8")
    assert f"| {ITS_CLAIM} | 0 | 1 | {'The retry pause' if is_known else 'not known'}" in written


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(
    ("release", "told"),
    [
        pytest.param("", "Assay/AppWrapper reference", id="the reference"),
        pytest.param("appwrapper-v1.2.0", "project-codeflare/appwrapper v1.2.0", id="a version"),
    ],
)
def test_a_profile_explains_no_report_of_another_implementation(
    tmp_path: Path, ran: RunResult, is_first: bool, release: str, told: str
) -> None:
    of_it = report(tmp_path / "1.yaml", "simulated", ran, release=RELEASED)
    other = report(tmp_path / "2.yaml", "control-plane", ran, release=release)
    paths = (other, of_it) if is_first else (of_it, other)
    table = tmp_path / "table.md"
    message = refused_agreement(*paths, "--profile", RELEASED, "--write", table)
    assert f"{other}: is a report of {told}" in message
    assert f"the profile {RELEASED} is of project-codeflare/appwrapper v1.1.2; name the" in message
    assert not table.exists()


def test_a_profile_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, simulated: Path
) -> None:
    message = refused_agreement(simulated, simulated, "--profile", "nothing")
    assert "'nothing' is neither a shipped profile nor a .yaml file" in message
    assert all(name in message for name in shipped_profiles())
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("kind: Pod\n", encoding="utf-8")
    message = refused_agreement(simulated, simulated, "--profile", str(wrong))
    assert f"{wrong}:1:7: kind: expected ImplementationProfile" in message


def test_a_run_that_was_made_again_with_longer_durations_is_compared_all_the_same(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    silent = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.INCONCLUSIVE))
    longer = msgspec.structs.replace(ran, variant="durations × 2")
    second = report(tmp_path / "2.yaml", "control-plane", silent, longer)
    code, text = agreement(simulated, second)
    assert code == 0, text
    assert "control-plane: 1 verdicts of 2 claims compared" in text


def test_as_many_clusters_as_there_are_reports_stand_in_one_table(
    tmp_path: Path, ran: RunResult, simulated: Path
) -> None:
    failed = with_verdict(ran, Verdict(claim=ITS_CLAIM, outcome=Outcome.FAILED, armed=1))
    plane = report(tmp_path / "2.yaml", "control-plane", ran)
    kind = report(tmp_path / "3.yaml", "kind", failed)
    table = tmp_path / "table.md"
    code, text = agreement(simulated, plane, str(kind), "--write", str(table))
    assert code == 1
    assert text.splitlines()[-1] == f"contradiction: {ITS_CLAIM} {SCENARIO}: passed, failed"
    lines = table.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# Verdicts compared: simulated, control-plane and kind"
    (row,) = (line for line in lines if line.startswith(f"| {ITS_CLAIM} |"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2:] == ["1", "0", "0", "0", "0", "0", f"kind: {SCENARIO}: passed, failed"]
    (head,) = (line for line in lines if line.startswith("| claim |"))
    (rule,) = (line for line in lines if line.startswith("|---|---|---:|---:|---:|---:|---:|"))
    assert head.count("|") == rule.count("|") == row.count("|")


def test_reports_of_two_versions_are_not_compared(tmp_path: Path, ran: RunResult) -> None:
    old = report(tmp_path / "old.yaml", "simulated", ran, release=RELEASED)
    new = report(tmp_path / "new.yaml", "control-plane", ran, release="appwrapper-v1.2.0")
    message = refused_agreement(old, new)
    assert f"{new}: is a report of project-codeflare/appwrapper v1.2.0, but {old} of" in message


def test_reports_by_two_editions_are_not_compared(tmp_path: Path) -> None:
    name = "jobset/endings/no-policy"
    paths = []
    for edition in ("kep", "released"):
        ran = run_suite([name], RunOptions(edition=edition), lambda _: None)
        told = build_report(ran, claims.CLAIMS, version="1", git_commit="", date="2026-01-01")
        paths.append(tmp_path / f"{edition}.yaml")
        paths[-1].write_text(write_report(told), encoding="utf-8")
    message = refused_agreement(*paths)
    assert f"{paths[1]}: is judged by the edition released of jobset, but" in message


def test_a_report_may_be_given_as_its_folder(tmp_path: Path, simulated: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "report.yaml").write_bytes(simulated.read_bytes())
    assert agreement(folder, folder)[0] == agreement(simulated, simulated)[0]


def test_what_is_no_report_is_told_in_a_line(tmp_path: Path, simulated: Path) -> None:
    assert "there is no such file" in refused_agreement(simulated, tmp_path / "no.yaml")
    (tmp_path / "plan.yaml").write_text("kind: Plan\n", encoding="utf-8")
    assert "expected" in refused_agreement(simulated, tmp_path / "plan.yaml")
