"""`assay controller run`: the reference controller as an operator on a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from reference_controller.runtime.options import OperatorOptions
    from reference_controller.runtime.process import Program

app = typer.Typer(help="The reference controllers, as operators.", no_args_is_help=True)


@app.callback()
def controller() -> None:
    """Keeps `run` a sub-command of its own."""


@app.command("run")
def run(
    name: Annotated[str, typer.Argument(help="Which controller: appwrapper.")] = "appwrapper",
    *,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Default: in-cluster, $KUBECONFIG, ~/.kube/config.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="The kubeconfig's context.")] = None,
    namespace: Annotated[str, typer.Option(help="Only this namespace; empty: all.")] = "",
    config: Annotated[
        Path | None, typer.Option(help="The operator's configuration, as the released one's.")
    ] = None,
    mutant: Annotated[
        str | None, typer.Option(help="Run this mutant instead of the sound controller.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Reconciles side by side.", min=1)] = 4,
    leader_elect: Annotated[
        bool, typer.Option("--leader-elect", help="Act only while holding the Lease.")
    ] = False,
    identity: Annotated[str, typer.Option(help="This replica's name in the Lease.")] = "",
    lease_namespace: Annotated[str, typer.Option(help="Default: the process' own.")] = "",
    listen_host: Annotated[str, typer.Option(help="0.0.0.0 in a pod.")] = "127.0.0.1",
    health_port: Annotated[int | None, typer.Option(help="/healthz and /readyz.")] = None,
    metrics_port: Annotated[int | None, typer.Option(help="/metrics.")] = None,
    webhook_port: Annotated[int | None, typer.Option(help="/mutate and /validate.")] = None,
    webhook_certificate: Annotated[Path | None, typer.Option(help="PEM file.")] = None,
    webhook_key: Annotated[Path | None, typer.Option(help="PEM file.")] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning, error.")] = "info",
) -> None:
    """Run a reference controller until it is told to stop (SIGTERM, Ctrl-C).

    \b
    assay controller run appwrapper --kubeconfig ~/.kube/config --leader-elect
    assay controller run appwrapper --health-port 8081 --metrics-port 8081
    """
    from reference_controller.runtime.options import OperatorOptions
    from reference_controller.runtime.process import run as run_operator

    options = OperatorOptions(
        kubeconfig=kubeconfig,
        context=context,
        namespace=namespace,
        config_file=config,
        mutant=mutant,
        workers=workers,
        leader_elect=leader_elect,
        identity=identity,
        lease_namespace=lease_namespace,
        listen_host=listen_host,
        health_port=health_port,
        metrics_port=metrics_port,
        webhook_port=webhook_port,
        webhook_certificate=webhook_certificate,
        webhook_key=webhook_key,
        log_level=log_level,
    )
    code = run_operator(_program(name, options), options)
    # The process has said why; 1 would read as a violated claim.
    raise typer.Exit(ExitCode.ENVIRONMENT if code == 1 else code)


def _program(name: str, options: OperatorOptions) -> Program:
    from conformance.cli.problems import BadInputError
    from reference_controller import appwrapper
    from reference_controller.appwrapper.admission import UserInfo as AdmissionUser
    from reference_controller.appwrapper.admission import admit
    from reference_controller.appwrapper.mutants import MUTANTS
    from reference_controller.runtime.admission_review import Operation, UserInfo
    from reference_controller.runtime.process import Program
    from reference_controller.runtime.wall_clock import now_us
    from vocabulary.kinds import APPWRAPPER
    from vocabulary.objects import Object
    from vocabulary.safe_yaml import load_yaml_file

    if name != "appwrapper":
        raise BadInputError(f"there is no controller {name!r}; there is: appwrapper")
    if options.mutant is not None and options.mutant not in MUTANTS:
        raise BadInputError(
            f"there is no mutant {options.mutant!r}; list them with: assay mutants --list"
        )
    data = load_yaml_file(options.config_file) if options.config_file else {}
    config = appwrapper.OperatorConfig.from_data(data or {})
    rules = MUTANTS[options.mutant].rules() if options.mutant else appwrapper.Rules()

    def admit_reviewed(
        operation: Operation, new: Object, old: Object | None, user: UserInfo
    ) -> Object:
        who = AdmissionUser(username=user.username, uid=user.uid, groups=user.groups)
        return admit(operation, new, old, who, config, rules=rules)

    return Program(
        name="appwrapper",
        controller=appwrapper.controller(config, rules, now_us),
        primary=APPWRAPPER,
        admit=admit_reviewed,
    )
