"""`assay run` and what follows it: progress, table, blocks, the report, replay, verify."""

from __future__ import annotations

import gzip
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clusters.simulated.controllers.workloads.job.controller import JobController
from conformance.cli.exit_code import ExitCode
from conformance.cli.progress import plain_lines
from conformance.cli.selection import resolve
from conformance.left_behind.clean import NotCleanError
from conformance.norm.verdict import Outcome
from conformance.report.run_result import RunResult
from conformance.report.yaml_text import read_report
from conformance.running.run_options import Progress, RunOptions
from conformance.running.workers import Task, run_task, workers
from conformance.scenarios import SCENARIOS
from tests.cli.conftest import Assay

SCENARIO = "appwrapper/deletion/slow-pods-hold-their-quota"


def test_a_run_ends_with_the_page_to_open_and_its_report_verifies(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = assay("run", SCENARIO, "--seed", 7, "-j", 1)
    assert ended.code == ExitCode.of_report(read_report(Path(".assay/report.yaml"))), ended
    assert "; 1 run in " in ended.out
    *_, report, page = ended.out.splitlines()
    assert (report, page) == ("report: .assay/report.yaml", "open: .assay/index.html")
    assert Path(".assay/index.html").is_file()
    assert f"reproduce:\n  command: assay run {SCENARIO} --seed 7\n" in Path(
        ".assay/report.yaml"
    ).read_text(encoding="utf-8")
    verified = assay("verify", ".assay")
    assert verified.code == 0, verified
    assert "all as reported" in verified.out


def names_of_runs(folder: Path) -> set[str]:
    report = read_report(folder / "report.yaml")
    return {test.name for claim in report.claims for test in claim.tests if test.runs}


@pytest.mark.parametrize(
    ("words", "first", "left_out"),
    [
        (["kueue/queues"], "kueue/queues/", ""),
        (["kueue/QUEUES/queue-*"], "kueue/queues/queue-", ""),
        (["kueue/queues/queue-is-drained"], "kueue/queues/queue-is-drained/", ""),
        (["kueue/queues", "--skip", "kueue/queues/local-*"], "kueue/queues/", "local-"),
        (["kueue/queues", "--skip", "queue-is-drained"], "kueue/queues/", "queue-is-drained"),
    ],
    ids=["directory", "pattern", "cases", "skipped-pattern", "skipped-cases"],
)
def test_a_word_names_several_scenarios(
    assay: Assay, tmp_path: Path, words: list[str], first: str, left_out: str
) -> None:
    ended = assay("run", *words, "--quiet", "-j", 1, "--out", tmp_path)
    assert ended.code == 0, ended
    expected = {
        name for name in SCENARIOS if name.startswith(first) and not (left_out and left_out in name)
    }
    assert len(expected) > 1
    assert names_of_runs(tmp_path) == expected
    command = read_report(tmp_path / "report.yaml").reproduce.command
    assert command == f"assay run {shlex.join(words)} --seed 1729"


def test_no_run_is_started_after_the_first_failure_and_what_failed_is_run_again(
    assay: Assay, tmp_path: Path
) -> None:
    wrong = ("--implementation", "mutant:later-ones-come-first", "--no-shrink", "-q", "-j", 1)
    ended = assay("run", "kueue/queues", "kueue/order", *wrong, "-x", "--out", tmp_path)
    assert ended.code == ExitCode.VIOLATED, ended
    assert "--exit-first: the runs after the first failure were left out" in ended.out
    made = names_of_runs(tmp_path)
    (failed,) = failing(tmp_path)
    assert len(made) < len(
        [name for name in SCENARIOS if name.startswith(("kueue/queues", "kueue/order"))]
    )
    ended = assay("run", "--last-failed", "--out", tmp_path)
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "is of --implementation mutant:later-ones-come-first" in ended.err
    ended = assay("run", *wrong, "--last-failed", "--out", tmp_path)
    assert ended.code == ExitCode.VIOLATED, ended
    assert names_of_runs(tmp_path) == failing(tmp_path) == {failed}
    ended = assay("run", failed, "-q", "--out", tmp_path)
    assert ended.code == 0, ended
    ended = assay("run", "--last-failed", "--out", tmp_path)
    assert ended.code == ExitCode.BAD_INPUT, ended
    assert "no scenario of the selection failed" in ended.err


def test_a_claim_that_is_selected_is_the_only_one_that_is_evaluated(
    assay: Assay, tmp_path: Path
) -> None:
    skipped = ("--skip", "appwrapper/deletion")
    ended = assay("run", "AW-015", *skipped, "-q", "-j", 1, "--out", tmp_path)
    assert ended.code == 0, ended
    assert {claim.id for claim in read_report(tmp_path / "report.yaml").claims} == {"AW-015"}


def test_patterns_leave_out_what_a_suite_leaves_out() -> None:
    assert "jobset/scale/thousands-of-pods-restart" not in resolve(["jobset/*"])
    assert "jobset/scale/thousands-of-pods-restart" in resolve(["jobset/*"], large=True)
    first, *others = resolve(["kueue/queues/queue-is-drained"])
    assert others
    assert resolve(["kueue/queues/queue-is-drained"], one_case=True) == (first,)
    assert not any(name.startswith("operator/") for name in resolve(["*"]))


def test_what_failed_in_a_campaign_is_run_again(assay: Assay, tmp_path: Path) -> None:
    wrong = ("--implementation", "mutant:later-ones-come-first", "--no-shrink", "-q", "-j", 1)
    scenario = "kueue/order/equal-ones-wait"
    campaign = ("--random-plans", 2, "-x", "--out", tmp_path)
    assert assay("run", scenario, *wrong, *campaign).code == ExitCode.VIOLATED
    report = read_report(tmp_path / "report.yaml")
    assert report.coverage.random_plans == 0, "the campaign comes after the first failure"
    campaign = ("--crash-points", "--out", tmp_path)
    assert assay("run", scenario, *wrong, *campaign).code == ExitCode.VIOLATED
    ended = assay("run", "--last-failed", *wrong, "--out", tmp_path)
    assert ended.code == ExitCode.VIOLATED, ended
    assert names_of_runs(tmp_path) == {scenario}


def failing(folder: Path) -> set[str]:
    report = read_report(folder / "report.yaml")
    return {
        test.name
        for claim in report.claims
        for test in claim.tests
        if test.outcome is Outcome.FAILED
    }


def test_the_readme_shows_what_the_run_prints(assay: Assay, tmp_path: Path) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    wrong = ("--implementation", "mutant:quota-released-on-failed")
    printed = assay("run", "slow-pods-hold-their-quota", *wrong, "--out", tmp_path).out
    shown = [line for line in readme.splitlines() if line.startswith("    t=") and " rv2" in line]
    assert len(shown) == 3
    for line in shown:
        assert line in printed or line.strip() in " ".join(printed.split()), line


def test_the_report_of_a_suite_with_operators_of_others_is_verified(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert assay("run", "kueue", "-j", 1, "--quiet").code == 0
    verified = assay("verify", ".assay")
    assert verified.code == 0, verified


def test_a_mistake_in_a_simulated_controller_is_a_bug_of_assay_and_no_verdict(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: JobController, key: Any) -> Any:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(JobController, "sync", fail)
    ended = assay("run", SCENARIO, "-j", 1, "--out", tmp_path / "report")
    assert ended.code == ExitCode.BUG, ended
    assert "job-controller at default/a-job: ZeroDivisionError: planted" in ended.err
    assert ended.err.endswith("this is a bug of Assay, not of what it tested; please report it\n")
    assert not (tmp_path / "report").exists()


def test_a_violation_exits_with_1_and_its_plan_replays_it(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = assay("run", SCENARIO, "--implementation", "mutant:quota-released-on-failed", "-q")
    assert ended.code == 1, ended
    told = "(seed 1729, 2 nodes → 1, 2 replicas → 1)"
    assert f"AW-015 quota-released-after-last-pod  FAILED   {told}" in ended.out
    assert "replay: assay replay .assay/aw-015.yaml      report: .assay/aw-015.html" in ended.out
    replayed = assay("replay", ".assay/aw-015.yaml")
    assert replayed.code == 1
    assert "AW-015 quota-released-after-last-pod  FAILED" in replayed.out
    sound = assay("replay", ".assay/aw-015.yaml", "--implementation", "reference")
    assert "AW-015 quota-released-after-last-pod  FAILED" not in sound.out
    explained = assay("replay", ".assay/aw-015.yaml", "--explain")
    assert explained.code == 0
    assert explained.out.startswith(f"Scenario {SCENARIO} with seed 1729")


def test_a_stored_history_is_judged_again_with_its_page(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assay("run", SCENARIO, "-q", "-j", 1)
    (history,) = Path(".assay/histories").iterdir()
    ended = assay("check", history, "--claim", "aw-015", "--page", "page.html")
    assert ended.code == 0, ended
    assert ended.out.startswith("✓ passed       AW-015 quota-released-after-last-pod")
    assert "AW-015 passed" in Path("page.html").read_text(encoding="utf-8")


def test_a_scenario_may_be_named_by_its_end_and_a_claim_in_lower_case(
    assay: Assay, tmp_path: Path
) -> None:
    ended = assay("run", "slow-pods-hold-their-quota", "-q", "--out", tmp_path / "a")
    assert "1 run in" in ended.out


def test_a_scenario_is_judged_by_the_claims_it_was_written_for(
    assay: Assay, tmp_path: Path
) -> None:
    ended = assay("run", SCENARIO, "-q", "-j", 1, "--out", tmp_path / "a")
    count = len(SCENARIOS[SCENARIO].arms)
    assert f"\n{count} claims: " in ended.out
    assert "1 run in" in ended.out


def test_of_a_selection_only_what_was_asked_for_decides_the_exit_code(
    assay: Assay, tmp_path: Path
) -> None:
    ended = assay("run", "AW-015", "-q", "--one-case", "--out", tmp_path)
    (tier,) = {profile.core for profile in read_report(tmp_path / "report.yaml").profiles}
    assert tier.skipped_tests, "core claims that nobody asked for were not judged"
    assert ended.code == ExitCode.CONFORMANT
    assert "3 a core claim that was asked for" in assay("run", "--help").out


def test_claims_are_shown_with_source_decision_and_scenarios(assay: Assay) -> None:
    ended = assay("claims", "show", "aw-015")
    assert ended.code == 0
    assert "source: appwrapper-fault-tolerance" in ended.out
    assert "decision A4" in ended.out
    assert SCENARIO in ended.out


def test_claims_are_listed_by_word_and_level(assay: Assay) -> None:
    ended = assay("claims", "list", "quota", "--level", "core")
    assert "AW-015" in ended.out
    assert "AW-089" not in ended.out


def test_the_catalogue_is_written_and_compared(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The faults that strike in the runs of all scenarios are compared by CI, with the real file.
    faults = dict.fromkeys(SCENARIOS, ("kill_pod",))
    monkeypatch.setattr("conformance.running.fault_use.faults_by_scenario", lambda: faults)
    path = tmp_path / "docs" / "claims.yaml"
    assert assay("claims", "catalogue", path, "--check").code == 1
    assert assay("claims", "catalogue", path).code == 0
    assert assay("claims", "catalogue", path, "--check").code == 0
    path.write_text(path.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
    ended = assay("claims", "catalogue", path, "--check")
    assert ended.code == 1
    assert "is out of date; write it with" in ended.out


def test_mutants_are_listed_with_what_is_wrong_in_them(assay: Assay) -> None:
    ended = assay("mutants", "--list")
    assert ended.code == 0
    assert "quota-released-on-failed" in ended.out


def test_a_cluster_that_does_not_run_is_an_environment_problem(
    assay: Assay, tmp_path: Path
) -> None:
    ended = assay("cluster", "status", "--folder", tmp_path)
    assert ended.code == 4
    assert "start one with: assay cluster up" in ended.out


def test_help_teaches_examples_and_exit_codes(assay: Assay) -> None:
    ended = assay("--help")
    assert ended.code == 0
    for words in ("assay run AW-015", "assay verify .assay", "Exit codes", "3 a core claim"):
        assert words in ended.out


@pytest.mark.parametrize(
    "command",
    ["run", "replay", "check", "verify", "serve", "mutants", "clean", "claims", "cluster"],
)
def test_every_command_has_help(assay: Assay, command: str) -> None:
    ended = assay(command, "--help")
    assert ended.code == 0
    assert f"assay {command}" in ended.out


def test_plain_progress_tells_the_first_run_failures_at_once_and_every_tenth() -> None:
    told: list[str] = []
    on_progress = plain_lines(told.append)
    for done in range(1, 101):
        outcome = Outcome.FAILED if done == 42 else Outcome.PASSED
        on_progress(Progress(done=done, total=100, scenario=f"s{done}", outcome=outcome))
    assert len(told) == 12
    assert told[0] == "1/100 runs: 1 passed, 0 failed, 0 inconclusive"
    assert told[5] == "FAILED s42"
    assert told[-1] == "100/100 runs: 99 passed, 1 failed, 0 inconclusive"


def test_plain_progress_goes_on_when_a_campaign_adds_its_runs() -> None:
    told: list[str] = []
    on_progress = plain_lines(told.append)
    for done in range(1, 101):
        total = 20 if done <= 20 else 100
        on_progress(Progress(done=done, total=total, scenario="s", outcome=Outcome.PASSED))
    counts = [line.partition(" ")[0] for line in told]
    assert counts[-9:] == ["20/20", *(f"{done}/100" for done in range(30, 101, 10))]


def test_plain_progress_counts_failures_that_are_made_simpler_apart_from_the_runs() -> None:
    told: list[str] = []
    on_progress = plain_lines(told.append)
    on_progress(Progress(done=1, total=1, scenario="s", outcome=Outcome.FAILED))
    for done in range(2, 5):
        on_progress(Progress(done=done, total=4, scenario="shrinking AW-015", outcome=None))
    assert told == [
        "FAILED s",
        "1/1 runs: 0 passed, 1 failed, 0 inconclusive",
        "making 3 failures simpler (--no-shrink: as found)",
        "3/3 made as simple as they get",
    ]


def test_an_interrupt_ends_with_130(assay: Assay, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.running.suite.run_suite", interrupt)
    assert assay("run", "-q").code == 130


def test_an_interrupted_campaign_reports_the_runs_that_ended(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def interrupted(task: Task) -> RunResult:
        if "of write 4 of" in task.variant:
            raise KeyboardInterrupt
        return run_task(task)

    monkeypatch.setattr("conformance.running.workers.run_task", interrupted)
    asked = (SCENARIO, "--crash-points", "--random-plans", 2, "-j", 1)
    ended = assay("run", *asked, "--out", tmp_path)
    assert ended.code == ExitCode.INTERRUPTED, ended
    coverage = read_report(tmp_path / "report.yaml").coverage
    tried, _, existing = coverage.crash_points.partition("/")
    assert 0 < int(tried) < int(existing)
    assert f"\ninterrupted after {tried} of {existing} runs\n" in ended.out
    assert coverage.random_plans == 0


def test_runs_that_passed_share_a_row_and_each_has_its_digest_in_a_list(
    assay: Assay, tmp_path: Path
) -> None:
    run, handed_in = tmp_path / "run", tmp_path / "handed-in"
    ended = assay("run", "jobset/endings", "--random-plans", 4, "-q", "-j", 1, "--out", run)
    assert ended.code == 0, ended
    report = read_report(run / "report.yaml")
    rows = [test for claim in report.claims for test in claim.tests]
    passed = [test for test in rows if test.outcome is Outcome.PASSED]
    assert {test.seed for test in passed if test.runs > 1} == {1729}
    for claim in report.claims:
        scenarios = [test.scenario for test in claim.tests if test.outcome is Outcome.PASSED]
        assert len(scenarios) == len(set(scenarios))
    assert assay("report", "submission", run, "--out", handed_in).code == 0
    verified = assay("verify", handed_in)
    assert verified.code == 0, verified
    (copied,) = handed_in.rglob("runs.tsv.gz")
    lines = gzip.decompress(copied.read_bytes()).splitlines(keepends=True)
    assert len(lines) == report.coverage.plans == 25
    copied.write_bytes(gzip.compress(b"".join(lines[1:])))
    verified = assay("verify", handed_in)
    assert verified.code == ExitCode.VIOLATED, verified
    assert "runs.tsv.gz: lists 24 runs; coverage.plans is 25" in verified.out
    assert "runs.tsv.gz lists no such run and digest" in verified.out
    copied.write_bytes(b"\x1f\x8bnone")
    assert "runs.tsv.gz: cannot be read" in assay("verify", handed_in).out
    assert assay("report", "rejudge", run, "--out", tmp_path / "again").code == ExitCode.BAD_INPUT
    assert assay("run", "jobset/endings", "-q", "-j", 1, "--out", run).code == 0
    assert not (run / "runs.tsv.gz").exists()
    ended = assay("report", "submission", run, "--out", handed_in, "--replace")
    assert ended.code == 0, ended
    assert not copied.exists()
    assert assay("verify", handed_in).code == 0


@pytest.mark.parametrize(
    ("implementation", "code"),
    [("reference", ExitCode.ENVIRONMENT), ("mutant:quota-released-on-failed", ExitCode.VIOLATED)],
)
def test_what_was_found_is_told_although_the_cluster_cannot_be_cleaned(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, implementation: str, code: int
) -> None:
    @contextmanager
    def leaving(options: RunOptions, roles: Sequence[str], *, many: bool) -> Iterator[object]:
        with workers(options, roles, many=many) as run_all:
            yield run_all
        raise NotCleanError("Namespace run-1: still there")

    monkeypatch.setattr("conformance.running.suite.workers", leaving)
    ended = assay("run", "AW-015", "-q", "--implementation", implementation, "--out", tmp_path)
    assert ended.code == code, ended
    assert "assay: the cluster is not as it was before: Namespace run-1" in ended.err
    assert read_report(tmp_path / "report.yaml").profiles


def test_a_cluster_that_cannot_be_cleaned_before_the_runs_ends_the_suite(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    @contextmanager
    def refusing(*_: object, many: bool) -> Iterator[object]:
        raise NotCleanError("Namespace run-1: still there")
        yield many

    monkeypatch.setattr("conformance.running.suite.workers", refusing)
    ended = assay("run", "AW-015", "-q", "--out", tmp_path)
    assert (ended.code, ended.err) == (4, "assay: Namespace run-1: still there\n")
    assert not (tmp_path / "report.yaml").exists()


def test_options_reach_the_runner(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[tuple[tuple[str, ...], RunOptions]] = []

    def remember(words: tuple[str, ...], options: RunOptions, _: object) -> None:
        asked.append((words, options))
        raise KeyboardInterrupt

    monkeypatch.setattr("conformance.running.suite.run_suite", remember)
    monkeypatch.chdir(tmp_path)  # where its journal goes
    assay("run", "aw-015", "--crash-points", "--rerun", "-j", 3, "--seed", 9, "-q")
    ((words, options),) = asked
    assert words == ("AW-015",)
    assert (options.crash_points, options.rerun, options.jobs, options.seed) == (True, True, 3, 9)
    assert options.command == "assay run AW-015 --seed 9 --crash-points --rerun"


def test_a_report_names_everything_that_was_asked_for_and_decides_its_outcome(
    assay: Assay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[RunOptions] = []

    @contextmanager
    def no_cluster(
        _: object, options: RunOptions, *_others: object, **__: object
    ) -> Iterator[RunOptions]:
        asked.append(options)
        raise KeyboardInterrupt
        yield options

    monkeypatch.setattr("conformance.cli.kind.provided", no_cluster)
    decisive = [
        "--cluster",
        "kind",
        "--seed",
        9,
        "--webhook-host",
        "10.0.0.1",
        "--pod-image",
        "i:1",
    ]
    decisive += ["--operator-image", "assay:1", "--time-limit", "1h", "--workers", 6]
    other = ["--out", tmp_path / "out", "-j", 2, "--kind-bin", "k", "--keep-cluster", "--quiet"]
    assay("run", "AW-015", *other, *decisive)
    (options,) = asked
    assert options.command == f"assay run AW-015 {' '.join(map(str, decisive))}"


def test_a_problem_is_told_with_what_went_wrong_besides(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        error = OSError("no room")
        error.add_note("the cluster is still there")
        raise error

    monkeypatch.setattr("conformance.running.suite.run_suite", fail)
    ended = assay("run", "-q")
    assert ended.code == 4
    assert ended.err == "assay: no room\nassay: the cluster is still there\n"
