"""The exit codes of `assay`. They are part of its interface: CI branches on them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.report.conformance_report import ConformanceReport


class ExitCode(IntEnum):
    """Worst last, but for the last three."""

    CONFORMANT = 0
    VIOLATED = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    ENVIRONMENT = 4
    BUG = 70
    """Of Assay itself. Python's own 1 would read as a violated claim."""
    INTERRUPTED = 130
    UNREAD = 141
    """The reader of the output closed it: as a shell reports an end by SIGPIPE."""

    @classmethod
    def of_report(cls, report: ConformanceReport) -> ExitCode:
        """1 for a violated claim; 4 if a run was longer than Assay keeps; 3 if a checker failed, or
        if a core claim, or what was recorded, cannot be relied on."""
        from conformance.report.run_result import LIMIT

        if any(tier.failed_tests for p in report.profiles for tier in p.tiers):
            return cls.VIOLATED
        if any(LIMIT in error.error for error in report.errors):
            return cls.ENVIRONMENT
        if report.errors or report.checker_errors or report.determinism.mismatches:
            return cls.INCONCLUSIVE
        if report.interrupted:
            return cls.INCONCLUSIVE
        if not report.profiles:
            return cls.INCONCLUSIVE
        if report.lacking_core or any(p.core.inconclusive_tests for p in report.profiles):
            return cls.INCONCLUSIVE
        return cls.CONFORMANT


EXIT_CODES_HELP = """\
[bold]Exit codes[/bold]: 0 conformant · 1 a claim is violated · 2 bad input ·
3 a core claim that was asked for was not judged, or could not be, or a checker failed ·
4 the environment failed (cluster, network, disk, missing program), or a run was too long ·
70 a bug of Assay · 130 interrupted (Ctrl-C) · 141 nobody read the output to its end
"""
