"""Rules for options of `assay run` by cluster and by controller."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, NamedTuple

from conformance.cli.problems import BadInputError
from conformance.cli.run_arguments import RunArguments
from vocabulary.implementations import named_roles

if TYPE_CHECKING:
    from conformance.scenario_type import Scenario

WITH_NODES: Final = ("existing", "kind")
"""Clusters whose nodes run images."""


class Rule(NamedTuple):
    """Something that was asked for and cannot be had."""

    option: str
    """`{cluster}` and `{implementation}` stand for what was asked for, as in `because`."""
    is_broken: Callable[[RunArguments], object]
    because: str
    """And what to do instead."""


RULES: Final = (
    Rule(
        "--cluster-folder",
        lambda asked: asked.cluster_folder is not None and asked.cluster != "control-plane",
        "is a control plane's, and --cluster is {cluster}; add --cluster control-plane",
    ),
    Rule(
        "--large",
        lambda asked: asked.large and asked.cluster != "simulated",
        "only the simulated cluster holds thousands of pods; leave it out",
    ),
    Rule(
        "--sample",
        lambda asked: asked.sample and not asked.crash_points,
        "is of crash points; add --crash-points",
    ),
    Rule(
        "--random-plans",
        lambda asked: asked.random_plans and asked.cluster in WITH_NODES,
        "only the simulated cluster and a control plane run them; leave one out",
    ),
    Rule(
        "--fault-pairs",
        lambda asked: asked.fault_pairs and asked.cluster != "simulated",
        "only the simulated cluster runs them; leave one out",
    ),
    Rule(
        "--rerun",
        lambda asked: asked.rerun and asked.cluster != "simulated",
        "histories on {cluster} never repeat; leave it out",
    ),
    Rule(
        "--shard",
        lambda asked: asked.shard and asked.cluster != "simulated",
        "which runs a campaign on {cluster} has depends on its own first runs; leave one out",
    ),
    Rule(
        "--resume",
        lambda asked: asked.resume and asked.cluster != "simulated",
        "runs on {cluster} are kept in its histories, and judged by: assay check; leave one out",
    ),
    Rule(
        "--dask",
        lambda asked: asked.dask and asked.cluster != "simulated",
        "the runs of a campaign on {cluster} need that cluster; leave one out",
    ),
    Rule(
        "--dask",
        lambda asked: asked.dask and (asked.shard or asked.resume or asked.exit_first),
        "makes all shards, each from its beginning to its end; leave out --shard, --resume and "
        "--exit-first",
    ),
    Rule(
        "--operator-image",
        lambda asked: asked.operator_image and asked.cluster not in WITH_NODES,
        "--cluster {cluster} has no nodes that run images",
    ),
    Rule(
        "--operator-image",
        lambda asked: (
            asked.operator_image and not named_roles(asked.operator_image) and asked.profiles
        ),
        "{implementation} is run as its profile says; leave it out",
    ),
    Rule(
        "--cluster {cluster}",
        lambda asked: asked.is_installed and asked.cluster not in WITH_NODES,
        "{implementation} is installed in a cluster with nodes; use "
        "--cluster existing --kubeconfig FILE, or kind",
    ),
    Rule(
        "--crash-points",
        lambda asked: asked.crash_points and asked.is_installed,
        "are on the operator's connection, and an installed one has its own",
    ),
    Rule(
        "--crash-points",
        lambda asked: asked.crash_points and asked.operator_image,
        "are on the operator's connection; leave out --operator-image",
    ),
    Rule(
        "--crash-points",
        lambda asked: (
            asked.crash_points and asked.cluster == "existing" and asked.audit_log is None
        ),
        "needs to know who wrote what; add --audit-log FILE",
    ),
)
"""The rules, in the order of evaluation; the first violated one is reported.

`profiles` reads files, so rules that do not need it come first.
"""


def require_that_options_agree(asked: RunArguments) -> None:
    """BadInputError for the first rule that is broken."""
    for rule in RULES:
        if rule.is_broken(asked):
            text = f"{rule.option}: {rule.because}"
            raise BadInputError(
                text.format(cluster=asked.cluster, implementation=asked.implementation)
            )


def require_that_campaigns_end(asked: RunArguments, chosen: Iterable[Scenario]) -> None:
    """BadInputError if scenarios that take minutes would be repeated hundreds of times."""
    large = [found.id for found in chosen if found.large]
    campaigns = {
        "--crash-points": asked.crash_points,
        "--random-plans": asked.random_plans,
        "--fault-pairs": asked.fault_pairs,
    }
    for option, is_asked_for in campaigns.items():
        if large and is_asked_for:
            raise BadInputError(
                f"{option}: {large[0]} takes minutes, and is not repeated under faults; run it "
                "without"
            )
