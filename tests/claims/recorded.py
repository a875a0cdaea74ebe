"""Stored histories, and every verdict on them as last reviewed.

The histories stay as they are whatever becomes of scenarios and controllers, so a verdict changes
if and only if a checker does. Each is judged three times: as it is; as if nothing had been granted
for latency, polling and slack, since bounds then lie close to what happened; and cut short.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance import claims
from conformance.history import History
from conformance.norm.verdict import Verdict
from tests.headers import with_facts
from vocabulary.history import Entry, Header, read_history

FOLDER = Path(__file__).parent / "recordings"
SUFFIX = ".jsonl.gz"
GRANTED = ("slack_us", "detection_latency_us", "poll_us", "clock_resolution_us")


def histories() -> list[Path]:
    return sorted(FOLDER.glob(f"*{SUFFIX}"))


def verdicts_path(history: Path) -> Path:
    return history.with_name(history.name.removesuffix(SUFFIX) + ".verdicts")


def described(history: Path) -> str:
    """Every verdict on a stored history that was armed, a line each, by position of entries."""
    header, entries, _, _ = read_history(history)
    part = len(entries) * 3 // 5
    return "\n".join(
        [
            *_judged("as it is", header, entries),
            *_judged("nothing granted", strict(header), entries),
            *_judged(f"the first {part} entries", header, entries[:part]),
            "",
        ]
    )


def strict(header: Header) -> Header:
    """With all allowances for latency, polling and slack removed."""
    return with_facts(header, **dict.fromkeys(GRANTED, 0))


def _judged(title: str, header: Header, entries: Sequence[Entry]) -> Iterator[str]:
    yield f"# {title}"
    for verdict in claims.judge(History(header, entries)):
        if verdict.armed or verdict.violations:
            yield _line(verdict)


def _line(verdict: Verdict) -> str:
    """`AW-015 failed, armed 3: 12-40 57-80; 91 by 80 91`."""
    kept = "".join(f" {since}-{by}" for since, by in verdict.kept)
    broken = "".join(
        f"; {found.at} by {' '.join(map(str, found.evidence))}" for found in verdict.violations
    )
    return f"{verdict.claim} {verdict.outcome.value}, armed {verdict.armed}:{kept}{broken}"
