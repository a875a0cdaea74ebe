"""The report as text, as the guide prints it or as later versions do, and as data."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from mlbatch_tools.cluster_checker.report import ClusterReport, QueueRow, gpus

FORMATS: Final = ("guide", "latest")
_TITLES: Final = (
    "CLUSTER QUEUE",
    "GPU QUOTA",
    "GPU USAGE",
    "ADMITTED WORKLOADS",
    "PENDING WORKLOADS",
)
_GAP: Final = "   "


def lines(report: ClusterReport, format_: str) -> Iterator[str]:
    """The report in one of FORMATS, line by line: the table, the summary and the findings."""
    yield from _table(report)
    yield ""
    yield from _summary(report, format_)
    if report.findings:
        yield ""
        yield from map(str, report.findings)


def as_data(report: ClusterReport) -> dict[str, Any]:
    """The report as JSON has it."""
    return {
        "clusterQueues": [_queue(row) for row in report.queues],
        "slackQueue": _queue(report.slack) if report.slack else None,
        "gpus": {
            "total": _number(report.total),
            "unschedulable": _number(report.unschedulable),
            "schedulable": _number(report.schedulable),
            "nominalQuota": _number(report.nominal),
            "maximumSlackQuota": _number(report.slack_nominal),
            "slackQuota": _number(report.slack_lendable),
            "quota": _number(report.quota),
            "usage": _number(report.used),
            "borrowed": _number(report.borrowed),
        },
        "findings": [
            {
                "condition": each.condition.value,
                "level": "note" if each.condition.is_note else "warning",
                "subject": each.subject,
                "message": each.text,
            }
            for each in report.findings
        ],
    }


def _table(report: ClusterReport) -> Iterator[str]:
    """Names to the left, numbers to the right; columns as wide as their widest cell."""
    cells = [_TITLES, *map(_cells, report.queues)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *numbers in cells:
        padded = (text.rjust(width) for text, width in zip(numbers, widths[1:], strict=True))
        yield _GAP.join((name.ljust(widths[0]), *padded))


def _cells(row: QueueRow) -> tuple[str, ...]:
    return row.name, gpus(row.quota), gpus(row.usage), str(row.admitted), str(row.pending)


def _summary(report: ClusterReport, format_: str) -> Iterator[str]:
    blocks = (
        (
            ("Total GPU count in cluster:", "", report.total),
            ("Unschedulable GPU count:", "-", report.unschedulable),
            ("Schedulable GPU count:", "=", report.schedulable),
        ),
        (("Nominal GPU quota:", "", report.nominal), *_slack(report, format_)),
        (
            ("GPU usage by admitted workloads:", "", report.used),
            ("Borrowed GPU count:", "", report.borrowed),
        ),
    )
    width = max(len(gpus(number)) for block in blocks for _, _, number in block)
    for index, block in enumerate(blocks):
        if index:
            yield ""
        for label, sign, number in block:
            yield f"{label:33}{sign:1} {gpus(number):>{width}}"


def _slack(report: ClusterReport, format_: str) -> tuple[tuple[str, str, Fraction], ...]:
    if format_ == "guide":
        return (
            ("Slack GPU quota:", "+", report.slack_lendable),
            ("Total GPU quota:", "=", report.quota),
        )
    return (
        ("Maximum slack GPU quota:", "+", report.slack_nominal),
        ("Slack GPU quota adjustment:", "-", report.slack_nominal - report.slack_lendable),
        ("Current GPU quota:", "=", report.quota),
    )


def _queue(row: QueueRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "quota": _number(row.quota),
        "lendingLimit": _number(row.lendable),
        "usage": _number(row.usage),
        "borrowed": _number(row.borrowed),
        "admittedWorkloads": row.admitted,
        "pendingWorkloads": row.pending,
    }


def _number(amount: Fraction) -> int | float:
    return amount.numerator if amount.denominator == 1 else float(amount)
