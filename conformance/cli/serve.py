"""`assay serve`: the simulated cluster over HTTPS, for kubectl and ordinary clients."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from conformance.running.run_options import DEFAULT_SEED

CLOCKS = ("real", "advanced")
USER = "user"
_SERVICE = re.compile(
    r"(?P<namespace>[^/=]+)/(?P<name>[^/=]+)=(?P<host>[^:/=]+):(?P<port>[0-9]{1,5})", re.ASCII
)


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
    no_controllers: Annotated[
        bool,
        typer.Option(
            "--no-controllers", help="Run neither controllers nor the scheduler, like envtest."
        ),
    ] = False,
    controllers: Annotated[
        str, typer.Option(help="Run only these, separated by commas: job,gc.", metavar="NAMES")
    ] = "",
    crds: Annotated[
        Path | None,
        typer.Option(
            help="A directory with CustomResourceDefinitions to serve, as envtest's "
            "CRDDirectoryPaths.",
            metavar="DIR",
        ),
    ] = None,
    load: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file or directory of objects to create at the start; repeat it for others.",
            metavar="FILE",
        ),
    ] = None,
    history: Annotated[
        Path | None,
        typer.Option(help="Write the history there at the end, for assay check.", metavar="FILE"),
    ] = None,
    operator_kubeconfig: Annotated[
        Path | None,
        typer.Option(
            help="Where to write a kubeconfig for the operator, whose writes the history then "
            "tells from yours.",
            metavar="FILE",
        ),
    ] = None,
    service: Annotated[
        list[str] | None,
        typer.Option(
            help="Where the webhooks of a Service listen; repeat it for others.",
            metavar="NAMESPACE/NAME=127.0.0.1:PORT",
        ),
    ] = None,
    connections: Annotated[
        int,
        typer.Option(
            help="How many are served at once; other requests are answered 429. A watch takes one "
            "if its client speaks HTTP/1.1.",
            min=1,
            max=16_384,
        ),
    ] = 512,
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
    create token), and the rights that roles and bindings give them. Webhooks that are registered
    are called: at their url, or where --service says that their Service listens.

    The page docs/serve.md has recipes for operators, and the requests that advance the clock.

    For envtest, with USE_EXISTING_CLUSTER=true and the kubeconfig in KUBECONFIG:
    assay serve --no-controllers --nodes 0, see docs/envtest.md.

    \b
    assay serve &
    kubectl --kubeconfig .assay/serve.kubeconfig get nodes
    assay controller run $SUITE --kubeconfig .assay/serve.kubeconfig
    kill %1
    """
    import secrets
    import signal
    import time
    from contextlib import ExitStack

    from clusters.simulated.cluster import SimulatedCluster
    from clusters.simulated.controllers.settings import Settings
    from clusters.simulated.custom_resources.conversion import of_definitions
    from clusters.simulated.serve.registered_webhooks import RegisteredWebhooks
    from clusters.simulated.serve.server import serve as serve_cluster
    from conformance.cli.crd_directory import define, definitions_in
    from conformance.cli.manifest_files import create, manifests_in
    from conformance.cli.one_of import require_one_of
    from conformance.implementations.ours import implementation
    from conformance.worlds.served.recording import end, header_of
    from reference_controller import programs
    from vocabulary.clock import SIMULATION_EPOCH_US
    from vocabulary.history import OPERATOR, write_history
    from vocabulary.objects import name_of

    require_one_of("--clock", clock, CLOCKS)
    chosen = _chosen(controllers, none=no_controllers)
    services = addresses(service or ())
    given = [] if crds is None else definitions_in(crds)
    loaded = [each for path in load or () for each in manifests_in(path)]
    if history is not None:  # which is better known now than at the end
        history.parent.mkdir(parents=True, exist_ok=True)
        history.touch()
    replaced = {name_of(definition) for _, definition in given}
    references = [implementation("reference", role) for role in programs.names()]
    # Timestamps of clients, such as those of Events, are compared with the cluster's time.
    began_us = time.time_ns() // 1_000 if clock == "real" else SIMULATION_EPOCH_US
    cluster = SimulatedCluster(
        seed,
        nodes=nodes,
        gpus=gpus,
        crds=[crd for each in references for crd in each.crds() if name_of(crd) not in replaced],
        settings=Settings(
            endpoint_slices=True, reads_commands=True, every_kind=True, tells_uncontrolled=True
        ),
        controllers=chosen,
        began_us=began_us,
    )
    for place, definition in given:
        define(cluster.api, place, definition)
    for manifest in loaded:
        create(cluster.api, manifest, USER)
    served = serve_cluster(
        cluster,
        port,
        secrets.token_urlsafe(32),
        "real" if clock == "real" else "advanced",
        tls=not plain,
        actors={} if operator_kubeconfig is None else {secrets.token_urlsafe(32): OPERATOR},
        connections=connections,
    )
    cluster.api.conversion = RegisteredWebhooks(cluster.api, served.lock, services).convert
    for each in references:
        defined = set(map(name_of, each.crds())) - replaced
        cluster.api.conversion = of_definitions(defined, each.convert, cluster.api.conversion)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    written = {kubeconfig: USER}
    if operator_kubeconfig is not None:
        written[operator_kubeconfig] = OPERATOR
    with served, ExitStack() as files:
        for path, actor in written.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            served.write_kubeconfig(path, actor=actor)
            files.callback(_remove, path, path.read_bytes())
        typer.echo(f"server: {served.url}\nkubeconfig: {kubeconfig}")
        try:
            served.stopped.wait()
            if served.failure is not None:
                raise served.failure
        except KeyboardInterrupt:
            typer.echo("stopped")
        finally:
            if history is not None:
                with served.lock:
                    end(cluster)
                header = header_of(cluster, f"{OPERATOR}/serve", [OPERATOR])
                write_history(history, header, tuple(cluster.recorder.entries))
                typer.echo(f"history: {history}")


def _remove(path: Path, own: bytes) -> None:
    """Remove a kubeconfig. It may be another one's by now, which was started after this one."""
    if path.is_file() and path.read_bytes() == own:
        path.unlink()


def _chosen(controllers: str, *, none: bool) -> set[str] | None:
    """The names of the controllers to run; None for all of them."""
    from clusters.simulated.controllers import SHORT_NAMES
    from conformance.cli.one_of import require_one_of
    from conformance.cli.problems import BadInputError

    if none and controllers:
        raise BadInputError("--no-controllers and --controllers exclude each other; give one")
    if not controllers:
        return set() if none else None
    full = {name: name for name in SHORT_NAMES.values()}
    words = (word.strip() for word in controllers.split(","))
    return {
        full.get(word) or SHORT_NAMES[require_one_of("--controllers", word, SHORT_NAMES)]
        for word in words
    }


def addresses(services: Sequence[str]) -> dict[tuple[str, str], tuple[str, int]]:
    """Where Services listen, by namespace and name."""
    from conformance.cli.problems import BadInputError

    found: dict[tuple[str, str], tuple[str, int]] = {}
    for text in services:
        parts = _SERVICE.fullmatch(text)
        if parts is None or not 1 <= int(parts["port"]) <= 65535:
            raise BadInputError(
                f"--service {text!r} has to be NAMESPACE/NAME=HOST:PORT, for instance "
                "jobset-system/jobset-webhook-service=127.0.0.1:9443"
            )
        key = parts["namespace"], parts["name"]
        if key in found:
            raise BadInputError(f"--service {key[0]}/{key[1]} is given twice; give it once")
        found[key] = parts["host"], int(parts["port"])
    return found
