"""`assay check`: judge a stored history, or an audit log from elsewhere, by today's claims."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conformance.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from conformance.report.run_result import RunResult
    from conformance.verdict import Verdict
    from vocabulary.clock import Micros
    from vocabulary.history import Entry, Header


def check(
    history: Annotated[
        Path | None, typer.Argument(help="A history file (.jsonl or .jsonl.gz).")
    ] = None,
    *,
    audit_log: Annotated[
        list[Path] | None,
        typer.Option(
            help="An API server's audit log instead (JSON lines, may be gzip); may be repeated, "
            "for further API servers and rotated files."
        ),
    ] = None,
    operator_user: Annotated[
        str,
        typer.Option(
            metavar="USER",
            help="Who the operator is in the audit log: system:serviceaccount:NAMESPACE:NAME.",
        ),
    ] = "",
    config: Annotated[
        Path | None, typer.Option(help="The configuration that the recorded operator ran with.")
    ] = None,
    detection_latency: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="How late the recorded operator may notice something (as 2s, 1m); "
            "not given: as late as one that polls once a minute.",
        ),
    ] = "",
    claim: Annotated[
        list[str] | None, typer.Option("--claim", "-c", help="Only this claim; may be repeated.")
    ] = None,
    page: Annotated[
        Path | None, typer.Option(help="Write an HTML page of the worst verdict there.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option(help="Store what was made of an audit log, as a history.")
    ] = None,
    show_all: Annotated[
        bool, typer.Option("--all", help="List passed and unarmed claims too.")
    ] = False,
) -> None:
    """Judge a recording claim by claim; no cluster is needed.

    \b
    assay check .assay/histories/appwrapper-slow-pods-1729.jsonl.gz
    assay check run.jsonl.gz --claim AW-015 --page aw-015.html
    assay check --audit-log audit.log --config operator.yaml \\
        --operator-user system:serviceaccount:appwrapper-system:appwrapper-controller-manager

    A recording that was cut short is judged as far as it goes; then no claim counts as passed.
    What an audit log lacks (requests below level RequestResponse, other API servers' requests)
    is said; claims that need it are inconclusive, and nothing counts as violated.
    """
    from conformance.cli.ending import echo_block, verdict_lines
    from conformance.cli.judging import all_claims, claim_named, judge
    from conformance.cli.problems import BadInputError
    from conformance.report.build import worst_of
    from conformance.report.pages.failure_page import failure_page
    from conformance.report.untrusted import printable
    from conformance.verdict import Outcome
    from vocabulary.history import write_history

    wanted = {claim_named(word).id for word in claim or ()}
    if (history is None) == (not audit_log):
        raise BadInputError("give one of the two: a history file, or --audit-log FILE")
    gaps: Sequence[str] = ()
    remarks: Sequence[str] = ()
    if history is not None:
        if operator_user or config or detection_latency or save:
            raise BadInputError(
                "--operator-user, --config, --detection-latency and --save belong to --audit-log; "
                "a history says all that itself"
            )
        run = _stored(history)
        command = f"assay check {history}"
    else:
        logs = audit_log or []
        run, gaps, remarks = _recorded(
            logs, operator_user, _configuration(config), _latency_us(detection_latency)
        )
        command = " ".join(["assay check", *(f"--audit-log {log}" for log in logs)])
    verdicts = [
        _doubted(verdict) if gaps else verdict
        for verdict in judge(run.header, run.entries)
        if not wanted or verdict.claim in wanted
    ]
    for line in verdict_lines(all_claims(), verdicts, show_all=show_all):
        typer.echo(line)
    for verdict in verdicts:
        if verdict.outcome is Outcome.FAILED:
            echo_block(all_claims()[verdict.claim], run, verdict)
    for note in (*gaps, *remarks):
        typer.echo(f"note: {printable(note)}")
    if run.error:
        typer.echo(f"note: {printable(run.error)}; what is missing could change any verdict")
    if save is not None:
        write_history(save, run.header, run.entries)
        typer.echo(f"history: {save}")
    if page is not None and verdicts:
        _, shown = worst_of((run, verdict) for verdict in verdicts)
        text = failure_page(all_claims()[shown.claim], run, shown, command=command)
        page.write_text(text, encoding="utf-8")
        typer.echo(f"page: {page}")
    raise typer.Exit(_exit_code(verdicts, whole=not run.error and not gaps))


def _stored(path: Path) -> RunResult:
    from vocabulary.history import Mark, read_history

    header, entries, whole = read_history(path)
    # One that was written while its run went on has whole lines, but no end.
    whole = whole and any(isinstance(entry, Mark) and entry.mark == "end" for entry in entries)
    return _as_run(
        f"Recorded history {path.name}",
        header,
        entries,
        "" if whole else "the history was cut short",
    )


def _recorded(
    logs: Sequence[Path],
    operator_user: str,
    parameters: dict[str, Any] | None,
    latency_us: Micros | None,
) -> tuple[RunResult, Sequence[str], Sequence[str]]:
    """The logs as one run, what they lack, and what else is to be said."""
    from conformance.audit_log.events import read_log
    from conformance.audit_log.history import to_history

    log = read_log(logs)
    name = logs[0].name
    found = to_history(
        log,
        name,
        operator_user=operator_user,
        parameters=parameters or {},
        detection_latency_us=latency_us,
    )
    remarks = list(found.remarks)
    if parameters is None:
        remarks.append("no --config: judged by the norm's default durations and limits")
    cut = ", ".join(str(path) for path in log.truncated)
    error = f"{cut}: was cut short" if cut else ""
    gaps = list(found.gaps)
    if cut and len(logs) > 1:
        gaps.append("Of several logs one was cut short: what the others go on with has a gap.")
    return _as_run(f"Audit log {name}", found.header, found.entries, error), gaps, remarks


def _doubted(verdict: Verdict) -> Verdict:
    """With gaps, a contradiction may be one with a state that lasted less long than it seems."""
    import msgspec

    from conformance.verdict import Outcome

    if verdict.outcome is not Outcome.FAILED:
        return verdict
    because = f"What the log shows contradicts it, but it has gaps: {verdict.because}"
    return msgspec.structs.replace(verdict, outcome=Outcome.INCONCLUSIVE, because=because)


def _as_run(title: str, header: Header, entries: Sequence[Entry], error: str) -> RunResult:
    import msgspec

    from conformance.report.stored_run import recorded_run

    return msgspec.structs.replace(recorded_run(header, entries), title=title, error=error)


def _configuration(path: Path | None) -> dict[str, Any] | None:
    """The operator's configuration: the file, or its section `appwrapper` and what is beside it."""
    from conformance.cli.problems import BadInputError
    from conformance.history_view import parameters
    from vocabulary.safe_yaml import load_yaml_file

    if path is None:
        return None
    data = load_yaml_file(path)
    if not isinstance(data, dict):
        raise BadInputError(f"{path}: expected a map, the operator's config file")
    section = data.get("appwrapper", data)
    if not isinstance(section, dict):
        raise BadInputError(f"{path}: appwrapper: expected a map")
    found = dict(section)
    if "webhooksEnabled" in data:
        found["webhooksEnabled"] = data["webhooksEnabled"]
    if not isinstance(found.get("faultTolerance", {}), dict):
        raise BadInputError(f"{path}: faultTolerance: expected a map")
    try:
        configured = parameters.OperatorParameters(found)
        for name in (
            parameters.ADMISSION_GRACE,
            parameters.WARMUP_GRACE,
            parameters.FAILURE_GRACE,
            parameters.RETRY_PAUSE,
            parameters.RETRY_LIMIT,
            parameters.FORCEFUL_DELETION_GRACE,
            parameters.SUCCESS_TTL,
        ):
            configured.of(name, None)
    except ValueError as error:
        text = str(error).removeprefix("header.parameters.")
        raise BadInputError(f"{path}: {text}") from error
    return found


def _latency_us(text: str) -> Micros | None:
    from conformance.cli.problems import BadInputError
    from vocabulary.durations import parse_duration

    try:
        return parse_duration(text) if text else None
    except ValueError as error:
        raise BadInputError(f"--detection-latency: {error}") from error


def _exit_code(verdicts: Sequence[Verdict], *, whole: bool) -> ExitCode:
    """1 for a violation; 3 if a part is missing or nothing was armed; 0 otherwise."""
    from conformance.verdict import Outcome

    if any(verdict.outcome is Outcome.FAILED for verdict in verdicts):
        return ExitCode.VIOLATED
    if whole and any(verdict.outcome is Outcome.PASSED for verdict in verdicts):
        return ExitCode.CONFORMANT
    return ExitCode.INCONCLUSIVE
