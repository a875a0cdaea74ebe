"""The arguments of `assay run`: each with its help, its default, and its bounds."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from conformance.cli.file_kinds import AUDIT_LOG, KUBECONFIG, PROFILE, only
from conformance.cli.one_of import require_one_of
from conformance.running.run_options import DEFAULT_SEED, RunOptions
from conformance.suite import shipped_profiles
from conformance.worlds.names import ClusterName
from vocabulary.seeds import MAX_SEED

if TYPE_CHECKING:
    from conformance.profiles.profile import ImplementationProfile


def complete_selection(incomplete: str) -> list[str]:
    """For shell completion."""
    from conformance.cli.selection import complete

    return complete(incomplete)


_SHARD = re.compile(r"([0-9]{1,4})/([0-9]{1,4})", re.ASCII)
CLUSTERS = ("simulated", "control-plane", "kind", "existing")
IMPLEMENTATIONS = (
    "reference, mutant:NAME (assay mutants --list), a profile that comes with the suite "
    f"({', '.join(shipped_profiles())}), or a profile's file; with several operators ROLE=NAME,… "
    "of those that are not their references"
)
DEFAULT_OUT = Path(".assay")
DEFAULT_NODE_SELECTOR = "assay.dev/usable=true"
DEFAULT_TIME_LIMIT = "2h"
FOR_EVER = "48h"
"""On a cluster that is the suite's own."""
DEFAULT_OBJECT_LIMIT = 100


def _cluster(name: str) -> str:
    return require_one_of("--cluster", name, CLUSTERS)


POD_INDEX = "JOB_COMPLETION_INDEX"
"""The variable that Kubernetes sets in the pods of an Indexed Job; it counts from 0."""


def _shard(text: str) -> str:
    index, of_pod, count = text.partition("index/")
    if of_pod and not index:
        number = os.environ.get(POD_INDEX, "")
        if not number.isdecimal():
            raise typer.BadParameter(
                f"{text!r}: {POD_INDEX} is not set, as it is in the pods of an Indexed Job; give "
                "I/N, such as 1/3"
            )
        text = f"{int(number) + 1}/{count}"
    found = _SHARD.fullmatch(text)
    if text and (found is None or not 1 <= int(found[1]) <= int(found[2])):
        raise typer.BadParameter(f"{text!r}: expected I/N with I from 1 to N, such as 1/3")
    return text


@dataclass(frozen=True, kw_only=True)
class RunArguments:
    """One field per argument, in the order in which the help lists them."""

    selection: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SUITE|SCENARIO|CLAIM",
            help="What to run: suites, scenarios (slow-pods-hold-their-quota), claims (AW-015), or "
            "patterns ('quota/cells/*/held'). Nothing means everything.",
            autocompletion=complete_selection,
        ),
    ] = None
    skip: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCENARIO",
            help="Leave out these scenarios of the selection; may be repeated. A pattern, a suite "
            "or a claim leaves out all scenarios that it names.",
        ),
    ] = None
    last_failed: Annotated[
        bool,
        typer.Option(
            "--last-failed",
            help="Run only what failed or was aborted in the report in --out, which is replaced.",
        ),
    ] = False
    exit_first: Annotated[
        bool,
        typer.Option("--exit-first", "-x", help="Start no further run after the first failure."),
    ] = False
    cluster: Annotated[
        str,
        typer.Option(help=f"Where to run: {', '.join(CLUSTERS)}.", callback=_cluster),
    ] = "simulated"
    implementation: Annotated[
        str,
        typer.Option(
            help=f"The controller under test: {IMPLEMENTATIONS}.",
            callback=only(PROFILE),
        ),
    ] = "reference"
    edition: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="The reading of the norm to judge by, where a suite has several: kep or released; "
            "of jobset also kep-v0.12, of quota strict or mlbatch. Default: the first of each "
            "suite.",
        ),
    ] = ""
    seed: Annotated[
        int, typer.Option(help="Decides every random choice of the run.", min=0, max=MAX_SEED)
    ] = DEFAULT_SEED
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Runs side by side; 0: one per core.", min=0)
    ] = 0
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the report goes; an earlier one is replaced.")
    ] = DEFAULT_OUT
    one_case: Annotated[
        bool,
        typer.Option(
            "--one-case",
            help="Of scenarios that differ in their case alone, run only the first: a shorter "
            "run, which arms the same claims.",
        ),
    ] = False
    large: Annotated[
        bool,
        typer.Option(
            "--large",
            help="Also run the scenarios of thousands of pods, which take minutes each "
            "(simulated only).",
        ),
    ] = False
    crash_points: Annotated[
        bool,
        typer.Option(
            "--crash-points",
            help="Repeat each scenario with the operator killed after each of its writes in turn.",
        ),
    ] = False
    sample: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Only N of the crash points, drawn by the seed. "
            "0: all of them; on a real cluster 60.",
            min=0,
        ),
    ] = 0
    random_plans: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Repeat each scenario N times under faults drawn at random. Of a released "
            "operator, and on a control plane: N such runs in all, drawn by the seed.",
            min=0,
        ),
    ] = 0
    fault_pairs: Annotated[
        bool,
        typer.Option(
            "--fault-pairs",
            help="Repeat each scenario under each kind of fault, and each pair of kinds "
            "(simulated only; some 300 runs each).",
        ),
    ] = False
    no_shrink: Annotated[
        bool,
        typer.Option(
            "--no-shrink",
            help="Show failures as they were found. Otherwise the simplest one of each claim is "
            "run again and again with fewer faults, nodes, replicas and components, as long as it "
            "violates the same claim. On a control plane: only of claims that crash points or "
            "random plans alone violate, in a few runs each.",
        ),
    ] = False
    rerun: Annotated[
        bool,
        typer.Option(
            "--rerun",
            help="Make every run twice, those of crash points and random plans too, and compare"
            " the histories byte by byte (simulated only).",
        ),
    ] = False
    shard: Annotated[
        str,
        typer.Option(
            metavar="I/N",
            help="Make only the I-th of N parts of the runs; the N reports are made one by: assay "
            "report merge (simulated only). index/N: the one of a pod of an Indexed Job.",
            callback=_shard,
        ),
    ] = ""
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with the campaign that was stopped in --out; give its other options again "
            "(simulated only). In a pod of an Indexed Job it begins where nothing was stopped.",
        ),
    ] = False
    dask: Annotated[
        str,
        typer.Option(
            metavar="SCHEDULER",
            help="Make the runs on the workers of a Dask cluster, tcp://HOST:8786, each with this "
            "version of Assay (simulated only).",
        ),
    ] = ""
    merged: Annotated[
        list[Path] | None, typer.Option(hidden=True, help="Take the runs from reports of shards.")
    ] = None
    kubeconfig: Annotated[
        Path | None,
        typer.Option(
            help="The cluster for --cluster existing; where --cluster kind puts its own.",
            callback=only(KUBECONFIG),
        ),
    ] = None
    context: Annotated[str, typer.Option(help="The kubeconfig's context.")] = ""
    cluster_folder: Annotated[
        Path | None,
        typer.Option(
            help="Run on the control plane that `assay cluster up` started there, and leave it up."
        ),
    ] = None
    node_selector: Annotated[
        str,
        typer.Option(help="The nodes that runs on an existing cluster may taint and cordon."),
    ] = DEFAULT_NODE_SELECTOR
    audit_log: Annotated[
        Path | None,
        typer.Option(
            help="The existing cluster's audit log, which tells who wrote what.",
            callback=only(AUDIT_LOG),
        ),
    ] = None
    webhook_host: Annotated[
        str,
        typer.Option(
            help="Where the API server of an existing cluster, or of kind, finds this machine, "
            "which serves the webhooks. Otherwise 127.0.0.1, or the gateway of kind's network."
        ),
    ] = ""
    pod_image: Annotated[
        str,
        typer.Option(
            help="An image with a shell for the pods on real kubelets; it must be there, or to be "
            "had. Otherwise only fake kubelets of an existing cluster are used; kind takes one "
            "that its nodes have."
        ),
    ] = ""
    operator_image: Annotated[
        str,
        typer.Option(
            help="Run the operators under test in the cluster, existing or kind, from this image; "
            "ROLE=IMAGE runs one of several. Otherwise they are processes of this machine."
        ),
    ] = ""
    time_limit: Annotated[
        str,
        typer.Option(
            help="How long a suite may take: on an existing cluster "
            f"{DEFAULT_TIME_LIMIT} unless said, on kind as long as it takes."
        ),
    ] = ""
    object_limit: Annotated[
        int,
        typer.Option(
            help="How many pods, Jobs and objects of each kind under test a run may have on an "
            "existing cluster.",
            min=10,
        ),
    ] = DEFAULT_OBJECT_LIMIT
    cluster_name: Annotated[
        str,
        typer.Option(
            help="kind: the cluster's name. One that --keep-cluster kept is used, and stays; one "
            "that a killed run left is used, and deleted at the end."
        ),
    ] = "assay"
    keep_cluster: Annotated[
        bool, typer.Option("--keep-cluster", help="kind: do not delete the cluster at the end.")
    ] = False
    kind_bin: Annotated[
        str, typer.Option(help="kind: the program; otherwise that of $KIND, or in the PATH.")
    ] = ""
    kind_image: Annotated[
        str,
        typer.Option(
            help="kind: the nodes' image; otherwise $KIND_IMAGE, or the newest kindest/node "
            "that Docker has."
        ),
    ] = ""
    workers: Annotated[
        int,
        typer.Option(help="kind: nodes for runs. Each run takes two to four of them.", min=2),
    ] = 4
    download: Annotated[
        bool,
        typer.Option("--download", help="kind: fetch program and image where they are missing."),
    ] = False
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Begin on an existing cluster without asking.")
    ] = False
    allure: Annotated[
        bool, typer.Option("--allure", help="Also write allure-results/ (thousands of files).")
    ] = False
    show_all: Annotated[
        bool, typer.Option("--all", help="List passed claims too, not only their number.")
    ] = False
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress; failures and where the report is.")
    ] = False

    @cached_property
    def profiles(self) -> tuple[ImplementationProfile, ...]:
        """The profiles of the controllers under test that have one."""
        from conformance.profiles.choosing import profiles_named

        return profiles_named(self.implementation)

    @property
    def is_installed(self) -> bool:
        """True if a controller stands in the cluster already, and is no process of the suite."""
        return any(profile.process is None for profile in self.profiles)

    @property
    def is_journaled(self) -> bool:
        """True if each run that ends is kept, so that the others can be made later."""
        campaign = (self.crash_points, self.random_plans, self.fault_pairs)
        asked_for = any(campaign) or bool(self.shard) or self.resume
        return self.cluster == "simulated" and asked_for and not self.merged

    @property
    def options(self) -> RunOptions:
        """The options that the runner needs, wherever the suite runs."""
        return RunOptions(
            cluster=cast(ClusterName, self.cluster),
            implementation=self.implementation,
            edition=self.edition,
            seed=self.seed,
            jobs=self.jobs,
            one_case=self.one_case,
            large=self.large,
            crash_points=self.crash_points,
            sample=self.sample,
            random_plans=self.random_plans,
            fault_pairs=self.fault_pairs,
            # Which failures are shrunk depends on those of all shards.
            shrink=not self.no_shrink and not self.shard,
            rerun=self.rerun,
            cluster_folder=self.cluster_folder,
            out=self.out,
            exit_first=self.exit_first,
        )
