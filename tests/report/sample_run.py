"""Runs with verdicts, on the history made by hand, and a suite of them."""

from __future__ import annotations

import msgspec

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.run_result import Implementation, RunResult, SuiteResult
from tests.report.sample_history import SCENARIO, SEED, quota_released_too_early

TITLE = "A failed AppWrapper whose pods stop slowly keeps its quota until the last is gone."


def failing_run(pods: int = 3) -> RunResult:
    """The history above with its verdicts: one failed, one passed, one never armed."""
    header, entries, violation = quota_released_too_early(pods)
    return RunResult(
        scenario=SCENARIO,
        title=TITLE,
        seed=SEED,
        plan={
            "seed": SEED,
            "scenario": SCENARIO,
            "faults": [{"kill": {"actor": "appwrapper"}, "when": {"at": "12s"}}],
        },
        header=header,
        entries=tuple(entries),
        verdicts=(
            Verdict(
                claim="AW-015",
                outcome=Outcome.FAILED,
                armed=2,
                because=violation.because,
                violations=(violation,),
            ),
            Verdict(claim="AW-049", outcome=Outcome.PASSED, armed=1, because="90 s passed."),
            Verdict(
                claim="AW-012",
                outcome=Outcome.INCONCLUSIVE,
                because="Never armed: nothing was left.",
            ),
            Verdict(claim="AW-063", outcome=Outcome.INCONCLUSIVE, because="It never succeeded."),
        ),
        wall_seconds=0.004,
        virtual_seconds=entries[-1].t / 1_000_000,
        shrunk="plan shrunk 14 → 2 faults, 3 nodes → 1",
    )


def passing_run() -> RunResult:
    """A second scenario in which everything that was armed held."""
    header, entries, _ = quota_released_too_early(2)
    scenario = "appwrapper/success/ttl"
    return RunResult(
        scenario=scenario,
        title="The children of a succeeded AppWrapper go when their time has come.",
        seed=SEED,
        plan={"seed": SEED, "scenario": scenario, "faults": []},
        header=msgspec.structs.replace(header, scenario=scenario),
        entries=tuple(entries[:40]),
        verdicts=(
            Verdict(claim="AW-063", outcome=Outcome.PASSED, armed=1, because="Gone after 168 h."),
            Verdict(claim="AW-015", outcome=Outcome.PASSED, armed=1, because="Nothing was left."),
        ),
        wall_seconds=0.002,
        virtual_seconds=entries[39].t / 1_000_000,
    )


def sample_suite(*runs: RunResult) -> SuiteResult:
    """A suite of the given runs, or of the two above."""
    return SuiteResult(
        runs=runs or (failing_run(), passing_run()),
        implementation=Implementation(
            organization="Example",
            project="appwrapper",
            url="https://example.com/appwrapper",
            version="v1.2.3",
            contact=("@example/appwrapper",),
        ),
        cluster="simulated",
        kubernetes_version="v1.34.1",
        clock="virtual",
        seed=SEED,
        command=(
            "assay run appwrapper --implementation mutant:quota-released-when-failed "
            "--crash-points --seed 1729"
        ),
        wall_seconds=0.01,
        fault_classes=("kill", "kill_pod", "taint", "evict"),
        crash_points=(12, 12),
    )
