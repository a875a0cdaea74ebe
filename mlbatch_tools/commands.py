"""`assay tools`: the commands; each imports its tool when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mlbatch_tools.cluster_checker.report import ClusterReport

app = typer.Typer(
    help="Tools for clusters that are set up as the MLBatch guide says.", no_args_is_help=True
)
EXIT_CODES = "[bold]Exit codes[/bold]: 0 written · 2 bad input · 4 it cannot be written"
CHECKER_EXIT_CODES = """\
[bold]Exit codes[/bold]: 0 no warnings (notes do not count) · 1 at least one warning · 2 bad input ·
4 the cluster cannot be reached or refuses, or a package is missing
"""


@app.command("cluster-checker", epilog=CHECKER_EXIT_CODES)
def cluster_checker(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE",
            help="Dumps of a cluster's objects (YAML, JSON, directories; - is standard input) "
            "instead of a running cluster.",
        ),
    ] = None,
    *,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Default: in-cluster, $KUBECONFIG, ~/.kube/config.")
    ] = None,
    context: Annotated[str | None, typer.Option(help="The kubeconfig's context.")] = None,
    format_: Annotated[
        str,
        typer.Option(
            "--format", help="guide: as the guide prints it; latest: as later versions do."
        ),
    ] = "guide",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Print again at each change, until Ctrl-C.")
    ] = False,
    interval_seconds: Annotated[
        float, typer.Option(help="With --watch: how often to look.", min=0.1)
    ] = 10,
    slack_queue: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The slack cluster queue; default: the operator's configuration."
        ),
    ] = "",
) -> None:
    """Print GPU quota and usage per cluster queue, the cluster's GPUs, and what to look at.

    \b
    assay tools cluster-checker
    assay tools cluster-checker --json | jq .gpus
    kubectl get nodes,pods,clusterqueues,localqueues,workloads -A -o json > dump.json
    assay tools cluster-checker dump.json --slack-queue slack-cluster-queue
    """
    import time
    from functools import partial

    from mlbatch_tools.cluster_checker.printed import FORMATS
    from mlbatch_tools.problems import ToolError

    if format_ not in FORMATS:
        raise ToolError(f"--format {format_!r} is none of {', '.join(FORMATS)}")
    if files and (kubeconfig or context):
        raise ToolError("give files, or --kubeconfig and --context for a running cluster, not both")
    if watch and Path("-") in (files or ()):
        raise ToolError("--watch reads again and again, standard input only once; name a file")
    look = (
        partial(_of_files, files, slack_queue)
        if files
        else _of_cluster(kubeconfig, context, slack_queue)
    )
    found = look()
    text = _text(found, format_, as_json=as_json, on_one_line=watch)
    typer.echo(text)
    while watch:
        time.sleep(interval_seconds)
        try:
            found = look()
        except ConnectionError as error:
            typer.echo(f"assay: {error}", err=True)
            continue
        new = _text(found, format_, as_json=as_json, on_one_line=True)
        if new != text:
            typer.echo(new if as_json else f"\n{new}")
            text = new
    raise typer.Exit(1 if found.has_warnings else 0)


@app.command("appwrapper-packager", epilog=EXIT_CODES)
def appwrapper_packager(
    inputs: Annotated[
        list[Path],
        typer.Option(
            "--input",
            "-i",
            metavar="FILE",
            help="Manifests, YAML or JSON; - is standard input; may be repeated.",
        ),
    ],
    *,
    name: Annotated[
        str, typer.Option("--name", "-n", help="The AppWrapper's name.")
    ] = "sample-appwrapper",
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = Path("aw.yaml"),
    queue: Annotated[
        str, typer.Option(help="The local queue; empty: the cluster's default.")
    ] = "default-queue",
) -> None:
    """Wrap manifests in an AppWrapper.

    Comments stay; items of lists, and JSON, are written anew. podSets are declared for kinds whose
    pods the controller does not know of itself. Remarks are written to standard error.

    \b
    assay tools appwrapper-packager -i pod.yaml -n wrapped-pod -o wrapped-pod.yaml
    kubectl apply -f wrapped-pod.yaml
    """
    from mlbatch_tools.appwrapper_packager import package

    packed = package(inputs, name, queue)
    _write(packed.text, output, inputs)
    _remark(packed.remarks)


@app.command("pytorch-generator", epilog=EXIT_CODES)
def pytorch_generator(
    values: Annotated[Path, typer.Option("--values", "-f", metavar="FILE", help="The settings.")],
    *,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = Path("-"),
) -> None:
    """Generate an AppWrapper with a PyTorchJob from a values file of the published chart.

    Fault-tolerance settings of the earlier tool are ignored, with a warning on standard error.

    \b
    assay tools pytorch-generator -f values.yaml | kubectl apply -f -
    """
    from importlib.metadata import version

    from mlbatch_tools.app_wrapper import as_yaml
    from mlbatch_tools.pytorch_generator.generate import app_wrapper
    from mlbatch_tools.pytorch_generator.values import read_values

    found, ignored = read_values(values)
    _write(as_yaml(app_wrapper(found, f"assay-{version('assay')}")), output, [values])
    for each in ignored:
        typer.echo(
            f"warning: {values}: {each} is a fault-tolerance setting of the earlier tool; it is "
            "ignored, and the cluster's default is used",
            err=True,
        )


@app.command("team", epilog=EXIT_CODES)
def team(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The team, and its namespace.")],
    *,
    gpus: Annotated[
        int, typer.Option(help="The team's quota of nvidia.com/gpu.", min=0, max=1_000_000)
    ],
    cpus: Annotated[
        str | None, typer.Option(metavar="QUANTITY", help="Default: 10 for each GPU.")
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="QUANTITY", help="Default: 137.5Gi for each GPU.")
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option("--group", help="Its users; may be repeated. Default: NAME-edit-group."),
    ] = None,
    users: Annotated[
        list[str] | None, typer.Option("--user", help="A user of the team; may be repeated.")
    ] = None,
    with_shared: Annotated[
        bool,
        typer.Option(
            "--with-shared", help="Also what all teams share: flavor, priorities, slack queue."
        ),
    ] = False,
    slack_gpus: Annotated[
        int,
        typer.Option(
            help="With --with-shared: GPUs of the slack queue; 0: none.", min=0, max=1_000_000
        ),
    ] = 0,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="- is standard output.")
    ] = Path("-"),
) -> None:
    """Print the manifests of a team: namespace, cluster queue, local queue and rights.

    \b
    assay tools team platform --gpus 8 --with-shared --slack-gpus 8 | kubectl apply -f -
    assay tools team code --gpus 8 --user alice | kubectl apply -f -
    """
    from mlbatch_tools import team as manifests
    from mlbatch_tools.app_wrapper import as_yaml
    from mlbatch_tools.problems import ToolError

    if slack_gpus and not with_shared:
        raise ToolError(
            "--slack-gpus is for the slack queue, which --with-shared prints; give both"
        )
    if not groups and not users:
        groups = [f"{name}-edit-group"]
    quota = manifests.Quota.for_gpus(gpus, cpus, memory)
    objects = manifests.shared(slack_gpus) if with_shared else []
    objects += manifests.team(name, quota, groups or (), users or ())
    _write(as_yaml(*objects), output, [])


def _write(text: str, output: Path, inputs: list[Path]) -> None:
    from mlbatch_tools.problems import ToolError

    if output == Path("-"):
        typer.echo(text, nl=False)
        return
    if output.exists() and any(each.exists() and each.samefile(output) for each in inputs):
        raise ToolError(f"{output} is an input; name another file with --output")
    output.write_text(text, encoding="utf-8")


def _remark(remarks: Iterable[str]) -> None:
    for each in remarks:
        typer.echo(f"note: {each}", err=True)


def _of_cluster(
    kubeconfig: Path | None, context: str | None, slack_queue: str
) -> Callable[[], ClusterReport]:
    from mlbatch_tools.cluster_checker.live import LiveCluster
    from mlbatch_tools.cluster_checker.report import report

    cluster = LiveCluster(kubeconfig, context)
    return lambda: report(cluster.objects(), slack_queue=slack_queue)


def _of_files(files: list[Path], slack_queue: str) -> ClusterReport:
    from mlbatch_tools.cluster_checker.cluster import objects_of, require_complete
    from mlbatch_tools.cluster_checker.report import report
    from mlbatch_tools.manifests import read
    from mlbatch_tools.problems import ObjectError, ToolError

    found = read(files)
    objects = objects_of(found)
    try:
        made = report(objects, slack_queue=slack_queue)
    except ObjectError as error:
        source = next(each.source for each in found if each.obj is error.obj)
        raise ToolError(f"{source}: {error}") from error
    # Later than the fields: another dump may repeat a field that cannot be read.
    require_complete(objects)
    return made


def _text(report: ClusterReport, format_: str, *, as_json: bool, on_one_line: bool) -> str:
    import json

    from mlbatch_tools.cluster_checker.printed import as_data, lines

    if not as_json:
        return "\n".join(lines(report, format_))
    return json.dumps(as_data(report), indent=None if on_one_line else 2)
