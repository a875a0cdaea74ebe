"""Before a suite touches another client's cluster: what is there, what will be done, and
consent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.problems import BadInputError

NO_CLUSTER: Final = (
    "no cluster is known here: there is neither $KUBECONFIG nor ~/.kube/config; "
    "name one with --kubeconfig FILE"
)

if TYPE_CHECKING:
    from conformance.implementations.under_test import UnderTest
    from conformance.scenario_type import Scenario
    from conformance.worlds.existing.access import Access
    from conformance.worlds.existing.preflight import Limits, Undertaking


def limits(time_limit: str, object_limit: int) -> Limits:
    """The options as limits; BadInputError if the time is no duration."""
    from conformance.worlds.existing.preflight import Limits
    from vocabulary.durations import parse_duration

    try:
        time_us = parse_duration(time_limit)
    except ValueError as error:
        raise BadInputError(f"--time-limit: {error}; write 90m or 2h") from error
    if time_us <= 0:
        raise BadInputError(f"--time-limit: {time_limit} leaves no time; write 90m or 2h")
    return Limits(time_us=time_us, objects=object_limit)


def access(kubeconfig: Path | None, context: str) -> Access:
    """The way to the cluster; BadInputError if there is no such file. Ends the command if none is
    named, nor known here."""
    from conformance.worlds.existing.access import Access
    from reference_controller.runtime.connection import knows_a_cluster

    if kubeconfig is None and not context and not knows_a_cluster():
        typer.echo(f"assay: {NO_CLUSTER}", err=True)
        raise typer.Exit(ExitCode.ENVIRONMENT)
    if kubeconfig is not None and not kubeconfig.is_file():
        raise BadInputError(f"{kubeconfig}: there is no such kubeconfig; name one that is there")
    return Access(kubeconfig, context)


def examined(
    access: Access,
    implementations: Mapping[str, UnderTest],
    limits: Limits,
    *,
    node_selector: str,
    audit_log: Path | None,
    webhook_host: str,
    pod_image: str,
    operator_image: str,
) -> Undertaking:
    """Return the preflight's result for the cluster. Exits if it has any problem."""
    from conformance.scenarios import all_crds
    from conformance.worlds.existing.preflight import examine

    return checked(
        lambda: examine(
            access,
            limits,
            implementations,
            all_crds(),
            node_selector=node_selector,
            audit_log=audit_log,
            webhook_host=webhook_host,
            pod_image=pod_image,
            operator_image=operator_image,
        )
    )


def checked(look: Callable[[], Undertaking]) -> Undertaking:
    """Return the result of a look at a cluster. Exits and reports every problem, if any."""
    from conformance.report.untrusted import printable
    from conformance.worlds.existing.preflight import lacking_in_words
    from vocabulary.errors import ApiError

    try:
        undertaking = look()
    except ApiError as error:
        typer.echo(
            f"assay: the cluster cannot be used: {printable(error.message)}; see whether "
            "kubectl reaches it, and name another with --kubeconfig or --context",
            err=True,
        )
        raise typer.Exit(ExitCode.ENVIRONMENT) from error
    if undertaking.problems:
        for problem in (*undertaking.problems, *lacking_in_words(undertaking)):
            typer.echo(printable(problem), err=True)
        raise typer.Exit(ExitCode.ENVIRONMENT)
    return undertaking


def agree(
    undertaking: Undertaking, chosen: Sequence[Scenario], one_process: str = "", *, yes: bool
) -> None:
    """Show the planned changes, and ask for confirmation; BadInputError without a terminal.

    `one_process`: see `conformance.running.why_not_run.reason_not_run`.
    """
    from conformance.report.untrusted import printable
    from conformance.running.why_not_run import not_run
    from conformance.worlds.existing.preflight import in_words

    left_out = not_run(chosen, "existing", undertaking, one_process)
    for line in (*in_words(undertaking), *left_out):
        typer.echo(printable(line))
    if yes:
        return
    if not sys.stdin.isatty():
        raise BadInputError("nothing was done: there is no terminal to ask on; add --yes to go on")
    if not typer.confirm("Go on?"):
        raise BadInputError("nothing was done, since that was not agreed to")
