"""A kind cluster for one command: made, looked at, used and deleted."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.cli import existing
from conformance.running.run_options import RunOptions

if TYPE_CHECKING:
    from conformance.implementations.under_test import UnderTest
    from conformance.worlds.existing.preflight import Limits
    from conformance.worlds.kind.options import KindOptions


@contextmanager
def provided(
    asked_for: KindOptions,
    options: RunOptions,
    implementations: Mapping[str, UnderTest],
    *,
    pod_image: str,
    operator_image: str,
    webhook_host: str,
    limits: Limits,
) -> Iterator[RunOptions]:
    """The options of a suite that runs on a kind cluster, for as long as there is one."""
    from conformance.worlds.kind import cluster

    with cluster.provided(asked_for) as found:
        undertaking = existing.checked(
            lambda: cluster.undertaking(
                found,
                implementations,
                pod_image=pod_image,
                operator_image=operator_image,
                webhook_host=webhook_host,
                limits=limits,
            )
        )
        yield replace(options, undertaking=undertaking, nodes=found.nodes)
        if asked_for.keep_cluster:
            sys.stderr.write(f"kind cluster {asked_for.cluster_name} is kept\n")
