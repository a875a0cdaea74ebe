"""`assay check`: judge a stored history, or an audit log from elsewhere, by today's claims."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import AUDIT_LOG, CONFIGURATION, HISTORY, only

if TYPE_CHECKING:
    from conformance.cli.recordings import Recording
    from conformance.norm.verdict import Verdict


def check(
    history: Annotated[
        Path | None,
        typer.Argument(help="A history file (.jsonl or .jsonl.gz).", callback=only(HISTORY)),
    ] = None,
    *,
    audit_log: Annotated[
        list[Path] | None,
        typer.Option(
            help="An API server's audit log instead (JSON lines, may be gzip); may be repeated, "
            "for further API servers and rotated files.",
            callback=only(AUDIT_LOG),
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
        Path | None,
        typer.Option(
            help="The configuration that the recorded operator ran with.",
            callback=only(CONFIGURATION),
        ),
    ] = None,
    detection_latency: Annotated[
        str,
        typer.Option(
            metavar="DURATION",
            help="How late the recorded operator may notice something (as 2s, 1m); "
            "not given: as late as one that polls once a minute.",
        ),
    ] = "",
    edition: Annotated[
        str,
        typer.Option(
            help="The edition of the claims that an audit log is evaluated by, as for assay run; "
            "a history names its own.",
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
    assay check .assay/histories/$SUITE-slow-pods-1729.jsonl.gz
    assay check run.jsonl.gz --claim AW-015 --page aw-015.html
    assay check --audit-log audit.log --config operator.yaml \\
        --operator-user system:serviceaccount:$SUITE-system:$SUITE-controller-manager

    A recording that was cut short is judged as far as it goes; then no claim counts as passed.
    What an audit log lacks (requests below level RequestResponse, other API servers' requests)
    is said; claims that need it are inconclusive, and nothing counts as violated.
    """
    from conformance.cli.judging import claim_named, require_judged
    from conformance.cli.problems import BadInputError
    from conformance.cli.recordings import of_audit_logs, of_history
    from vocabulary.history import write_history

    wanted = {claim_named(word).id for word in claim or ()}
    if (history is None) == (not audit_log):
        raise BadInputError("give one of the two: a history file, or --audit-log FILE")
    if history is None:
        found = of_audit_logs(audit_log or (), operator_user, config, detection_latency, edition)
    elif operator_user or config or detection_latency or edition or save:
        raise BadInputError(
            "--operator-user, --config, --detection-latency, --edition and --save belong to "
            "--audit-log; "
            "a history says all that itself"
        )
    else:
        found = of_history(history)
    require_judged(found.run.header, wanted)
    verdicts = found.verdicts(wanted or None)
    _show(found, verdicts, show_all=show_all)
    if save is not None:
        write_history(save, found.run.header, found.run.entries)
        typer.echo(f"history: {save}")
    if page is not None and verdicts:
        _write_page(page, found, verdicts)
    raise typer.Exit(_exit_code(verdicts, whole=found.is_whole))


def _show(found: Recording, verdicts: Sequence[Verdict], *, show_all: bool) -> None:
    """A line per claim, a block per violation, and what the recording lacks."""
    from conformance.cli.ending import echo_block, echo_checker_errors, verdict_lines
    from conformance.cli.judging import all_claims
    from conformance.report.failures import by_entry
    from conformance.report.untrusted import printable

    for line in verdict_lines(all_claims(), verdicts, show_all=show_all):
        typer.echo(line)
    if found.gaps and not any(verdict.armed for verdict in verdicts):
        typer.echo("? inconclusive: no claim can be evaluated with what the log lacks")
    for broken in by_entry(verdicts):
        echo_block(broken, found.run)
    echo_checker_errors(found.run.scenario, verdicts)
    for note in (*found.gaps, *found.remarks):
        typer.echo(f"note: {printable(note)}")
    if found.unseen:
        typer.echo("to evaluate them, put these lines first in the rules of the audit policy:")
        for line in _policy(found.unseen):
            typer.echo(line)
    if found.run.error:
        typer.echo(f"note: {printable(found.run.error)}; what is missing could change any verdict")


def _policy(resources: Iterable[str]) -> Iterator[str]:
    """A rule of an audit policy that records what becomes of these resources (`jobs.batch`)."""
    yield "  - level: RequestResponse"
    yield "    omitStages: [RequestReceived]"
    yield "    verbs: [create, update, patch, delete, deletecollection]"
    yield "    resources:"
    for resource in resources:
        plural, _, group = resource.partition(".")
        of = ("binding", "eviction", "status") if resource == "pods" else ("status",)
        names = ", ".join([plural, *(f"{plural}/{each}" for each in of)])
        yield f'    - {{group: "{group}", resources: [{names}]}}'


def _write_page(page: Path, found: Recording, verdicts: Sequence[Verdict]) -> None:
    from conformance.cli.judging import all_claims
    from conformance.report.failures import to_show
    from conformance.report.pages.failure_page import failure_page
    from conformance.report.replacing import write_whole

    shown = [(all_claims()[verdict.claim], verdict) for verdict in to_show(verdicts)]
    text = failure_page(shown, found.run, command=found.command)
    write_whole(page, text)
    typer.echo(f"page: {page}")


def _exit_code(verdicts: Sequence[Verdict], *, whole: bool) -> ExitCode:
    """1 for a violation; 3 if a part is missing, a checker failed or nothing was armed; else 0."""
    from conformance.norm.verdict import Outcome

    if any(verdict.outcome is Outcome.FAILED for verdict in verdicts):
        return ExitCode.VIOLATED
    if any(verdict.error for verdict in verdicts):
        return ExitCode.INCONCLUSIVE
    if whole and any(verdict.outcome is Outcome.PASSED for verdict in verdicts):
        return ExitCode.CONFORMANT
    return ExitCode.INCONCLUSIVE
