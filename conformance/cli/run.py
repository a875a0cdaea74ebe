"""`assay run`: scenarios on a cluster, faults and all; verdicts, report."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

import typer

from conformance.cli import existing, kind
from conformance.cli.exit_code import ExitCode
from conformance.cli.reproducing import command
from conformance.running.run_options import DEFAULT_SEED, ClusterName, RunOptions


def complete_selection(incomplete: str) -> list[str]:
    """For shell completion."""
    from conformance.cli.selection import complete

    return complete(incomplete)


CLUSTERS = ("simulated", "control-plane", "kind", "existing")
DEFAULT_OUT = Path(".assay")
DEFAULT_NODE_SELECTOR = "assay.dev/usable=true"
DEFAULT_TIME_LIMIT = "2h"
FOR_EVER = "48h"
"""On a cluster that is the suite's own."""
DEFAULT_OBJECT_LIMIT = 100


def _cluster(name: str) -> str:
    if name not in CLUSTERS:
        raise typer.BadParameter(f"{name!r} is none of {', '.join(CLUSTERS)}")
    return name


def run(
    typed: typer.Context,
    selection: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|SCENARIO|CLAIM",
            help="What to run: a suite (appwrapper), scenarios (slow-pods), claims (AW-015). "
            "Nothing means everything.",
            autocompletion=complete_selection,
        ),
    ] = None,
    *,
    cluster: Annotated[
        str,
        typer.Option(help=f"Where to run: {', '.join(CLUSTERS)}.", callback=_cluster),
    ] = "simulated",
    implementation: Annotated[
        str,
        typer.Option(help="The controller under test: reference, mutant:NAME, or a profile file."),
    ] = "reference",
    seed: Annotated[int, typer.Option(help="Decides every random choice of the run.", min=0)] = (
        DEFAULT_SEED
    ),
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Runs side by side; 0: one per core.", min=0)
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the report goes; an earlier one is replaced.")
    ] = DEFAULT_OUT,
    crash_points: Annotated[
        bool,
        typer.Option(
            "--crash-points",
            help="Repeat each scenario with the operator killed after each of its writes in turn.",
        ),
    ] = False,
    sample: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Only N of the crash points, drawn by the seed. "
            "0: all of them; on a real cluster 60.",
            min=0,
        ),
    ] = 0,
    random_plans: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Repeat each scenario N times under faults drawn at random (simulated only).",
            min=0,
        ),
    ] = 0,
    fault_pairs: Annotated[
        bool,
        typer.Option(
            "--fault-pairs",
            help="Repeat each scenario under each kind of fault, and each pair of kinds "
            "(simulated only; some 300 runs each).",
        ),
    ] = False,
    no_shrink: Annotated[
        bool,
        typer.Option(
            "--no-shrink",
            help="Show failures as they were found. Otherwise the simplest one of each claim is "
            "run again and again with fewer faults, nodes, replicas and components, as long as it "
            "violates the same claim. Real clusters never do: a run there takes too long.",
        ),
    ] = False,
    rerun: Annotated[
        bool, typer.Option("--rerun", help="Run everything twice; compare histories byte by byte.")
    ] = False,
    kubeconfig: Annotated[
        Path | None,
        typer.Option(help="The cluster for --cluster existing; where --cluster kind puts its own."),
    ] = None,
    context: Annotated[str, typer.Option(help="The kubeconfig's context.")] = "",
    cluster_folder: Annotated[
        Path | None,
        typer.Option(
            help="Run on the control plane that `assay cluster up` started there, and leave it up."
        ),
    ] = None,
    node_selector: Annotated[
        str,
        typer.Option(help="The nodes that runs on an existing cluster may taint and cordon."),
    ] = DEFAULT_NODE_SELECTOR,
    audit_log: Annotated[
        Path | None,
        typer.Option(help="The existing cluster's audit log, which tells who wrote what."),
    ] = None,
    webhook_host: Annotated[
        str,
        typer.Option(
            help="Where the API server of an existing cluster, or of kind, finds this machine, "
            "which serves the webhooks. Otherwise 127.0.0.1, or the gateway of kind's network."
        ),
    ] = "",
    pod_image: Annotated[
        str,
        typer.Option(
            help="An image with a shell for the pods on real kubelets; it must be there, or to be "
            "had. Otherwise only fake kubelets of an existing cluster are used; kind takes one "
            "that its nodes have."
        ),
    ] = "",
    operator_image: Annotated[
        str,
        typer.Option(
            help="Run the operators under test in the cluster, existing or kind, from this image. "
            "Otherwise they are processes of this machine."
        ),
    ] = "",
    time_limit: Annotated[
        str,
        typer.Option(
            help="How long a suite may take: on an existing cluster "
            f"{DEFAULT_TIME_LIMIT} unless said, on kind as long as it takes."
        ),
    ] = "",
    object_limit: Annotated[
        int,
        typer.Option(
            help="How many pods, Jobs and AppWrappers a run may have on an existing cluster.",
            min=10,
        ),
    ] = DEFAULT_OBJECT_LIMIT,
    cluster_name: Annotated[
        str,
        typer.Option(
            help="kind: the cluster's name. One that --keep-cluster kept is used, and stays; one "
            "that a killed run left is used, and deleted at the end."
        ),
    ] = "assay",
    keep_cluster: Annotated[
        bool, typer.Option("--keep-cluster", help="kind: do not delete the cluster at the end.")
    ] = False,
    kind_bin: Annotated[
        str, typer.Option(help="kind: the program; otherwise that of $KIND, or in the PATH.")
    ] = "",
    kind_image: Annotated[
        str,
        typer.Option(
            help="kind: the nodes' image; otherwise $KIND_IMAGE, or the newest kindest/node "
            "that Docker has."
        ),
    ] = "",
    workers: Annotated[
        int,
        typer.Option(help="kind: nodes for runs. Each run takes two to four of them.", min=2),
    ] = 4,
    download: Annotated[
        bool,
        typer.Option("--download", help="kind: fetch program and image where they are missing."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Begin on an existing cluster without asking.")
    ] = False,
    allure: Annotated[
        bool, typer.Option("--allure", help="Also write allure-results/ (thousands of files).")
    ] = False,
    show_all: Annotated[
        bool, typer.Option("--all", help="List passed claims too, not only their number.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress; failures and where the report is.")
    ] = False,
) -> None:
    """Put a controller through the suite, and report which claims held.

    \b
    assay run                                 everything, simulated
    assay run appwrapper --crash-points       and killed after every single write
    assay run appwrapper --random-plans 10    and under ten random sets of faults
    assay run AW-015 slow-pods --seed 7       one claim, one scenario
    assay run AW-049 --cluster control-plane --crash-points --sample 20
    assay run --cluster control-plane -j 8    on a real kube-apiserver and etcd
    assay run --cluster control-plane --cluster-folder .assay/cluster     on one that stays up
    assay run --cluster kind                  in containers that are real, on a cluster of its own
    assay run --cluster existing --kubeconfig FILE        on a cluster of somebody else's
    assay run --implementation mutant:quota-released-on-failed

    The report goes to .assay/ (report.yaml, index.html, a page and a plan per failure,
    junit.xml, histories/).
    """
    import msgspec
    from rich.console import Console

    from conformance.cli.ending import show_suite, write_report
    from conformance.cli.problems import BadInputError
    from conformance.cli.progress import showing_progress
    from conformance.cli.selection import claims_asked_for, resolve
    from conformance.profiles.choosing import profile_named
    from conformance.report.folder import check_folder
    from conformance.running.suite import run_suite
    from conformance.worlds.kind.options import KindOptions

    if sample and not crash_points:
        raise BadInputError("--sample: is of crash points; add --crash-points")
    if (random_plans or fault_pairs) and cluster != "simulated":
        option = "--random-plans" if random_plans else "--fault-pairs"
        raise BadInputError(f"{option}: only the simulated cluster runs them; leave one out")
    if cluster in ("existing", "kind") and rerun:
        raise BadInputError(f"--rerun: histories on {cluster} never repeat; leave it out")
    if operator_image and cluster not in ("existing", "kind"):
        raise BadInputError(f"--operator-image: --cluster {cluster} has no nodes that run images")
    profile = profile_named(implementation)
    if operator_image and profile is not None:
        raise BadInputError(
            f"--operator-image: {implementation} is run as its profile says; leave it out"
        )
    installed = profile is not None and profile.process is None
    if installed and cluster not in ("existing", "kind"):
        raise BadInputError(
            f"--cluster {cluster}: {implementation} is installed in a cluster with nodes; use "
            "--cluster existing --kubeconfig FILE, or kind"
        )
    if installed and crash_points:
        raise BadInputError(
            "--crash-points: are on the operator's connection, and an installed one has its own"
        )
    if operator_image and crash_points:
        raise BadInputError(
            "--crash-points: are on the operator's connection; leave out --operator-image"
        )
    if cluster == "existing" and crash_points and audit_log is None:
        raise BadInputError("--crash-points: needs to know who wrote what; add --audit-log FILE")
    check_folder(out)
    words = resolve(selection or ())
    options = RunOptions(
        cluster=cast(ClusterName, cluster),
        implementation=implementation,
        seed=seed,
        jobs=jobs,
        crash_points=crash_points,
        sample=sample,
        random_plans=random_plans,
        fault_pairs=fault_pairs,
        shrink=not no_shrink,
        rerun=rerun,
        cluster_folder=cluster_folder,
        out=out,
    )
    if cluster == "existing":
        from fixtures.control_plane.ports import LOOPBACK

        undertaking = existing.examined(
            existing.access(kubeconfig, context),
            implementation,
            existing.limits(time_limit or DEFAULT_TIME_LIMIT, object_limit),
            node_selector=node_selector,
            audit_log=audit_log,
            webhook_host=webhook_host or LOOPBACK,
            pod_image=pod_image,
            operator_image=operator_image,
        )
        if crash_points and not undertaking.tells_writers:
            raise BadInputError("--crash-points: operators need accounts of their own for that")
        options = replace(options, undertaking=undertaking)
        # A pod that is told to end puts the cluster in order first, as after Ctrl-C.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        existing.agree(undertaking, words, yes=yes)
    options = replace(options, command=command(words, typed))
    console = Console()
    with ExitStack() as until_end:
        if cluster == "kind":
            asked_for = KindOptions(
                cluster_name=cluster_name,
                kind_bin=kind_bin,
                kind_image=kind_image,
                kubeconfig=kubeconfig,
                keep_cluster=keep_cluster,
                workers=workers,
                download=download,
            )
            on_kind = kind.provided(
                asked_for,
                options,
                pod_image=pod_image,
                operator_image=operator_image,
                webhook_host=webhook_host,
                limits=existing.limits(time_limit or FOR_EVER, object_limit),
            )
            options = until_end.enter_context(on_kind)
        with showing_progress(console, quiet=quiet) as on_progress:
            suite = run_suite(words, options, on_progress)
        suite = msgspec.structs.replace(suite, claims=claims_asked_for(words))
        report, files = write_report(suite, out, allure=allure)
        show_suite(console, suite, report, files, show_all=show_all, quiet=quiet)
    raise typer.Exit(ExitCode.of_report(report))
