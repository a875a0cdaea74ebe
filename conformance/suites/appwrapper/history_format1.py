"""Histories of format 1 as records of format 2.

Format 1 knew one operator, `operator`, which was an AppWrapper's, and kept what is known of it
and of the cluster side by side in the header. As format 2 it has the role `appwrapper`. Its
faults did not describe their effect; what that was follows from their names and parameters, as
they were then. A fault of another name counts as hindering while it is in force: a bound that is
too long misses a violation, one that is too short reports a false one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from vocabulary.clock import SECOND, Micros
from vocabulary.durations import parse_duration
from vocabulary.fault_effect import FaultEffect, Refusal

_FORMAT_2: Final = 2
_ROLE: Final = "appwrapper"
_OPERATOR: Final = "operator"
_HARMLESS: Final = frozenset(
    {
        *("autopilot_label", "cordon", "create_object", "delete_object", "delete_pod"),
        *("double_operator", "edit_object", "evict_pod", "hold_object", "kill_pod", "label_node"),
        *("node_deleted", "node_lost", "node_not_ready", "release_object", "stick_pod", "suspend"),
        *("taint", "tamper", "uncordon", "untaint"),
        # The entries of processes show the effect of these.
        *("kill", "pause", "restart", "resume", "return_lease", "start", "take_lease"),
    }
)
_WITHOUT_REFUSALS: Final = frozenset({"break_watch", "delay_watch", "slow_api", "stale_reads"})
_FINAL_CODES: Final = (400, 404, 409, 410, 422)
_OF_WORLD: Final = ("slack_us", "pods_late_us", "users")


def upgraded(record: dict[str, Any]) -> dict[str, Any]:
    """One line of a history of format 1, decoded, as a line of format 2."""
    match record.get("type"):
        case "header":
            return _header(record)
        case "write":
            return {**record, "actor": _renamed(record.get("actor", ""))}
        case "process":
            return {**record, "process": _renamed(record.get("process", ""))}
        case "fault":
            return {**record, "effect": msgspec.to_builtins(effect_of(record.get("fault", {})))}
        case "mark" if record.get("mark") == "reconfigured":
            return {**record, "role": _ROLE}
    return record


def _header(record: dict[str, Any]) -> dict[str, Any]:
    kept = dict(record)
    facts = kept.pop("facts", {})
    operator = {
        "suite": _ROLE,
        "implementation": kept.pop("implementation"),
        "parameters": kept.pop("parameters", {}),
        "facts": {name: fact for name, fact in facts.items() if name not in _OF_WORLD},
    }
    return {
        **kept,
        "format": _FORMAT_2,
        "operators": {_ROLE: operator},
        "facts": {name: fact for name, fact in facts.items() if name in _OF_WORLD},
    }


def _renamed(name: str) -> str:
    """`operator` and `operator/1` are `appwrapper` and `appwrapper/1`."""
    bare, slash, replica = name.partition("/")
    return f"{_ROLE}{slash}{replica}" if bare == _OPERATOR else name


def effect_of(fault: Mapping[str, Any]) -> FaultEffect:
    """The effect of a fault of format 1, as its plan spelled it."""
    kind, details = next(iter(fault.items()), ("", None))
    details = details if isinstance(details, Mapping) else {}
    if kind == "lift":
        lifted = dict(details.get("fault") or {})
        return msgspec.structs.replace(effect_of(lifted), ends=lifted)
    if kind in _HARMLESS:
        return FaultEffect()
    times, span_us = details.get("times", 1), _span_us(kind, details)
    costs_us: Micros | None = None
    if kind in ("time_out", "lose_reply", "slow_api"):
        costs_us = times * span_us if times else None
    elif kind == "delay_watch":
        costs_us = 2 * span_us
    elif kind == "break_watch":
        costs_us = span_us
    return FaultEffect(
        hinders=str(details.get("actor", _OPERATOR)) or "*",
        costs_us=costs_us,
        lingers_us=span_us,
        backs_off=kind not in _WITHOUT_REFUSALS,
        refuses=_refusal(details, times) if kind == "api_error" else None,
    )


def _refusal(details: Mapping[str, Any], times: int) -> Refusal:
    verbs, kind = details.get("verb", ()), str(details.get("kind", ""))
    return Refusal(
        verbs=(verbs,) if isinstance(verbs, str) else tuple(verbs),
        kind=kind,
        name=details.get("name", ""),
        times=times,
        retry_after_us=int(details.get("retry_after_seconds", 0)) * SECOND,
        for_good=details.get("code", 500) in _FINAL_CODES,
    )


def _span_us(kind: str, details: Mapping[str, Any]) -> Micros:
    key, default_us = {
        "time_out": ("after", 30 * SECOND),
        "lose_reply": ("after", 0),
        "slow_api": ("by", 5 * SECOND),
        "delay_watch": ("by", 5 * SECOND),
        "break_watch": ("gap", 5 * SECOND),
    }.get(kind, ("", 0))
    text = details.get(key)
    return default_us if text is None else parse_duration(str(text))
