"""Where `assay run` runs: one context manager per cluster, from what was asked for to options.

Each looks at its cluster, or makes one, before the suite begins, and puts away afterwards what
it made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Final, TypeAlias

from conformance.cli import existing, kind
from conformance.cli.problems import BadInputError
from conformance.cli.run_arguments import DEFAULT_TIME_LIMIT, FOR_EVER, RunArguments
from conformance.running.run_options import RunOptions

Ground: TypeAlias = Callable[
    [RunArguments, RunOptions, Sequence[str]], AbstractContextManager[RunOptions, bool | None]
]
"""(what was asked for, the options as far as they are known, what is to be run) → the options of
that suite, for as long as it runs."""


@contextmanager
def _of_the_suites_own(
    _asked: RunArguments, options: RunOptions, _words: Sequence[str]
) -> Iterator[RunOptions]:
    """Simulated, or a control plane: the runner of the scenarios starts and ends it."""
    yield options


@contextmanager
def _existing(
    asked: RunArguments, options: RunOptions, words: Sequence[str]
) -> Iterator[RunOptions]:
    """Another client's: examined, and agreed upon, before anything is done there."""
    from clusters.control_plane.ports import LOOPBACK
    from conformance.profiles.choosing import all_under_test
    from conformance.running.suite import roles_of, select
    from conformance.running.why_not_run import why_one_process

    chosen = select(words, one_case=asked.one_case)
    roles = roles_of(chosen)
    undertaking = existing.examined(
        existing.access(asked.kubeconfig, asked.context),
        all_under_test(asked.implementation, roles),
        existing.limits(asked.time_limit or DEFAULT_TIME_LIMIT, asked.object_limit),
        node_selector=asked.node_selector,
        audit_log=asked.audit_log,
        webhook_host=asked.webhook_host or LOOPBACK,
        pod_image=asked.pod_image,
        operator_image=asked.operator_image,
    )
    if asked.crash_points and not undertaking.tells_writers:
        raise BadInputError("--crash-points: operators need accounts of their own for that")
    one_process = why_one_process(asked.implementation, roles)
    existing.agree(undertaking, chosen, one_process, yes=asked.yes)
    yield replace(options, undertaking=undertaking)


@contextmanager
def _kind(asked: RunArguments, options: RunOptions, words: Sequence[str]) -> Iterator[RunOptions]:
    """In containers: made, or found, and deleted again."""
    from conformance.profiles.choosing import all_under_test
    from conformance.running.suite import roles_of, select
    from conformance.worlds.kind.options import KindOptions

    wanted = KindOptions(
        cluster_name=asked.cluster_name,
        kind_bin=asked.kind_bin,
        kind_image=asked.kind_image,
        kubeconfig=asked.kubeconfig,
        keep_cluster=asked.keep_cluster,
        workers=asked.workers,
        download=asked.download,
    )
    with kind.provided(
        wanted,
        options,
        all_under_test(asked.implementation, roles_of(select(words, one_case=asked.one_case))),
        pod_image=asked.pod_image,
        operator_image=asked.operator_image,
        webhook_host=asked.webhook_host,
        limits=existing.limits(asked.time_limit or FOR_EVER, asked.object_limit),
    ) as provided:
        yield provided


GROUNDS: Final[Mapping[str, Ground]] = {
    "simulated": _of_the_suites_own,
    "control-plane": _of_the_suites_own,
    "kind": _kind,
    "existing": _existing,
}
