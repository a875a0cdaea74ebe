"""Commands that are given their many arguments as one value."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Any, Final, TypeVar, get_type_hints

import typer

Arguments = TypeVar("Arguments")
_TYPED: Final = inspect.Parameter(
    "typed", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context
)


def taking(
    arguments: type[Arguments],
) -> Callable[[Callable[[Arguments, typer.Context], None]], Callable[..., None]]:
    """Of a command (arguments, typer's context), one that typer knows how to call.

    `arguments` is a dataclass; its fields are annotated as typer's parameters are.
    """

    def command_of(command: Callable[[Arguments, typer.Context], None]) -> Callable[..., None]:
        # Typer reads the signature; annotations it would look up in the command's module.
        @wraps(command, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        def with_arguments(typed: typer.Context, **given: Any) -> None:
            command(arguments(**given), typed)

        signature = inspect.Signature([_TYPED, *_parameters(arguments)])
        with_arguments.__annotations__ = {}
        with_arguments.__signature__ = signature  # type: ignore[attr-defined]
        return with_arguments

    return command_of


def _parameters(arguments: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(arguments, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[field.name],
        )
        for field in fields(arguments)
    ]
