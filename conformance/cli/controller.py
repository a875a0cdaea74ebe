"""`assay controller`: reference controllers as operators on a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode
from conformance.cli.file_kinds import CONFIGURATION, KUBECONFIG, only

_Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The program; a name that is none shows all.")
]

app = typer.Typer(help="The reference controllers, as operators.", no_args_is_help=True)


@app.command("run")
def run(
    name: _Name,
    *,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            help="Default: in-cluster, $KUBECONFIG, ~/.kube/config.", callback=only(KUBECONFIG)
        ),
    ] = None,
    context: Annotated[str | None, typer.Option(help="The kubeconfig's context.")] = None,
    namespace: Annotated[str, typer.Option(help="Only this namespace; empty: all.")] = "",
    config: Annotated[
        Path | None,
        typer.Option(
            help="The operator's configuration, as the released one's.",
            callback=only(CONFIGURATION),
        ),
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
    webhook_port: Annotated[int | None, typer.Option(help="/mutate, /validate, /convert.")] = None,
    webhook_certificate: Annotated[Path | None, typer.Option(help="PEM file.")] = None,
    webhook_key: Annotated[Path | None, typer.Option(help="PEM file.")] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning, error.")] = "info",
) -> None:
    """Run a reference controller until it is stopped (SIGTERM, Ctrl-C).

    \b
    assay controller run NAME --kubeconfig ~/.kube/config --leader-elect
    assay controller run NAME --health-port 8081 --metrics-port 8081
    """
    from reference_controller import programs
    from reference_controller.runtime import logs
    from reference_controller.runtime.options import OperatorOptions
    from reference_controller.runtime.process import run as run_program

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
    logs.set_up(options.log_level)
    code = run_program(programs.load(name).program(options), options)
    # The process has said why; 1 would read as a violated claim.
    raise typer.Exit(ExitCode.ENVIRONMENT if code == 1 else code)


@app.command("manifests")
def manifests(
    name: _Name,
    *,
    image: Annotated[
        str, typer.Option(help="An image whose entry point is assay.")
    ] = "assay:latest",
    no_webhooks: Annotated[
        bool,
        typer.Option(
            "--no-webhooks",
            help="Leave out the webhooks. Where containers only seem to run, nobody would answer "
            "them, and every object that they concern would be refused.",
        ),
    ] = False,
) -> None:
    """Print the manifests that install a reference controller in a cluster, as YAML.

    The certificate of its webhooks is a new one each time.

    \b
    assay controller manifests NAME --image registry.example.org/assay:1.0 | kubectl apply -f -

    The nodes of `assay cluster up` are fake: there the controller runs as a process instead.

    \b
    assay controller manifests NAME --no-webhooks | kubectl apply -f -
    assay controller run NAME --kubeconfig .assay/cluster/kubeconfig
    """
    from reference_controller import programs

    text = programs.load(name).manifests.installation(image, with_webhooks=not no_webhooks)
    typer.echo(text, nl=False)
