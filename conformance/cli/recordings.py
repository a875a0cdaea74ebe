"""The input of `assay check`: a history, or audit logs, as one recorded run."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from conformance.norm.verdict import Verdict
    from conformance.report.run_result import RunResult
    from conformance.suite import Suite
    from vocabulary.clock import Micros
    from vocabulary.history import Entry, Header


class Recording(NamedTuple):
    """A run without verdicts, and how far it can be relied on."""

    run: RunResult
    command: str
    """The command that re-evaluates it."""
    gaps: Sequence[str] = ()
    """Its internal gaps, as sentences."""
    remarks: Sequence[str] = ()
    unseen: Sequence[str] = ()
    """The resources whose objects an audit log lacks."""

    @property
    def is_whole(self) -> bool:
        return not self.run.error and not self.gaps

    def verdicts(self, wanted: Container[str] | None) -> list[Verdict]:
        """Those of the claims that are wanted, None: of all; with gaps, nothing is violated."""
        from conformance.cli.judging import judge

        return [
            _doubted(verdict) if self.gaps else verdict
            for verdict in judge(self.run.header, self.run.entries)
            if wanted is None or verdict.claim in wanted
        ]


def of_history(path: Path) -> Recording:
    """The run in a history file; HistoryError if it is none."""
    from conformance.report.stored_run import read_run
    from vocabulary.history import Mark

    header, entries, whole, _ = read_run(path)
    # One that was written while its run went on has whole lines, but no end.
    whole = whole and any(isinstance(entry, Mark) and entry.mark == "end" for entry in entries)
    error = "" if whole else "the history was cut short"
    run = _as_run(f"Recorded history {path.name}", header, entries, error)
    return Recording(run, f"assay check {path}")


def of_audit_logs(
    logs: Sequence[Path],
    operator_user: str,
    config: Path | None,
    detection_latency: str,
    edition: str = "",
) -> Recording:
    """The logs as one run; AuditLogError for a file that is none, BadInputError for an option."""
    from conformance.audit_log.events import read_log
    from conformance.audit_log.history import to_history

    latency_us = _latency_us(detection_latency)
    log = read_log(logs)
    name = logs[0].name
    found = to_history(
        log,
        name,
        operator_user=operator_user,
        configured=partial(_configuration, config),
        detection_latency_us=latency_us,
    )
    remarks = list(found.remarks)
    if config is None:
        remarks.append("no --config: judged by the norm's default durations and limits")
    cut = ", ".join(str(path) for path in log.truncated)
    error = f"{cut}: was cut short" if cut else ""
    gaps = list(found.gaps)
    if cut and len(logs) > 1:
        gaps.append("Of several logs one was cut short: what the others go on with has a gap.")
    header = _in_edition(found.header, edition)
    remarks += _editions(header)
    run = _as_run(f"Audit log {name}", header, found.entries, error)
    command = " ".join(["assay check", *(f"--audit-log {log}" for log in logs)])
    return Recording(run, command, gaps, remarks, found.unseen)


def _in_edition(header: Header, edition: str) -> Header:
    import msgspec

    from conformance.cli.problems import BadInputError
    from conformance.editions import UnknownEditionError, of_run, require_known

    if not edition:
        return header
    try:
        require_known(edition, [(header.scenario, header.operators)])
    except UnknownEditionError as error:
        raise BadInputError(f"--edition: {error}") from error
    editions = of_run(header.scenario, header.operators, edition)
    return msgspec.structs.replace(header, editions=editions)


def _editions(header: Header) -> list[str]:
    """A remark on the editions that decide, where there are several."""
    from conformance.editions import of_run, told_by
    from conformance.suite import load

    by_suite = {**of_run(header.scenario, header.operators, ""), **told_by(header)}
    chosen = [
        f"{name} {edition} (there are {', '.join(load()[name].editions)})"
        for name, edition in by_suite.items()
        if len(load()[name].editions) > 1
    ]
    return [f"evaluated by the editions {'; '.join(chosen)}; see --edition"] if chosen else []


def _doubted(verdict: Verdict) -> Verdict:
    """With gaps, a contradiction may be one with a state that lasted less long than it seems."""
    import msgspec

    from conformance.norm.verdict import Outcome

    if verdict.outcome is not Outcome.FAILED:
        return verdict
    because = f"What the log shows contradicts it, but it has gaps: {verdict.because}"
    return msgspec.structs.replace(verdict, outcome=Outcome.INCONCLUSIVE, because=because)


def _as_run(title: str, header: Header, entries: Sequence[Entry], error: str) -> RunResult:
    import msgspec

    from conformance.report.stored_run import recorded_run

    return msgspec.structs.replace(recorded_run(header, entries), title=title, error=error)


def _configuration(path: Path | None, suite: Suite) -> Mapping[str, Any]:
    """The operator's configuration, from its own file."""
    from conformance.cli.problems import BadInputError
    from vocabulary.safe_yaml import load_yaml_file

    if path is None:
        return {}
    data = load_yaml_file(path)
    if not isinstance(data, dict):
        raise BadInputError(f"{path}: expected a map, the operator's config file")
    try:
        return suite.settings.read(data)
    except ValueError as error:
        raise BadInputError(f"{path}: {error}") from error


def _latency_us(text: str) -> Micros | None:
    from conformance.cli.problems import BadInputError
    from vocabulary.durations import parse_duration

    try:
        latency_us = parse_duration(text) if text else None
    except ValueError as error:
        raise BadInputError(f"--detection-latency: {error}") from error
    if latency_us is not None and latency_us < 0:
        raise BadInputError(f"--detection-latency: {text} is before it happened; write 2s or 1m")
    return latency_us
