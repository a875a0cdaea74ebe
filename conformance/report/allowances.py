"""The bounds that an operator was granted, as the header of a history states them."""

from __future__ import annotations

from conformance.report.conformance_report import Allowances
from vocabulary.clock import Micros
from vocabulary.durations import format_duration
from vocabulary.history import Header


def allowances_of(header: Header) -> Allowances | None:
    """None where a history does not say how late its operator may be."""
    facts = header.first.facts
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
