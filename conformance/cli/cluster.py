"""`assay cluster`: a real control plane on this machine, built once, up in seconds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.exit_code import ExitCode

app = typer.Typer(
    help="A real control plane (etcd, kube-apiserver, controller manager, scheduler, KWOK nodes).",
    no_args_is_help=True,
)
Folder = Annotated[Path, typer.Option("--folder", help="Where the cluster keeps its files.")]
DEFAULT_FOLDER = Path(".assay/cluster")


@app.command("build")
def build() -> None:
    """Build the control plane's programs from their Go modules into the cache; once.

    Takes some minutes the first time. Programs in KUBEBUILDER_ASSETS or on PATH need no build.
    """
    from clusters.control_plane import build as build_programs
    from conformance.cli.building import showing_build

    with showing_build() as show:
        folder = build_programs(show)
    typer.echo(f"programs: {folder}")


@app.command("up")
def up(
    folder: Folder = DEFAULT_FOLDER,
    nodes: Annotated[int, typer.Option(help="How many KWOK nodes.", min=0, max=5_000)] = 4,
    implementation: Annotated[
        str,
        typer.Option(help="Whose definitions of custom resources it gets, as for `assay run`."),
    ] = "reference",
) -> None:
    """Start a control plane that stays up when this command ends, ready for the suite.

    \b
    assay cluster up
    kubectl --kubeconfig PATH get nodes       the path is printed
    assay run --cluster control-plane --cluster-folder .assay/cluster
    assay cluster down
    """
    from clusters.control_plane import up as start
    from conformance.profiles.choosing import all_under_test, unfilled
    from conformance.running.suite import roles_of
    from conformance.scenarios import SCENARIOS, all_crds
    from conformance.worlds.control_plane.plane_session import SHARED
    from conformance.worlds.control_plane.session import installed_crds

    roles = roles_of(SCENARIOS.values())
    roles = tuple(role for role in roles if role not in unfilled(implementation, roles))
    crds = installed_crds(all_under_test(implementation, roles), all_crds())
    plane = start(folder, detached=True, settings=SHARED, crds=crds, node_count=nodes)
    typer.echo(f"server: {plane.server}")
    typer.echo(f"kubeconfig: {plane.kubeconfig()}")


@app.command("down")
def down(folder: Folder = DEFAULT_FOLDER) -> None:
    """End the control plane and all its processes."""
    from clusters.control_plane import down as stop

    typer.echo("stopped" if stop(folder) else f"no control plane runs from {folder}")


@app.command("status")
def status(folder: Folder = DEFAULT_FOLDER) -> None:
    """Show the components, their processes and whether they are ready.

    Exit code 0: all are ready. 4: there is none, or not all are.
    """
    from clusters.control_plane import status as status_of

    found = status_of(folder)
    if found is None:
        typer.echo(f"no control plane in {folder}; start one with: assay cluster up")
        raise typer.Exit(ExitCode.ENVIRONMENT)
    if all(part.pid is None for part in found.components):
        typer.echo(f"the control plane in {folder} is down; start a new one with: assay cluster up")
        raise typer.Exit(ExitCode.ENVIRONMENT)
    typer.echo(f"server: {found.server}\nkubeconfig: {found.kubeconfig}")
    for part in found.components:
        memory = f"{part.memory_bytes / 1024**2:.0f} MiB" if part.memory_bytes else ""
        typer.echo(f"{part.name:<28} {part.condition:<10} pid {part.pid or '–'!s:<8} {memory}")
    if not found.ready:
        raise typer.Exit(ExitCode.ENVIRONMENT)
