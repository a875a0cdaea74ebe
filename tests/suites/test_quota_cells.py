"""The table of the ledger's cells: each is run once, or cannot occur for a reason."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from chaos.plan import parse_plan
from conformance.history import History
from conformance.implementations.ours import implementations
from conformance.norm.verdict import Outcome
from conformance.profiles.choosing import left_out
from conformance.profiles.reading import read_profile
from conformance.running.run_options import DEFAULT_SEED
from conformance.running.runner import run_one
from conformance.scenario_type import Scenario
from conformance.scenarios import SCENARIOS
from conformance.suite import shipped_profiles
from conformance.suites.quota.cells import KINDS, Cell, all_cells, why_impossible
from conformance.suites.quota.editions import BY_EDITION, KEP, STRICT
from conformance.suites.quota.table import blank_cells, entries, table_lines

ACQUITTED = {
    "pods of a deleted Job waited for the garbage collector": """\
seed: 3916685549
scenario: quota/cells/of-job-set/reclaim/slow
faults:
- pause: {actor: garbage-collector}
  when: {before: commit, by: jobset, verb: create, kind: Job, subresource: ""}
  for: 5s
- delete_object: {kind: Job, name: {of: JobSet/a}, propagation: Background}
  when: {after: commit, event: updated, kind: Pod, occurrence: 2}
""",
    "a JobSet that had failed was not evicted at its timeout": """\
seed: 3277606873
scenario: quota/cells/of-job-set/pods-ready-timeout/stuck
faults:
- kill_pod: {pod: {of: JobSet/a, which: last}, exit_code: 137}
  when: {at: 252s}
  for: 7s
""",
    "an AppWrapper's controller had its answers late": """\
seed: 2274462965
scenario: quota/cells/of-app-wrapper/failure/stuck
workload: {appwrapper: a, replicas: 1}
faults:
- slow_api: {actor: appwrapper, by: 21s}
  when: {at: 30s}
""",
    "an AppWrapper's controller was down while it was to stop a victim": """\
seed: 1199926505
scenario: quota/cells/of-app-wrapper/preemption/quick
faults:
- kill: {actor: appwrapper, restart_after: 54s}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Suspending}}
  for: 10s
""",
}
"""Plans found at random in which the reference was said to be wrong, and was not."""
CELLS = [found for found in SCENARIOS.values() if found.id.startswith("quota/cells/")]


def history_of(scenario: Scenario) -> History:
    run = run_one(
        scenario, implementations("reference", scenario.roles), DEFAULT_SEED, is_judged=False
    )
    return History(run.header, run.entries)


def test_there_are_720_cells_each_once() -> None:
    counts = Counter(all_cells())
    assert len(counts) == 720
    assert set(counts.values()) == {1}


@pytest.mark.parametrize("release", ["v0.6.2", "v0.12.3", "v0.19.2"])
def test_reasons_name_the_api_or_a_line_of_the_release(release: str) -> None:
    not_run = left_out([read_profile(shipped_profiles()[f"kueue-{release}"])])
    kinds = {cast(Any, each.steps).args[1].kind for each in CELLS if each.id not in not_run}
    cells = [cell for cell in all_cells() if cell.kind in kinds]
    reasons = {why_impossible(cell, release) for cell in cells} - {""}
    line = rf"(kueue {re.escape(release)}|appwrapper v[\d.]+), [\w/]+\.go#L\d+\)"
    source = re.compile(rf"{line}|(core|apps|batch)/v1 ")
    assert [each for each in reasons if not source.search(each)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_cell_is_blank(kind: str) -> None:
    """Each cell that can occur is run, and its quota is lost in that way while pods are so."""
    found: dict[Cell, str] = {}
    for scenario in CELLS:
        if cast(Any, scenario.steps).args[1].kind == kind:
            found.update(entries(history_of(scenario)))
    assert [str(cell) for cell in blank_cells(found) if cell.kind == kind] == []


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("of-job/deactivation/quick", "of-job/deactivation/slow"),
        ("of-job/deactivation/slow", "of-job/deactivation/quick"),
        ("of-job/deactivation/quick", "of-job/deactivation/held"),
        ("of-job/deactivation/quick", "of-job/preemption/quick"),
        ("of-pod/success/quick", "of-pod/failure/quick"),
        ("of-pod/failure/held", "of-pod/failure/slow"),
    ],
)
def test_a_run_fills_no_other_cell(run: str, told: str) -> None:
    history = history_of(SCENARIOS[f"quota/cells/{run}"])
    assert [bool(entry) for _, entry in entries(history)] == [True]
    header = msgspec.structs.replace(history.header, scenario=f"quota/cells/{told}")
    other = History(header, history.entries)
    assert [entry for _, entry in entries(other)] == [""]


@pytest.mark.parametrize(
    "cell",
    ["of-job/deactivation/slow", "of-job-set/failure/slow", "of-job/deleted-in-background/stuck"],
)
def test_quota_that_is_configured_to_be_held_does_not_leak(
    cell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the edition lets quota go at once, an operator may hold it until the last pod's end."""
    monkeypatch.setitem(cast(dict[str, object], BY_EDITION), KEP, BY_EDITION[STRICT])
    scenario = SCENARIOS[f"quota/cells/{cell}"]
    references = implementations("reference", scenario.roles)
    verdicts = run_one(scenario, references, DEFAULT_SEED, edition=KEP).verdicts
    assert {each.claim for each in verdicts if each.outcome is Outcome.FAILED} == set()
    assert "QL-004" in {each.claim for each in verdicts if each.outcome is Outcome.PASSED}


@pytest.mark.parametrize("plan", ACQUITTED.values(), ids=ACQUITTED)
def test_what_others_do_late_convicts_nothing(plan: str) -> None:
    found = parse_plan(plan)
    scenario = SCENARIOS[found.scenario]
    run = run_one(scenario, implementations("reference", scenario.roles), found.seed, found)
    assert {each.claim for each in run.verdicts if each.outcome is Outcome.FAILED} == set()


def test_the_table_counts_what_is_blank() -> None:
    lines = list(table_lines([history_of(SCENARIOS["quota/cells/of-pod/preemption/slow"])]))
    possible = sum(not why_impossible(cell) for cell in all_cells())
    assert lines[-1] == f"720 cells: 1 run, {720 - possible} impossible, {possible - 1} blank"


def test_the_table_says_why_a_release_has_no_entry() -> None:
    """A kind that it lacks as a whole has no rows; a cell whose quota was kept has an entry."""
    history = history_of(SCENARIOS["quota/cells/of-pod/preemption/slow"])
    header = msgspec.structs.replace(history.header, scenario="quota/cells/of-pod/success/held")
    not_run = {each.id: "it has none" for each in CELLS if "/of-deployment/" in each.id}
    lines = list(table_lines([History(header, history.entries)], not_run))
    assert f"{'deployment':<34}not integrated" in lines
    assert "deployment: it has none" in lines
    assert [line for line in lines if line.startswith("  success")] == [
        f"  {'success':<34}{'—':>12}{'—':>12}{'otherwise':>12}"
    ]
    assert lines[-1].startswith("720 cells: 1 run, ")


@pytest.mark.parametrize("release", ["kueue-v0.6.2", "kueue-v0.12.3", "kueue-v0.19.2"])
def test_the_table_of_a_release_has_no_blank_cell(release: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "quota-released.md").read_text("utf-8")
    table = page.partition(f"<!-- {release} -->")[2].partition("<!-- up to here -->")[0]
    assert re.search(r"^720 cells: .*, 0 blank$", table, re.MULTILINE)
