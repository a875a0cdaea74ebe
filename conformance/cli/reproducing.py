"""The command that a report names to have its suite run again."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Final

import typer

from vocabulary import suite_path

AFTERWARDS: Final = frozenset(
    {
        *("out", "jobs", "no_shrink", "allure", "show_all", "quiet", "yes"),
        *("last_failed", "exit_first", "resume", "dask", "merged"),
        *("cluster_folder", "cluster_name", "keep_cluster", "kind_bin", "download"),
    }
)
"""Options for how and where the suite runs, and for its output; they do not affect verdicts."""
ALWAYS: Final = "seed"
"""Reported even if it is the default, which another release may change."""


def command(
    words: Sequence[str],
    context: typer.Context,
    verb: str = "run",
    *,
    without: Collection[str] = (),
) -> str:
    """`assay run`, or another command that makes runs, with all that was asked for and decides the
    outcome; `words` is its selection. `without` names parameters that are left out.

    No option takes a secret; a kubeconfig, which holds some, is named by its path.
    """
    return shlex.join(["assay", *suite_path.options(), verb, *words, *_options(context, without)])


def _options(context: typer.Context, without: Collection[str]) -> Iterator[str]:
    for parameter in context.command.params:
        name = str(parameter.name)
        value: Any = context.params.get(name)
        is_usual = value == parameter.get_default(context) and name != ALWAYS
        if parameter.param_type_name != "option" or is_usual or name in {*AFTERWARDS, *without}:
            continue
        flag = max(parameter.opts, key=len)
        for each in value if isinstance(value, list | tuple) else [value]:
            yield from (flag,) if each is True else (flag, str(each))
