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
    from conformance.worlds.kind.options import KindOptions

TIME_LIMIT = "48h"
"""The cluster is nobody else's, so this only bounds how long its tokens are good for."""
OBJECT_LIMIT = 1000


@contextmanager
def provided(
    asked_for: KindOptions, options: RunOptions, *, pod_image: str, webhook_host: str
) -> Iterator[RunOptions]:
    """The options of a suite that runs on a kind cluster, for as long as there is one."""
    from conformance.worlds.kind import cluster
    from conformance.worlds.kind.configuration import USABLE

    with cluster.provided(asked_for) as found:
        undertaking = existing.examined(
            found.access,
            options.implementation,
            existing.limits(TIME_LIMIT, OBJECT_LIMIT),
            node_selector=USABLE,
            audit_log=found.audit_log,
            webhook_host=webhook_host or found.nodes.gateway(),
            pod_image=pod_image or found.pod_image,
        )
        yield replace(options, undertaking=undertaking, nodes=found.nodes)
        if asked_for.keep_cluster:
            sys.stderr.write(f"kind cluster {asked_for.cluster_name} is kept\n")
