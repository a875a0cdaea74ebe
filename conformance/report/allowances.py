"""The bounds that operators were granted, as the header of a history states them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.report.conformance_report import Allowances
from vocabulary.clock import Micros
from vocabulary.durations import format_duration
from vocabulary.history import Header, OperatorFacts


def allowances_of(headers: Iterable[Header]) -> dict[str, Allowances]:
    """Those of the operators of all these histories, by role; without those of which the histories
    do not say how late they may be."""
    found: dict[str, Allowances] = {}
    for header in headers:
        for role, operator in sorted(header.operators.items()):
            told = _of(operator.facts)
            if told is not None:
                found.setdefault(role, told)
    return dict(sorted(found.items()))


def common(by_role: Mapping[str, Allowances]) -> Allowances | None:
    """Those of every operator; None if there are none, or they differ."""
    values = list(by_role.values())
    return values[0] if values and all(each == values[0] for each in values) else None


def _of(facts: OperatorFacts) -> Allowances | None:
    if facts.detection_latency_us is None:
        return None
    return Allowances(
        latency=_written(facts.detection_latency_us),
        request_latency=_written(facts.request_latency_us),
        poke_every=_written(facts.poll_us),
        polls_every=_written(facts.polls_every_us),
        clock_resolution=_written(facts.clock_resolution_us),
        profile_sha256=facts.profile_sha256,
    )


def _written(span_us: Micros | None) -> str:
    return "" if span_us is None else format_duration(span_us)
