"""Watches at scale: does the served simulation lose or reorder events, and how late are they?

    python ci/bench/watchers.py                    print the table; takes three minutes
    python ci/bench/watchers.py --write            and write it to docs/benchmarks.md
    python ci/bench/watchers.py --clients 20       fewer clients; also --watches, --writers,
                                                   --seconds

Each client watches the ConfigMaps of as many namespaces as it has watches. Each writer counts up in
a ConfigMap of its own, once a second; the writers share the namespaces. The same load is put on
`assay serve` and on a control plane, one after the other. Exit code 1: an event was lost, or came
twice or out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import ssl
import subprocess
import sys
import tempfile
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from benchmarks_page import write_section

from clusters.control_plane import ControlPlane, Settings, users

HEADING = "Watches of many clients"
PERIOD_SECONDS = 1.0
SETTLING_SECONDS = 60.0
"""The time limit for watches to begin, and for the last events to arrive."""
AT_ONCE = 50
"""Watches that begin side by side."""
SPARE_CONNECTIONS = 100


class Load(NamedTuple):
    clients: int
    watches: int
    writers: int
    seconds: float

    @property
    def namespaces(self) -> list[str]:
        return [f"watched-{number}" for number in range(self.watches)]


class Target(NamedTuple):
    """A server under load."""

    name: str
    host: str
    port: int
    token: str
    tls: ssl.SSLContext
    pid: int
    """The process whose memory is measured."""


@dataclass
class Outcome:
    target: Target
    writes: int = 0
    events: int = 0
    wrong: list[str] = field(default_factory=list)
    write_ms: list[float] = field(default_factory=list)
    event_ms: list[float] = field(default_factory=list)
    begun_mib: float = 0.0
    """The server's memory once all watches have begun."""
    peak_mib: float = 0.0


@contextmanager
def simulated(load: Load) -> Iterator[Target]:
    """`assay serve` in a process of its own, with a place for each watch and writer."""
    places = load.clients * load.watches + load.writers + SPARE_CONNECTIONS
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kubeconfig")
        command = [sys.executable, "-m", "conformance.cli", "serve", "--no-controllers"]
        options = ["--nodes", "0", "--connections", str(places), "--kubeconfig", str(path)]
        with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            server.stdout.readline(), server.stdout.readline()
            try:
                config = yaml.safe_load(path.read_text())
                cluster = config["clusters"][0]["cluster"]
                tls = ssl.create_default_context(
                    cadata=b64decode(cluster["certificate-authority-data"]).decode()
                )
                token = config["users"][0]["user"]["token"]
                yield _target("assay serve", cluster["server"], token, tls, server.pid)
            finally:
                server.terminate()


@contextmanager
def real() -> Iterator[Target]:
    """A control plane; its API server is what is measured."""
    with tempfile.TemporaryDirectory() as folder:
        plane = ControlPlane(Path(folder), Settings(audit=False))
        plane.start([])
        try:
            config = yaml.safe_load(plane.kubeconfig(users.SCENARIO_USER).read_text())
            tls = ssl.create_default_context(cafile=str(plane.ca))
            token = config["users"][0]["user"]["token"]
            pid = next(each.pid for each in plane.status() if each.name == "kube-apiserver")
            assert pid is not None, "it has just answered"
            yield _target("kube-apiserver", plane.server, token, tls, pid)
        finally:
            plane.stop()


def _target(name: str, server: str, token: str, tls: ssl.SSLContext, pid: int) -> Target:
    host, _, port = server.removeprefix("https://").rpartition(":")
    return Target(name, host, int(port), token, tls, pid)


class Connection:
    """HTTP/1.1 over one connection, one request after the other."""

    def __init__(self, target: Target) -> None:
        self._target = target

    async def open(self) -> None:
        target = self._target
        self._reader, self._writer = await asyncio.open_connection(
            target.host, target.port, ssl=target.tls, limit=2**20
        )

    def close(self) -> None:
        self._writer.close()

    async def ask(self, method: str, path: str, body: Any = None) -> int:
        """Send a request, read the whole response, and return its code."""
        code = await self.begin(method, path, body)
        async for _ in self.parts():
            pass
        return code

    async def begin(self, method: str, path: str, body: Any = None) -> int:
        """Send a request, and read the head of the response."""
        data = b"" if body is None else json.dumps(body).encode()
        sort = "application/merge-patch+json" if method == "PATCH" else "application/json"
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._target.host}\r\n"
            f"Authorization: Bearer {self._target.token}\r\nContent-Type: {sort}\r\n"
            f"Content-Length: {len(data)}\r\n\r\n"
        )
        self._writer.write(head.encode() + data)
        await self._writer.drain()
        status = await self._reader.readline()
        self._length = 0
        self._is_chunked = False
        while (line := await self._reader.readline()).strip():
            name, _, value = line.decode("latin-1").partition(":")
            if name.lower() == "content-length":
                self._length = int(value)
            elif name.lower() == "transfer-encoding":
                self._is_chunked = True
        return int(status.split()[1])

    async def parts(self) -> Any:
        """The body, in the parts in which it comes."""
        if not self._is_chunked:
            yield await self._reader.readexactly(self._length)
            return
        while size := int(await self._reader.readline(), 16):
            yield (await self._reader.readexactly(size + 2))[:-2]
        await self._reader.readline()

    async def lines(self) -> Any:
        """The lines of a body; an API server need not send each in a part of its own."""
        rest = b""
        async for part in self.parts():
            *whole, rest = (rest + part).split(b"\n")
            for line in whole:
                yield line


class Bench:
    """One load on one server."""

    def __init__(self, target: Target, load: Load) -> None:
        self._target, self._load = target, load
        self._outcome = Outcome(target)
        self._sent: dict[tuple[str, int], float] = {}
        """When each writer's number was sent."""
        self._last: dict[str, int] = {}
        """The last number that each writer has written."""
        self._counts: list[dict[str, int]] = []
        """The last number that each watch has seen of each writer."""
        self._begun = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> Outcome:
        setup = Connection(self._target)
        await setup.open()
        for namespace in self._load.namespaces:
            made = {"metadata": {"name": namespace}}
            assert await setup.ask("POST", "/api/v1/namespaces", made) == 201
        for writer in range(self._load.writers):
            made = {"metadata": {"name": f"w{writer}"}, "data": {"n": "0"}}
            assert await setup.ask("POST", self._collection(writer), made) == 201
        setup.close()
        ready: list[asyncio.Event] = []
        tasks = []
        for _ in range(self._load.clients):
            for namespace in self._load.namespaces:
                ready.append(asyncio.Event())
                tasks.append(asyncio.create_task(self._watch(namespace, ready[-1])))
        await asyncio.wait_for(
            asyncio.gather(*(each.wait() for each in ready)), SETTLING_SECONDS + len(tasks) / 10
        )
        self._outcome.begun_mib = memory_mib(self._target.pid)
        deadline = time.perf_counter() + self._load.seconds
        await asyncio.gather(*(self._write(each, deadline) for each in range(self._load.writers)))
        await self._settled()
        self._outcome.peak_mib = memory_mib(self._target.pid, peak=True)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._count_lost()
        return self._outcome

    def _collection(self, writer: int) -> str:
        namespace = self._load.namespaces[writer % self._load.watches]
        return f"/api/v1/namespaces/{namespace}/configmaps"

    async def _watch(self, namespace: str, ready: asyncio.Event) -> None:
        seen: dict[str, int] = {}
        self._counts.append(seen)
        wanted = {
            f"w{writer}"
            for writer in range(self._load.writers)
            if self._load.namespaces[writer % self._load.watches] == namespace
        }
        connection = Connection(self._target)
        async with self._begun:
            await connection.open()
            path = f"/api/v1/namespaces/{namespace}/configmaps?watch=1&timeoutSeconds=3600"
            code = await connection.begin("GET", path)
            assert code == 200, code
        try:
            async for line in connection.lines():
                self._see(json.loads(line)["object"], seen)
                if wanted <= seen.keys():
                    ready.set()
            self._outcome.wrong.append(f"a watch of {namespace} ended")
        finally:
            connection.close()

    def _see(self, obj: Any, seen: dict[str, int]) -> None:
        name = obj["metadata"]["name"]
        if name not in self._last and "n" not in (obj.get("data") or {}):
            return  # kube-root-ca.crt, which a control plane adds
        number = int(obj["data"]["n"])
        if name in seen and number != seen[name] + 1:
            self._outcome.wrong.append(f"{name}: {number} after {seen[name]}")
        seen[name] = number
        if number:
            self._outcome.events += 1
            late = time.perf_counter() - self._sent[name, number]
            self._outcome.event_ms.append(late * 1e3)

    async def _write(self, writer: int, deadline: float) -> None:
        connection = Connection(self._target)
        await connection.open()
        name, number = f"w{writer}", 0
        await asyncio.sleep(PERIOD_SECONDS * writer / self._load.writers)
        while time.perf_counter() < deadline:
            number += 1
            began = self._sent[name, number] = time.perf_counter()
            path = f"{self._collection(writer)}/{name}"
            code = await connection.ask("PATCH", path, {"data": {"n": str(number)}})
            assert code == 200, code
            self._outcome.write_ms.append((time.perf_counter() - began) * 1e3)
            self._outcome.writes += 1
            await asyncio.sleep(max(0.0, began + PERIOD_SECONDS - time.perf_counter()))
        self._last[name] = number
        connection.close()

    async def _settled(self) -> None:
        deadline = time.perf_counter() + SETTLING_SECONDS
        while time.perf_counter() < deadline and not all(map(self._has_all, self._counts)):
            await asyncio.sleep(0.2)

    def _has_all(self, seen: dict[str, int]) -> bool:
        return all(number == self._last[name] for name, number in seen.items())

    def _count_lost(self) -> None:
        for seen in self._counts:
            self._outcome.wrong += [
                f"{name}: {self._last[name]} is lost, {number} was the last"
                for name, number in seen.items()
                if number != self._last[name]
            ]


def memory_mib(pid: int, *, peak: bool = False) -> float:
    """The memory of a process."""
    wanted = "VmHWM:" if peak else "VmRSS:"
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(wanted):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"/proc/{pid}/status has no {wanted}")


def measure(load: Load) -> Iterator[Outcome]:
    """Put the load on both servers, one after the other."""
    with simulated(load) as target:
        yield asyncio.run(Bench(target, load).run())
    with real() as target:
        yield asyncio.run(Bench(target, load).run())


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def row(outcome: Outcome) -> str:
    write, event = outcome.write_ms, outcome.event_ms
    latencies = (
        f"{quantile(each, share):.0f}" for each in (write, event) for share in (0.5, 0.99, 1.0)
    )
    return (
        f"| {outcome.target.name} | {outcome.writes:,} | {outcome.events:,} "
        f"| {len(outcome.wrong)} | {' | '.join(latencies)} "
        f"| {outcome.begun_mib:.0f} | {outcome.peak_mib:.0f} |\n"
    )


def section(load: Load, outcomes: list[Outcome], at: datetime, machine_load: float) -> str:
    return (
        f"Measured with `python ci/bench/watchers.py --write` on {at:%Y-%m-%d}, in one run, on "
        f"{len(os.sched_getaffinity(0))} cores ({platform.machine()}) with a load of "
        f"{machine_load:.1f} when it began: {load.clients} clients with {load.watches} watches "
        f"each, {load.writers} writers that write once a second, {load.seconds:.0f} seconds. "
        "Times are milliseconds of wall time since a write was sent: until it was answered, and "
        "until a watch had its event. Client and server share the cores.\n\n"
        "| server | writes | events | lost, repeated, disordered | write, median | p99 | longest "
        "| event, median | p99 | longest | MiB once all watch | MiB at most |\n"
        f"|---|{'---:|' * 11}\n{''.join(map(row, outcomes))}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--watches", type=int, default=20, help="of each client")
    parser.add_argument("--writers", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--write", action="store_true", help="also write docs/benchmarks.md")
    given = parser.parse_args()
    load = Load(given.clients, given.watches, given.writers, given.seconds)
    at, machine_load = datetime.now(UTC), os.getloadavg()[0]
    outcomes = list(measure(load))
    body = section(load, outcomes, at, machine_load)
    print(body)
    if given.write:
        write_section(HEADING, body)
    wrong = [f"{each.target.name}: {text}" for each in outcomes for text in each.wrong[:10]]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
