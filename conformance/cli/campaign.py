"""`assay campaign`: a campaign in virtual time on the nodes of a cluster."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="A campaign in virtual time on many machines, as an Indexed Job.", no_args_is_help=True
)
_OWN = ("--shard", "--resume", "--out", "--dask")


@app.command("manifests")
def manifests(
    words: Annotated[
        list[str],
        typer.Argument(metavar="-- ARGUMENT...", help="The arguments of assay run, after --."),
    ],
    shards: Annotated[int, typer.Option(help="How many parts, one for each pod.", min=1, max=9999)],
    claim: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A PersistentVolumeClaim that all pods can write to (ReadWriteMany).",
        ),
    ],
    image: Annotated[
        str, typer.Option(help="An image whose entry point is assay.")
    ] = "assay:latest",
    at_once: Annotated[int, typer.Option(help="How many pods run at a time; 0: all.", min=0)] = 0,
    name: Annotated[
        str, typer.Option(help="The name of the Job, and of its folder.")
    ] = "assay-campaign",
) -> None:
    """Print an Indexed Job that makes a campaign, as YAML.

    Each pod makes one shard in virtual time, and needs no rights. One that is killed or evicted
    loses nothing: the next pod of its index goes on with the runs that the volume keeps.

    \b
    assay campaign manifests --shards 20 --claim reports --image example.org/assay:1.0 \\
        -- $SUITE --crash-points --random-plans 10000 | kubectl apply -f -
    """
    from conformance.cli.app import app as assay
    from conformance.cli.problems import BadInputError
    from conformance.cli.selection import resolve
    from conformance.in_cluster.campaign import campaign_text

    if own := [word for word in words if word.partition("=")[0] in _OWN]:
        raise BadInputError(f"{own[0]}: the Job sets it; leave it out")
    command = typer.main.get_command(assay)
    run = command.commands["run"]  # type: ignore[attr-defined]
    asked = run.make_context("run", list(words))  # typer.BadParameter for what it does not take
    if asked.params["cluster"] != "simulated":
        raise BadInputError(
            f"--cluster {asked.params['cluster']}: a campaign is made in virtual time; leave it out"
        )
    resolve(asked.params["selection"] or ())
    text = campaign_text(
        words, name=name, image=image, shards=shards, at_once=at_once or shards, claim=claim
    )
    typer.echo(text, nl=False)
