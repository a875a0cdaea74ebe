"""Fields that a profile declares to be random are not compared."""

from __future__ import annotations

import msgspec
import pytest

from conformance.history import History
from conformance.report.run_result import RunResult
from conformance.running.counterparts import counterpart_from
from tests.explore.planted import explored, planted
from vocabulary.history import OPERATOR, Header, Write

__all__ = ["planted"]

CREATED = "operator/workload/created"
PHASE = "Site.planted.example.dev status.phase"


def declaring(header: Header, *fields: str) -> Header:
    operator = header.operators[OPERATOR]
    facts = msgspec.structs.replace(operator.facts, volatile=fields)
    operators = {OPERATOR: msgspec.structs.replace(operator, facts=facts)}
    return msgspec.structs.replace(header, operators=operators)


def ending_otherwise(run: RunResult) -> History:
    """The history of a run of which each write of a Site's phase has another one."""
    entries = [
        msgspec.structs.replace(
            entry, object={**entry.object, "status": {**entry.object["status"], "phase": "Odd"}}
        )
        if isinstance(entry, Write)
        and entry.kind.startswith("Site.")
        and "phase" in ((entry.object or {}).get("status") or {})
        and entry.object is not None
        else entry
        for entry in run.entries
    ]
    return History(run.header, entries)


@pytest.mark.usefixtures("planted")
def test_a_declared_field_is_volatile_and_another_one_is_a_difference() -> None:
    suite, _ = explored("planted", "slow", sample=1)
    (run,) = (run for run in suite.runs if run.scenario == CREATED and not run.variant)
    other = ending_otherwise(run)
    for fields in ((), ("Site.planted.example.dev status.setup",)):
        first = History(declaring(run.header, *fields), run.entries)
        found = counterpart_from(first, other, CREATED)
        assert found.volatile == {}
        (unequal,) = found.unequal
        assert "status.phase is Odd" in unequal
    first = History(declaring(run.header, PHASE), run.entries)
    found = counterpart_from(first, other, CREATED)
    assert (found.volatile, found.unequal) == ({PHASE: "declared"}, ())
