"""Shows how far a Go build has come, module by module."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from clusters.control_plane import BuildStep


@contextmanager
def showing_build() -> Iterator[Callable[[BuildStep], None]]:
    """The callback for build steps: bars on a terminal, else a line for each change."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    console = Console()
    if not console.is_terminal:
        yield _plain_steps()
        return
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

        yield show


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
