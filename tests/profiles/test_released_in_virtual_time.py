"""A released operator on the simulated cluster: webhooks, restarts, plans and repeatability."""

from __future__ import annotations

import pytest

from chaos.plan import plan_from_data
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import simulated
from conformance.profiles.profiled import Profiled
from conformance.profiles.program import ProgramMissingError
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import Process, Write

pytestmark = pytest.mark.slow

RELEASED = "jobset-v0.12.0"
PLAN = {
    "scenario": "jobset/restarts/pods-stop-slowly/Recreate",
    "faults": [
        {
            "kill": {"actor": "jobset", "restart_after": "5s"},
            "when": {
                "after": "commit",
                "by": "jobset",
                "kind": "JobSet",
                "field": {"status.restarts": 1},
            },
        }
    ],
}
"""It is killed between the write of the counter and the deletions that follow."""


@pytest.fixture
def released() -> Profiled:
    try:
        found = simulated(RELEASED, "jobset")
    except ProgramMissingError as missing:
        pytest.skip(str(missing))
    assert isinstance(found, Profiled)
    return found


def test_a_plan_strikes_where_it_is_aimed_and_repeats_byte_for_byte(released: Profiled) -> None:
    plan = plan_from_data(PLAN)
    runs = [
        run_one(SCENARIOS[plan.scenario], {"jobset": released}, plan.seed, plan, "", "released")
        for _ in range(2)
    ]
    assert [run.error for run in runs] == ["", ""]
    entries = runs[0].entries
    (killed,) = (
        n for n, e in enumerate(entries) if isinstance(e, Process) and e.change == "killed"
    )
    before = entries[killed - 1]
    assert isinstance(before, Write)
    assert (before.actor, before.subresource) == ("jobset", "status")
    assert (before.object or {})["status"]["restarts"] == 1
    assert not any(verdict.outcome is Outcome.FAILED for verdict in runs[0].verdicts)
    assert entries == runs[1].entries


def test_when_its_leader_is_killed_the_next_one_goes_on(released: Profiled) -> None:
    scenario = SCENARIOS["jobset/operators/leader-is-killed"]
    run = run_one(scenario, {"jobset": released}, 1, None, "", "released")
    assert run.error == ""
    processes = [entry for entry in run.entries if isinstance(entry, Process)]
    first, second = (each.process for each in processes if each.change == "leading")
    assert [each.process for each in processes if each.change == "killed"] == [first]
    assert {first, second} == {"jobset", "jobset/1"}
    assert not any(verdict.outcome is Outcome.FAILED for verdict in run.verdicts)
