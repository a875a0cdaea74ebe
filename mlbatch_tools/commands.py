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
    kubectl get nodes,pods,clusterqueues,localqueues,workloads -A -o yaml > dump.yaml
    assay tools cluster-checker dump.yaml --slack-queue slack-cluster-queue
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
    from mlbatch_tools.cluster_checker.cluster import objects_of
    from mlbatch_tools.cluster_checker.report import report
    from mlbatch_tools.manifests import read
    from mlbatch_tools.problems import ObjectError, ToolError

    found = read(files)
    try:
        return report(objects_of(found), slack_queue=slack_queue)
    except ObjectError as error:
        source = next(each.source for each in found if each.obj is error.obj)
        raise ToolError(f"{source}: {error}") from error


def _text(report: ClusterReport, format_: str, *, as_json: bool, on_one_line: bool) -> str:
    import json

    from mlbatch_tools.cluster_checker.printed import as_data, lines

    if not as_json:
        return "\n".join(lines(report, format_))
    return json.dumps(as_data(report), indent=None if on_one_line else 2)
