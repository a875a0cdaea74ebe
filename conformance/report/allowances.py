"""What an implementation was allowed, as the header of a history says it."""

from __future__ import annotations

from conformance.report.conformance_report import Allowances
from vocabulary.durations import format_duration
from vocabulary.history import Header


def allowances_of(header: Header) -> Allowances | None:
    """None for a history that does not say how late its implementation might be."""
    facts = header.facts
    if "detection_latency_us" not in facts:
        return None

    def span(name: str) -> str:
        return format_duration(facts[name]) if name in facts else ""

    return Allowances(
        latency=span("detection_latency_us"),
        request_latency=span("request_latency_us"),
        poke_every=span("poll_us"),
        polls_every=span("polls_every_us"),
        clock_resolution=span("clock_resolution_us"),
        profile_sha256=facts.get("profile_sha256", ""),
    )
