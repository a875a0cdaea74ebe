"""From an exception to one sentence and an exit code.

Commands raise `InputProblem` and `EnvironmentProblem` themselves. The errors of other rooms
are listed here by name, so that no room is imported just to be able to fail.
"""

from __future__ import annotations

import sys
from typing import Final

from conformance.cli.exit_code import ExitCode


class InputProblem(Exception):
    """The user asked for something that does not exist or cannot be read."""


class EnvironmentProblem(Exception):
    """The machine or the cluster lacks what the command needs."""


_CODES: Final = {
    "conformance.cli.problems.InputProblem": ExitCode.BAD_INPUT,
    "conformance.cli.problems.EnvironmentProblem": ExitCode.ENVIRONMENT,
    "conformance.report.conformance_report.ReportError": ExitCode.BAD_INPUT,
    "vocabulary.history.HistoryError": ExitCode.BAD_INPUT,
    "vocabulary.safe_yaml.YamlError": ExitCode.BAD_INPUT,
    "fixtures.control_plane.binaries.BinariesMissingError": ExitCode.ENVIRONMENT,
    "builtins.ConnectionError": ExitCode.ENVIRONMENT,
}
"""Exception classes (with all their subclasses) that are no bugs of Assay."""


def exit_code_for(error: BaseException) -> ExitCode | None:
    """The exit code for an error that has one; None for a bug."""
    for ancestor in type(error).__mro__:
        code = _CODES.get(f"{ancestor.__module__}.{ancestor.__qualname__}")
        if code is not None:
            return code
    return None


def report_problem(error: BaseException) -> None:
    """Tell it on standard error, in one sentence; control characters cannot act there."""
    from conformance.report.untrusted import printable

    text = "\n".join(printable(line) for line in str(error).splitlines())
    sys.stderr.write(f"assay: {text}\n")
