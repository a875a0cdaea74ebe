"""Names in the examples of help texts: those of a suite that is installed."""

from __future__ import annotations

from typing import Final

import typer

from conformance.suite import names
from vocabulary.entry_points import EntryPointError

SUITE: Final = "$SUITE"
"""Text that help texts have for the name of a suite."""


def name_examples(app: typer.Typer) -> None:
    """Write the name of the first suite into the help of each command and each group."""
    try:
        name = next(iter(names()), SUITE)
    except EntryPointError:
        name = SUITE  # what is wrong with the installation is for the command to say
    _fill_in(app, name)


def _fill_in(app: typer.Typer, name: str) -> None:
    for command in app.registered_commands:
        if command.callback is not None and command.callback.__doc__:
            command.callback.__doc__ = command.callback.__doc__.replace(SUITE, name)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _fill_in(group.typer_instance, name)
