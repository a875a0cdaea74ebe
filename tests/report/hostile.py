"""Text that wants to be more than text, in every place that a cluster can write to."""

from __future__ import annotations

from typing import Any

import msgspec

from conformance.norm.verdict import Violation
from conformance.report.run_result import RunResult
from tests.report.sample_run import failing_run
from vocabulary.history import Entry, Fault, Mark, Write

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "<svg onload=window.hacked=1>",
    "' onmouseover='window.hacked=1",
    "{{ 7 * 7 }}{% raw %}",
    "javascript:window.hacked=1",
    "\u202egnp.txt\u2066 \x1b[2J\x00",
    "<b id=data>x</b><!--",
)


def hostile_run(text: str) -> RunResult:
    """The sample run with the text as name, annotation, message, fault, actor and explanation."""
    run = failing_run(2)
    verdict = run.verdicts[0]
    violation = verdict.violations[0]
    because = Violation(at=violation.at, evidence=violation.evidence, because=f"because {text}")
    return msgspec.structs.replace(
        run,
        entries=tuple(_spoil(entry, text) for entry in run.entries),
        verdicts=(
            msgspec.structs.replace(verdict, violations=(because,), because=text),
            *run.verdicts[1:],
        ),
        shrunk=text,
        error=text,
    )


def _spoil(entry: Entry, text: str) -> Entry:
    match entry:
        case Write():
            return msgspec.structs.replace(
                entry,
                name=f"{entry.name}{text}",
                actor=f"{entry.actor}{text}",
                reason=text,
                object=_spoiled(entry.object, text),
                options={"propagationPolicy": text},
            )
        case Fault():
            return msgspec.structs.replace(entry, text=text, fault={text: text})
        case Mark():
            return msgspec.structs.replace(entry, text=text)
        case _:
            return entry


def _spoiled(obj: dict[str, Any] | None, text: str) -> dict[str, Any] | None:
    if obj is None:
        return None
    metadata = {**obj["metadata"], "name": text, "annotations": {text: text}}
    status = obj.get("status", {})
    conditions = [{**c, "type": f"{c['type']}{text}"} for c in status.get("conditions", [])]
    return {
        **obj,
        "metadata": metadata,
        "status": {**status, "phase": text, "conditions": [*conditions, *[{"type": text}]]},
        "spec": {**obj.get("spec", {}), "nodeName": text, "taints": [{"key": text, "value": text}]},
    }
