"""Shrinking of failures: the same claim violated by fewer faults, in a smaller scenario.

A failure found among many faults can be understood only once most of them are removed. The
faults of a run are listed as one plan, whatever injected them, and `chaos.shrinking` removes
those that the violation does not need. Each attempt is a run. In the simulation runs take
milliseconds, and the same plan is the same run. On a control plane a run takes seconds and may
win a race that the one before lost: there attempts are few, and one that violates nothing only
says that nothing smaller was found.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

import msgspec

from chaos.plan import Plan, plan_from_data
from chaos.scale import Scale
from chaos.shrinking import MAX_RUNS, shrink
from chaos.subject_kind import subject_kind
from conformance.manifests.pod_templates import most_replicas
from conformance.norm.claim import CLAIMS
from conformance.profiles.choosing import all_simulated
from conformance.report.failures import by_entry, contradictions, first_entry, violated
from conformance.report.run_result import RunResult, test_name
from conformance.running.runner import run_one
from conformance.running.side_by_side import side_by_side
from conformance.scenarios import ALL_SCENARIOS
from vocabulary.history import Entry, Write, role_of
from vocabulary.kinds import kind_of
from vocabulary.objects import Object

MAX_SHRUNK: Final = 40
"""So many failures are shrunk; of a controller that has more, the first ones say enough."""
MAX_ENTRIES: Final = 20_000
"""So much is recorded on the way, all attempts together: a controller that writes indefinitely is
shrunk less far. Time is not counted, or the result would depend on the machine."""
FEW: Final = 4
"""So few are done sooner here than other processes are started."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The failure to shrink, as plain data: it may go to another process."""

    claims: tuple[str, ...]
    """Violated by one entry of the run, and still so when it has been shrunk."""
    shown_for: tuple[str, ...]
    """Those of which this is the failure to look at first."""
    implementation: str
    plan: Plan
    """All that went wrong, and how large the scenario is."""
    cause: str = ""
    """Of a run that is compared with an undisturbed one: who did what in the contradicting entry.
    Ends differ for many reasons, and a plan that fails by another one shows another failure."""


def failures(runs: Sequence[RunResult], claims: Container[str] = CLAIMS) -> list[Failure]:
    """The failures to look at first, which show every violated claim."""
    by_test = {(test_name(run), run.seed): run for run in runs}
    first = [each for each in contradictions(violated(runs, claims)) if each.shown_for]
    return [
        Failure(
            claims=each.claims,
            shown_for=each.shown_for,
            # The plan names the file of a profile, the header the profile.
            implementation=str(run.plan.get("implementation") or run.header.implementation),
            plan=whole_plan(run),
            cause=next(_causes(run, each.claims), ""),
        )
        for each in first[:MAX_SHRUNK]
        if (run := by_test[each.name, each.seed]).entries
    ]


def shrink_all(found: list[Failure], jobs: int) -> Iterator[tuple[Failure, RunResult | None]]:
    """Each failure with its smallest run, as they are done; None if nothing is smaller."""
    with side_by_side(jobs, many=len(found) > FEW) as each:
        yield from zip(found, each(shrunk, found, 1), strict=True)


def whole_plan(run: RunResult) -> Plan:
    """All that went wrong in a run as one plan, and the scenario's surroundings as they were.

    It replays the run byte for byte.
    """
    has_own = any("injection" in step["when"] for step in run.struck)
    plan = plan_from_data({**run.plan, "exhaustive": has_own, "faults": list(run.struck)})
    submitted = list(_submitted(run.entries))
    nodes = ALL_SCENARIOS[run.scenario].nodes
    replicas = max(map(most_replicas, submitted), default=1)
    names = (subject_kind(kind_of(obj)).component_names(obj) for obj in submitted)
    components = tuple(dict.fromkeys(chain.from_iterable(names)))
    scale = Scale(
        nodes=nodes if nodes > 1 else None,
        replicas=replicas if replicas > 1 else None,
        components=components if len(components) > 1 else None,
    )
    return replace(plan, scale=scale)


def shrunk(failure: Failure) -> RunResult | None:
    """The simulated run of the smallest plan found that violates the claims; None if none is
    smaller."""
    scenario = ALL_SCENARIOS[failure.plan.scenario]
    under_test = all_simulated(failure.implementation, scenario.roles)
    return smallest_run(failure, lambda plan: run_one(scenario, under_test, plan.seed, plan))


def smallest_run(
    failure: Failure, run_plan: Callable[[Plan], RunResult], *, max_runs: int = MAX_RUNS
) -> RunResult | None:
    """The run of the smallest plan found that violates the claims; None if none is smaller.

    `run_plan` is called at most `max_runs` times, and once more to show what was found.
    """
    whole = failure.plan
    recorded = 0
    latest: RunResult | None = None
    """Of those that violate the claims, which is that of the smallest plan."""

    def still_fails(plan: Plan) -> bool:
        nonlocal recorded, latest
        if recorded > MAX_ENTRIES:
            return False
        run = run_plan(plan)
        recorded += len(run.entries)
        if failure.cause not in _causes(run, failure.claims):
            return False
        latest = run
        return True

    smallest = _without_what_is_as_before(shrink(whole, still_fails, max_runs=max_runs), whole)
    told = _difference(whole, smallest)
    if not told:
        return None
    run = run_plan(smallest)
    shown = run if failure.cause in _causes(run, failure.claims) else latest
    return None if shown is None else msgspec.structs.replace(shown, shrunk=told)


def _causes(run: RunResult, claims: Collection[str]) -> Iterator[str]:
    """The cause of each entry that is the first to contradict all of the claims."""
    is_compared = run.header.counterpart is not msgspec.UNSET
    for broken in by_entry(run.verdicts):
        if {verdict.claim for verdict in broken}.issuperset(claims):
            at = first_entry(broken[0])
            entry = next((each for each in run.entries if each.n == at), None)
            yield _cause(entry) if is_compared else ""


def _cause(entry: Entry | None) -> str:
    if isinstance(entry, Write):
        return f"{role_of(entry.actor)}: {entry.event or entry.verb} {entry.kind}"
    return "" if entry is None else type(entry).__name__


def _without_what_is_as_before(plan: Plan, whole: Plan) -> Plan:
    """The plan without those parts of its scale which take nothing away from the scenario."""
    now, before = plan.scale, whole.scale
    scale = Scale(
        nodes=None if now.nodes == before.nodes else now.nodes,
        replicas=None if now.replicas == before.replicas else now.replicas,
        components=None if now.components == before.components else now.components,
    )
    return replace(plan, scale=scale)


def _difference(before: Plan, after: Plan) -> str:
    """`plan shrunk 14 → 2 faults, 3 nodes → 1`; empty where nothing differs."""
    words = []
    old, new = len(before.faults), len(after.faults)
    if new < old:
        words.append(f"plan shrunk {old} → {new} fault{'s' * (new != 1)}")
    elif after.faults != before.faults:
        words.append("plan simplified")
    if after.workload != before.workload:
        words.append("workload " + ("simplified" if after.workload else "as written"))
    for name in ("nodes", "replicas", "components"):
        if getattr(after.scale, name) is not None:
            counts = (_count(getattr(plan.scale, name)) for plan in (before, after))
            words.append(" → ".join(map(str, counts)).replace(" ", f" {name} ", 1))
    return ", ".join(words)


def _count(value: int | tuple[str, ...] | None) -> int:
    return len(value) if isinstance(value, tuple) else value or 0


def _submitted(entries: Iterable[Entry]) -> Iterator[Object]:
    """The objects that the scenario's user created."""
    for entry in entries:
        if isinstance(entry, Write) and entry.event == "ADDED" and entry.actor == "user":
            yield entry.object or {}
