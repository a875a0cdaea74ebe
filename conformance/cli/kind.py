"""A kind cluster for one command: made, looked at, used and deleted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from conformance.cli import existing
from conformance.running.run_options import RunOptions

if TYPE_CHECKING:
    from conformance.worlds.existing.preflight import Limits
    from conformance.worlds.kind.options import KindOptions


@contextmanager
def provided(
    asked_for: KindOptions,
    options: RunOptions,
    *,
    pod_image: str,
    operator_image: str,
    webhook_host: str,
    limits: Limits,
) -> Iterator[RunOptions]:
    """The options of a suite that runs on a kind cluster, for as long as there is one."""
    from conformance.profiles.choosing import under_test
    from conformance.worlds.kind import cluster

    with cluster.provided(asked_for) as found:
        undertaking = existing.checked(
            lambda: cluster.undertaking(
                found,
                under_test(options.implementation),
                pod_image=pod_image,
                operator_image=operator_image,
                webhook_host=webhook_host,
                limits=limits,
            )
        )
        yield replace(options, undertaking=undertaking, nodes=found.nodes)
        if asked_for.keep_cluster:
            sys.stderr.write(f"kind cluster {asked_for.cluster_name} is kept\n")
