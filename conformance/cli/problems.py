"""From an exception to one sentence and an exit code.

Commands raise `BadInputError` themselves. The errors of other rooms are listed here by name,
so that no room is imported just to be able to fail.
"""

from __future__ import annotations

import errno
import sys
import traceback
from contextlib import suppress
from typing import Any, Final

from conformance.cli.exit_code import ExitCode


class BadInputError(Exception):
    """The user asked for something that does not exist or cannot be read."""


_CODES: Final = {
    "conformance.cli.problems.BadInputError": ExitCode.BAD_INPUT,
    "click.exceptions.UsageError": ExitCode.BAD_INPUT,
    "typer._click.exceptions.UsageError": ExitCode.BAD_INPUT,  # where Typer brings Click along
    "conformance.audit_log.events.AuditLogError": ExitCode.BAD_INPUT,
    "conformance.report.conformance_report.ReportError": ExitCode.BAD_INPUT,
    "conformance.suite.SuiteError": ExitCode.BAD_INPUT,
    "vocabulary.entry_points.EntryPointError": ExitCode.BAD_INPUT,
    "vocabulary.suite_path.SuitePathError": ExitCode.BAD_INPUT,
    "vocabulary.implementations.NamedTwiceError": ExitCode.BAD_INPUT,
    "vocabulary.history.HistoryError": ExitCode.BAD_INPUT,
    "vocabulary.safe_yaml.YamlError": ExitCode.BAD_INPUT,
    "clusters.parent_bound.HolderError": ExitCode.BAD_INPUT,
    "clusters.control_plane.binaries.BinariesMissingError": ExitCode.ENVIRONMENT,
    "chaos.fields.PlanError": ExitCode.BAD_INPUT,
    "chaoslib.exceptions.InvalidExperiment": ExitCode.BAD_INPUT,
    "conformance.running.journal.JournalError": ExitCode.BAD_INPUT,
    "conformance.running.dask_shards.DaskError": ExitCode.ENVIRONMENT,
    "conformance.running.fault_use.OtherRunsError": ExitCode.BAD_INPUT,
    "conformance.running.workers.UnknownClusterError": ExitCode.ENVIRONMENT,
    "conformance.implementations.ours.UnknownImplementationError": ExitCode.BAD_INPUT,
    "mlbatch_tools.problems.ToolError": ExitCode.BAD_INPUT,
    "reference_controller.runtime.options.ConfigError": ExitCode.BAD_INPUT,
    "reference_controller.runtime.options.OptionsError": ExitCode.BAD_INPUT,
    "conformance.profiles.program.ProgramMissingError": ExitCode.ENVIRONMENT,
    "clusters.control_plane.builder.BuildError": ExitCode.ENVIRONMENT,
    "clusters.go_time.overlay.OverlayError": ExitCode.ENVIRONMENT,
    "clusters.control_plane.launch.AlreadyRunningError": ExitCode.ENVIRONMENT,
    "clusters.control_plane.starting.StartError": ExitCode.ENVIRONMENT,
    "conformance.worlds.control_plane.control_plane_lock.LockError": ExitCode.ENVIRONMENT,
    "conformance.left_behind.LeftBehindError": ExitCode.ENVIRONMENT,
    "conformance.worlds.existing.webhook_probe.UnreachableWebhooksError": ExitCode.ENVIRONMENT,
    "conformance.worlds.control_plane.operator_process.OperatorStartError": ExitCode.ENVIRONMENT,
    "conformance.worlds.kind.programs.KindError": ExitCode.ENVIRONMENT,
    "conformance.implementations.under_test.NotDeployableError": ExitCode.BAD_INPUT,
    "clusters.containers.rehearsal.RehearsalError": ExitCode.ENVIRONMENT,
    "clusters.control_plane.waiting.WaitTimeoutError": ExitCode.ENVIRONMENT,
    "concurrent.futures.process.BrokenProcessPool": ExitCode.ENVIRONMENT,
    "builtins.OSError": ExitCode.ENVIRONMENT,
}
"""Exception classes (with all their subclasses) that are no bugs of Assay."""


_ADVICE: Final = {
    errno.ENOENT: "name a file or folder that is there, or one that can be made",
    errno.ENOTDIR: "a part of this path is a file; name another",
    errno.EISDIR: "name a file, not a folder",
    errno.EEXIST: "something else has this name; name another",
    errno.EACCES: "choose a path that you may use, or change its rights",
    errno.EPERM: "choose a path that you may use, or change its rights",
    errno.EROFS: "choose a path that can be written",
    errno.ENOSPC: "make room there, or choose another path",
    errno.ENAMETOOLONG: "choose a shorter path",
    errno.ELOOP: "mend the symbolic links of this path",
    errno.EADDRINUSE: "choose another port, or end what listens there",
    errno.ECONNREFUSED: "start what should answer there, or name where it is",
}
"""Advice by the system's error number."""

_EXTRAS: Final = {
    "kubernetes": "cluster",
    "urllib3": "cluster",
    "tenacity": "cluster",
    "prometheus_client": "cluster",
    "cryptography": "cluster",
    "pytest_kind": "kind",
    "chaoslib": "chaos",
    "distributed": "dask",
    "libcst": "mutation",
    "coverage": "mutation",
    "pytest": "test",
    "hypothesis": "test",
}
"""Optional packages, and the extra of this distribution that brings each."""


def exit_code_for(error: BaseException) -> ExitCode:
    """The exit code for an error, `BUG` for one that is not listed."""
    if _missing_extra(error):
        return ExitCode.ENVIRONMENT
    for ancestor in type(error).__mro__:
        code = _CODES.get(f"{ancestor.__module__}.{ancestor.__qualname__}")
        if code is not None:
            return code
    return ExitCode.BUG


def report_problem(error: BaseException) -> None:
    """Tell it on standard error, in one sentence, and one more for each of its notes: what went
    wrong besides. Control characters cannot act there."""
    from conformance.report.untrusted import printable

    extra = _missing_extra(error)
    if extra:
        text = f"{error}; install it with: pip install 'assay[{extra}]'"
    elif isinstance(error, OSError):
        text = _of_system(error)
    else:
        text = _of_usage(error) if hasattr(error, "format_message") else str(error)
    for line in (text, *getattr(error, "__notes__", ())):
        _write(f"assay: {printable(line)}\n")


def report_bug(error: BaseException) -> None:
    """Tell it on standard error with all that helps to find it."""
    _write("".join(traceback.format_exception(error)))
    _write("assay: this is a bug of Assay, not of what it tested; please report it\n")


def _write(text: str) -> None:
    """Write to standard error. A closed reader does not affect the exit code."""
    if sys.stderr is not None:
        with suppress(OSError):
            sys.stderr.write(text)
            sys.stderr.flush()


def _of_system(error: OSError) -> str:
    """The message for a system error: the file, the reason and the next step, without the error
    number."""
    what = error.strerror or str(error)
    if error.filename is not None:
        # Two for what is copied or moved; either may be the one.
        files = (error.filename, error.filename2)
        what = f"{' → '.join(str(file) for file in files if file is not None)}: {what}"
    advice = _ADVICE.get(error.errno or 0, "")
    return f"{what}; {advice}" if advice else what


def _of_usage(error: Any) -> str:
    """Typer's errors about arguments, for instance unknown options, in the format of all other
    errors; its own format is a box of several lines."""
    what = " ".join(error.format_message().split()).removesuffix(".")
    asked = "assay" if error.ctx is None else error.ctx.command_path
    return f"{what[:1].lower()}{what[1:]}; {asked} --help tells what may be given"


def _missing_extra(error: BaseException) -> str:
    """The extra that would bring the module which is missing; empty for any other error."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return _EXTRAS.get(error.name.partition(".")[0], "")
    return ""
