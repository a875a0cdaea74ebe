"""Measure how long requests, watch events and controllers take on a control plane.

    python ci/bench/latencies.py              print what is measured beside what runs draw
    python ci/bench/latencies.py --write      have runs draw from what is measured from now on:
                                              clusters/simulated/latencies.json, docs/latencies.md
    python ci/bench/latencies.py --page       the page again, from that file

Takes a minute. Other clients write meanwhile, as in a run of a suite. A response is taken to be on
its way for half the time of a read: a write is committed so long before it arrives. With other
quantiles other runs come of equal seeds: what is recorded has to be made anew.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Final, TypeAlias

from kubernetes.client import ApiClient, BatchV1Api, CoreV1Api
from kubernetes.config import new_client_from_config
from urllib3 import HTTPResponse
from urllib3.exceptions import HTTPError

from clusters.behaviour import BEHAVIOUR
from clusters.control_plane import Api, ControlPlane, FakeNode, Settings, nodes
from clusters.control_plane.versions import KUBERNETES, version_of
from clusters.simulated.cluster import SimulatedCluster
from clusters.simulated.latencies import MEASURED, drawn
from vocabulary.clock import MINUTE, Micros
from vocabulary.kinds import JOB
from vocabulary.objects import Object, get_path, labels_of, meta, name_of
from vocabulary.requests import Create

ROOT: Final = Path(__file__).resolve().parents[2]
PAGE: Final = ROOT / "docs" / "latencies.md"
DATA: Final = ROOT / "clusters" / "simulated" / "latencies.json"
WRITES: Final = 2_000
JOBS: Final = 200
SHARES: Final = (0.05, 0.25, 0.5, 0.75, 0.95)
OTHERS: Final = 4
"""Clients that write meanwhile, each twenty times in a second."""
QUANTILES: Final = 33
LEAST_US: Final = 50
"""An event or a reaction takes at least so long, whatever the watches say."""
STEPS: Final = {
    "job_controller_us": (
        "Job controller: a Job is created → its first pod is created",
        "job",
        "pod",
    ),
    "scheduler_us": ("scheduler: a pod is created → it is bound", "pod", "bound"),
    "kubelet_us": ("kubelet: a pod is bound → it is Running", "bound", "running"),
}

PAGE_TEXT: Final = """# Latencies, measured and simulated

`python ci/bench/latencies.py --write` measures how long requests, watch events and controllers
take on a control plane of Kubernetes {kubernetes}, and writes this page. Measured:
{circumstances}.

The cells have the 5th, 25th, 50th, 75th and 95th percentile in milliseconds. In virtual time each
request, event and reaction is drawn from these distributions, which are in
clusters/simulated/latencies.json; runs read nothing else, so that equal seeds give equal bytes on
every machine. What is seen of them in virtual time stands beside them: a reaction also takes what
comes before it, such as another pod's turn.

| span | control plane | simulated |
|---|---|---|
{rows}

Where the event of a write arrives before its response, the cache of an operator is not behind its
own write. On the control plane that is so for {early} of 100 writes, in virtual time for
{early_simulated}. Rarer delays are faults with names: `DelayWatch`, `SlowApi`, `StaleReads`.

The kubelets of the control plane are KWOK's.
"""

Steps: TypeAlias = dict[str, dict[str, Micros]]
"""By Job: when each step was seen first."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="keep what is measured")
    parser.add_argument("--page", action="store_true", help="only write the page of what is kept")
    asked = parser.parse_args()
    if asked.page:
        PAGE.write_text(as_page(MEASURED, steps_of_simulation(JOBS)), encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        plane = ControlPlane(Path(folder), Settings())
        plane.start([])
        try:
            measured = measure(plane, WRITES, JOBS)
        finally:
            plane.stop()
    print(as_page(measured, steps_of_simulation(JOBS)))
    if asked.write:
        data = {"command": "python ci/bench/latencies.py --write", **measured}
        DATA.write_text(json.dumps(data) + "\n", encoding="utf-8")
        # A process reads the file once.
        subprocess.run([sys.executable, __file__, "--page"], check=True)
    return 0


def measure(plane: ControlPlane, writes: int, jobs: int) -> dict[str, Any]:
    """The circumstances, and quantiles of spans in µs."""
    told: dict[str, Any] = _circumstances()
    api = plane.api()
    client = new_client_from_config(str(plane.kubeconfig()))
    found = [FakeNode(f"n{number}", "a") for number in range(4)]
    nodes.create(api, found)
    nodes.wait_ready(api, [node.name for node in found])
    with _others(api):
        ways, told["early_events"] = _ways(api, client, writes)
        steps = _steps(api, client, jobs)
    return {**told, **{name: _quantiles(spans) for name, spans in ways.items()}, **reactions(steps)}


def _ways(api: Api, client: ApiClient, writes: int) -> tuple[dict[str, list[Micros]], int]:
    """The ways of each request, and of each event; of 100 writes, those whose event arrived before
    the response."""
    path = "/api/v1/namespaces/default/configmaps"
    api.post(path, {"metadata": {"name": "measured"}})
    found: dict[str, list[Micros]] = {"read_us": [], "write_us": [], "event_us": []}
    answered: dict[str, tuple[Micros, Micros]] = {}
    with _watched(CoreV1Api(client).list_namespaced_config_map) as seen:
        for number in range(writes):
            sent_us = _now_us()
            stored = api.patch(f"{path}/measured", {"data": {"n": str(number)}})
            written_us = _now_us()
            api.get(f"{path}/measured")
            found["read_us"].append((_now_us() - written_us) // 2)
            answered[meta(stored)["resourceVersion"]] = sent_us, written_us
            time.sleep(0.002)
        time.sleep(1)
    arrived = {meta(obj)["resourceVersion"]: at_us for at_us, obj in seen}
    back_us = round(statistics.median(found["read_us"]))
    early = sum(arrived[version] < at_us for version, (_, at_us) in answered.items())
    for version, (sent_us, written_us) in answered.items():
        committed_us = max(written_us - back_us, sent_us)
        found["write_us"].append(committed_us - sent_us)
        found["event_us"].append(max(arrived[version] - committed_us, LEAST_US))
    return found, round(100 * early / writes)


def _early_draws(event_us: Sequence[Micros], response_us: Sequence[Micros]) -> int:
    """Of 100 writes, those whose event takes less time than the response."""
    random = Random(1)
    pairs = (
        (drawn(event_us, random.random), drawn(response_us, random.random)) for _ in range(10_000)
    )
    return round(100 * sum(event < response for event, response in pairs) / 10_000)


def _steps(api: Api, client: ApiClient, jobs: int) -> Steps:
    steps: Steps = {}
    pods, of_jobs = CoreV1Api(client), BatchV1Api(client)
    with _watched(pods.list_namespaced_pod, of_jobs.list_namespaced_job) as seen:
        for number in range(jobs):
            api.post("/apis/batch/v1/namespaces/default/jobs", _job(number))
            time.sleep(0.1)
        time.sleep(3)
    for at_us, obj in seen:
        _take(steps, obj, at_us)
    return steps


def steps_of_simulation(jobs: int) -> Steps:
    """The same of Jobs on the simulated cluster."""
    cluster = SimulatedCluster(1)
    steps: Steps = {}
    cluster.store.watch(lambda change: _take(steps, change.object, cluster.loop.now_us))
    for number in range(jobs):
        job = _job(number)
        cluster.client("user")(Create(JOB, job, "default", name_of(job)))
        cluster.loop.run_until(lambda: False, cluster.loop.now_us + 100_000)
    cluster.loop.run_until(lambda: False, cluster.loop.now_us + MINUTE)
    return steps


def reactions(steps: Steps) -> dict[str, list[Micros]]:
    """Quantiles of the span of each of `STEPS`."""
    return {
        name: _quantiles(
            [
                max(each[until] - each[since], LEAST_US)  # of two watches, one may be behind
                for each in steps.values()
                if until in each
            ]
        )
        for name, (_, since, until) in STEPS.items()
    }


def _job(number: int) -> Object:
    template = {
        "metadata": {"annotations": {BEHAVIOUR: "run forever"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "none"}]},
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"measured-{number}", "namespace": "default"},
        "spec": {"template": template},
    }


def _take(steps: Steps, obj: Object, at_us: Micros) -> None:
    """Note what an object shows first."""
    if obj["kind"] == "Job":
        shown = {"job": True}
        name = name_of(obj)
    elif obj["kind"] == "Pod":
        is_running = get_path(obj, "status.phase") == "Running"
        shown = {"pod": True, "bound": get_path(obj, "spec.nodeName"), "running": is_running}
        name = labels_of(obj).get("job-name", "")
    else:
        return
    known = steps.setdefault(name, {})
    for step, value in shown.items():
        if value:
            known.setdefault(step, at_us)


@contextmanager
def _watched(*lists: Callable[..., HTTPResponse]) -> Iterator[list[tuple[Micros, Object]]]:
    """The objects of the events of these lists, each with the time of its arrival; at the end."""
    lines: list[tuple[Micros, bytes]] = []
    found: list[tuple[Micros, Object]] = []

    def read(response: HTTPResponse) -> None:
        with suppress(HTTPError):  # at the end the server goes
            lines.extend((_now_us(), line) for line in response)

    responses = [each("default", watch=True, _preload_content=False) for each in lists]
    for response in responses:
        threading.Thread(target=read, args=(response,), daemon=True).start()
    yield found
    found.extend((at_us, json.loads(line)["object"]) for at_us, line in list(lines))


@contextmanager
def _others(api: Api) -> Iterator[None]:
    """Clients that write as those of other runs do."""
    is_over = threading.Event()
    path = "/api/v1/namespaces/kube-public/configmaps"

    def write(number: int) -> None:
        api.post(path, {"metadata": {"name": f"other-{number}"}})
        for count in itertools.count():
            if is_over.wait(0.05):
                return
            api.patch(f"{path}/other-{number}", {"data": {"n": str(count)}})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(OTHERS)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _now_us() -> Micros:
    return time.monotonic_ns() // 1_000


def _quantiles(values: Sequence[Micros]) -> list[Micros]:
    """From the least to the 99th percentile, at even distances."""
    ordered = sorted(values)
    most = 0.99 * (len(ordered) - 1)
    return [ordered[round(most * n / (QUANTILES - 1))] for n in range(QUANTILES)]


def _circumstances() -> dict[str, Any]:
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "kubernetes": version_of(KUBERNETES),
        "machine": f"{os.cpu_count()} cores, {platform.system()} on {platform.machine()}",
        "load": f"{os.getloadavg()[0]:.1f} before, at nice {os.nice(0)}, beside {OTHERS} writers",
    }


def as_page(measured: Mapping[str, Any], simulated: Steps) -> str:
    """The Markdown page."""
    rows = [
        _row("a read, each way, and a response", measured["read_us"]),
        _row("a write, until it is committed", measured["write_us"]),
        _row("an event, from its commit", measured["event_us"]),
    ]
    for name, (what, *_) in STEPS.items():
        rows.append(_row(what, measured[name], reactions(simulated)[name]))
    circumstances = ", ".join(f"{name} {measured[name]}" for name in ("date", "machine", "load"))
    return PAGE_TEXT.format(
        kubernetes=measured["kubernetes"],
        circumstances=circumstances,
        rows="\n".join(rows),
        early=measured["early_events"],
        early_simulated=_early_draws(measured["event_us"], measured["read_us"]),
    )


def _row(what: str, measured: Sequence[Micros], simulated: Sequence[Micros] = ()) -> str:
    cells = (
        " / ".join(f"{drawn(each, lambda s=share: s) / 1000:.2f}" for share in SHARES)  # type: ignore[misc]
        for each in (measured, simulated or measured)
    )
    return f"| {what} | {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
