"""A mutant that fails in a scenario, with faults around it that have nothing to do with it."""

from __future__ import annotations

from chaos.plan import parse_plan
from conformance import claims
from conformance.implementations.ours import implementation
from conformance.report.run_result import RunResult
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.running.shrunk import Failure, failures
from conformance.scenarios import SCENARIOS

SLOW_PODS = "appwrapper/deletion/slow-pods-hold-their-quota"
TWO_FAILURES = "appwrapper/detection/job-fails"
"""Its retry limit is 1: one killed pod is not enough to make it Failed."""

NOISE = """\
faults:
- slow_api: {by: 1s, times: 2}
  when: {at: 0s}
- delay_watch: {kind: Service, by: 3s}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
  for: 20s
- label_node: {node: n0, key: example.com/rack, value: b}
  when: {at: 1s}
- taint: {node: n1, key: example.com/broken, effect: PreferNoSchedule}
  when: {at: 2s}
  for: 10s
"""
"""Four harmless faults."""


def noisy_run(scenario: str, mutant: str, seed: int = DEFAULT_SEED) -> RunResult:
    """The scenario against the mutant, with the noise beside the scenario's own faults."""
    plan = parse_plan(f"scenario: {scenario}\n{NOISE}")
    return run_one(
        SCENARIOS[scenario], implementation(f"mutant:{mutant}", "appwrapper"), seed, plan
    )


def failure_of(claim: str, run: RunResult) -> Failure:
    """The failure of that claim, ready to be shrunk."""
    claims.load()
    return next(failure for failure in failures([run]) if claim in failure.shown_for)
