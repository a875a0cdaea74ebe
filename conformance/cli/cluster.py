"""`assay cluster`: a real control plane on this machine, built once, up in seconds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from conformance.cli.exit_code import ExitCode

if TYPE_CHECKING:
    from fixtures.control_plane import BuildStep

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
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    from fixtures.control_plane import build as build_programs

    console = Console()
    if not console.is_terminal:
        folder = build_programs(_plain_steps())
    else:
        with Progress(
            TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console
        ) as progress:
            tasks: dict[str, TaskID] = {}

            def show(step: BuildStep) -> None:
                if step.module not in tasks:
                    tasks[step.module] = progress.add_task("", total=None)
                is_done = step.state in ("cached", "built")
                progress.update(
                    tasks[step.module],
                    description=_step_text(step),
                    completed=1 if is_done else step.done,
                    total=1 if is_done else step.total or None,
                )

            folder = build_programs(show)
    typer.echo(f"programs: {folder}")


def _plain_steps() -> Callable[[BuildStep], None]:
    """Tells each module's changes of state, and not every package."""
    told: dict[str, str] = {}

    def show(step: BuildStep) -> None:
        if told.get(step.module) != step.state:
            told[step.module] = step.state
            typer.echo(_step_text(step))

    return show


def _step_text(step: BuildStep) -> str:
    """`kubernetes: building 312/1480 packages (41 s)`."""
    packages = f" {step.done}/{step.total} packages" if step.state == "building" else ""
    took = f" ({step.seconds:.0f} s)" if step.seconds >= 1 else ""
    return f"{step.module}: {step.state}{packages}{took}"


@app.command("up")
def up(
    folder: Folder = DEFAULT_FOLDER,
    nodes: Annotated[int, typer.Option(help="How many KWOK nodes.", min=0, max=5_000)] = 4,
) -> None:
    """Start a control plane that stays up when this command ends, ready for the suite.

    \b
    assay cluster up
    kubectl --kubeconfig PATH get nodes       the path is printed
    assay run --cluster control-plane --cluster-folder .assay/cluster
    assay cluster down
    """
    from conformance.implementation import implementation
    from conformance.scenarios import all_crds
    from conformance.worlds.control_plane.plane_session import SHARED
    from conformance.worlds.control_plane.session import installed_crds
    from fixtures.control_plane import up as start

    crds = installed_crds(implementation("reference"), all_crds())
    plane = start(folder, detached=True, settings=SHARED, crds=crds, node_count=nodes)
    typer.echo(f"server: {plane.server}")
    typer.echo(f"kubeconfig: {plane.kubeconfig()}")


@app.command("down")
def down(folder: Folder = DEFAULT_FOLDER) -> None:
    """End the control plane and all its processes."""
    from fixtures.control_plane import down as stop

    typer.echo("stopped" if stop(folder) else f"no control plane runs from {folder}")


@app.command("status")
def status(folder: Folder = DEFAULT_FOLDER) -> None:
    """Show the components, their processes and whether they are ready.

    Exit code 0: all are ready. 4: there is none, or not all are.
    """
    from fixtures.control_plane import status as status_of

    found = status_of(folder)
    if found is None:
        typer.echo(f"no control plane in {folder}; start one with: assay cluster up")
        raise typer.Exit(ExitCode.ENVIRONMENT)
    typer.echo(f"server: {found.server}\nkubeconfig: {found.kubeconfig}")
    for part in found.components:
        memory = f"{part.memory_bytes / 1024**2:.0f} MiB" if part.memory_bytes else ""
        typer.echo(f"{part.name:<28} {part.condition:<10} pid {part.pid or '–'!s:<8} {memory}")
    if not found.ready:
        raise typer.Exit(ExitCode.ENVIRONMENT)
