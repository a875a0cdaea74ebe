"""`assay serve`: the simulated cluster over HTTP, for kubectl and ordinary clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def serve(
    port: Annotated[int, typer.Option(help="0: any free port.", min=0, max=65535)] = 0,
    clock: Annotated[
        str, typer.Option(help="real: time passes as outside; manual: only when told to.")
    ] = "real",
    kubeconfig: Annotated[
        Path, typer.Option(help="Where to write the kubeconfig that clients use.")
    ] = Path(".assay/serve.kubeconfig"),
    nodes: Annotated[int, typer.Option(help="How many nodes.", min=0, max=10_000)] = 2,
    seed: Annotated[int, typer.Option(help="Decides every random choice.", min=0)] = 1729,
) -> None:
    """Serve a simulated Kubernetes API on the loopback address, until interrupted.

    \b
    assay serve &
    kubectl --kubeconfig .assay/serve.kubeconfig get nodes
    """
    from conformance.cli.problems import BadInputError
    from fixtures.simulated.serve import serve as serve_cluster

    if clock not in ("real", "manual"):
        raise BadInputError(f"--clock {clock!r} is neither real nor manual")
    serve_cluster(port=port, clock=clock, kubeconfig=kubeconfig, nodes=nodes, seed=seed)
