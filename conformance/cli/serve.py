"""`assay serve`: the simulated cluster over HTTPS, for kubectl and ordinary clients."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from conformance.running.run_options import DEFAULT_SEED

CLOCKS = ("real", "advanced")


def serve(
    *,
    port: Annotated[int, typer.Option(help="0: any free port.", min=0, max=65535)] = 0,
    clock: Annotated[
        str, typer.Option(help="real: as the wall clock; advanced: only by POST /assay/clock.")
    ] = "real",
    kubeconfig: Annotated[
        Path, typer.Option(help="Where to write the kubeconfig for clients.")
    ] = Path(".assay/serve.kubeconfig"),
    nodes: Annotated[int, typer.Option(help="How many nodes.", min=0, max=10_000)] = 2,
    gpus: Annotated[int, typer.Option(help="nvidia.com/gpu per node.", min=0, max=64)] = 0,
    seed: Annotated[int, typer.Option(help="Decides every random choice.", min=0)] = DEFAULT_SEED,
    plain: Annotated[
        bool, typer.Option("--plain", help="HTTP without TLS (kubectl sends no token over that).")
    ] = False,
) -> None:
    """Serve a simulated Kubernetes cluster on the loopback address, until it is stopped.

    SIGTERM stops it (kill %1), or Ctrl-C where it runs in the foreground: a shell has what it
    starts in the background ignore SIGINT. A bug in a simulated controller ends it, too: exit 70.

    Jobs run, pods get scheduled and fail, garbage is collected; the kinds of installed programs are
    served. Containers whose commands sleep and exit do so, by themselves or in a shell; all others
    run on. An annotation of a pod or its template says otherwise: assay.dev/behaviour: run 5s, exit
    3. The user of the kubeconfig may do everything; service accounts have tokens (kubectl
    create token), and the rights that roles and bindings give them. Admission webhooks are not
    called; installed programs' own kinds are served in all versions.

    \b
    assay serve &
    kubectl --kubeconfig .assay/serve.kubeconfig get nodes
    assay controller run $SUITE --kubeconfig .assay/serve.kubeconfig
    kill %1
    """
    import secrets
    import signal
    import time

    from conformance.cli.one_of import require_one_of
    from conformance.implementation import implementation
    from fixtures.simulated.cluster import SimulatedCluster
    from fixtures.simulated.controllers.settings import Settings
    from fixtures.simulated.custom_resources.conversion import of_definitions
    from fixtures.simulated.serve.server import serve as serve_cluster
    from reference_controller import programs
    from vocabulary.clock import SIMULATION_EPOCH_US
    from vocabulary.objects import name_of

    require_one_of("--clock", clock, CLOCKS)
    references = [implementation("reference", role) for role in programs.names()]
    crds = [crd for reference in references for crd in reference.crds()]
    settings = Settings(endpoint_slices=True, reads_commands=True)
    # Timestamps of clients, such as those of Events, are compared with the cluster's time.
    began_us = time.time_ns() // 1_000 if clock == "real" else SIMULATION_EPOCH_US
    cluster = SimulatedCluster(
        seed, nodes=nodes, gpus=gpus, crds=crds, settings=settings, began_us=began_us
    )
    for each in references:
        defined = set(map(name_of, each.crds()))
        cluster.api.conversion = of_definitions(defined, each.convert, cluster.api.conversion)
    served = serve_cluster(
        cluster,
        port,
        secrets.token_urlsafe(32),
        "real" if clock == "real" else "advanced",
        tls=not plain,
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with served:
        kubeconfig.parent.mkdir(parents=True, exist_ok=True)
        served.write_kubeconfig(kubeconfig)
        own = kubeconfig.read_bytes()
        typer.echo(f"server: {served.url}\nkubeconfig: {kubeconfig}")
        try:
            served.stopped.wait()
            if served.failure is not None:
                raise served.failure
        except KeyboardInterrupt:
            typer.echo("stopped")
        finally:
            # It may be another one's by now, which was started after this one.
            if kubeconfig.is_file() and kubeconfig.read_bytes() == own:
                kubeconfig.unlink()
