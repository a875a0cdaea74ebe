"""Changes between two reports, on the terminal."""

from __future__ import annotations

import typer

from conformance.report.comparison import Comparison


def echo_changes(comparison: Comparison) -> None:
    """Each claim that changed, and an empty line; nothing if none did."""
    from rich.console import Console

    from conformance.report.comparison_text import changes_told

    changes = list(changes_told(comparison))
    console = Console(highlight=False)
    for change in changes:
        console.print(change)
    if changes:
        typer.echo("")
