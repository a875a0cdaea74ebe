"""Components that die at their own start, played by a small program: which are started again."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from clusters.control_plane import ControlPlane, StartError, state, wait_until
from clusters.control_plane.layout import Layout
from clusters.control_plane.ports import free_ports
from clusters.control_plane.starting import STARTS

from .namespace import LIMIT_SECONDS

PROGRAM = """
import http.server, pathlib, sys
starts, deaths, port = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
with starts.open("a") as told:
    told.write("started\\n")
number = len(starts.read_text().splitlines())
if number <= deaths:
    sys.exit(f"panic at start {number}")
class Healthy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", port), Healthy).serve_forever()
"""
ANY_PORT = 0
"""Its port is unknown then, so it never becomes ready."""


@dataclass(frozen=True)
class Played:
    """A component that is played."""

    component: state.Component
    file: Path

    @property
    def starts(self) -> int:
        return len(self.file.read_text().splitlines()) if self.file.exists() else 0


def played(name: str, folder: Path, *, deaths: int, port: int | None = None) -> Played:
    """A component that dies at its first starts, and is ready at the next."""
    (free,) = free_ports(1)
    file = folder / f"{name}.starts"
    listens_on = free if port is None else port
    argv = (sys.executable, "-c", PROGRAM, str(file), str(deaths), str(listens_on))
    return Played(state.Component(name, argv, free), file)


def plane_of(folder: Path, *components: Played) -> ControlPlane:
    """A control plane that consists of these, and of which none runs as yet."""
    layout = Layout(folder)
    layout.logs.mkdir()
    remembered = state.State(
        detached=False,
        zones=(),
        tokens={},
        components=tuple(each.component for each in components),
        server="",
    )
    state.save(layout.state, remembered)
    return ControlPlane.attach(folder)


def test_a_component_that_dies_at_its_start_is_started_again(tmp_path: Path) -> None:
    kwok = played("kwok-a", tmp_path, deaths=STARTS - 1)
    with_it = plane_of(tmp_path, kwok)
    try:
        with_it.restart("kwok-a")
        assert kwok.starts == STARTS
        assert [each.condition for each in with_it.status()] == ["ready"]
    finally:
        with_it.stop()


def test_one_that_dies_at_each_start_is_given_up_on_with_its_name_and_last_words(
    tmp_path: Path,
) -> None:
    kwok = played("kwok-a", tmp_path, deaths=100)
    with pytest.raises(StartError) as given_up:
        plane_of(tmp_path, kwok).restart("kwok-a")
    first, *_, last = str(given_up.value).splitlines()
    assert first == f"kwok-a ended at its start, {STARTS} of {STARTS} times; the tail of its log:"
    assert last == f"panic at start {STARTS}"
    assert kwok.starts == STARTS


def test_one_that_ended_after_it_had_been_ready_is_not_started_again(tmp_path: Path) -> None:
    etcd = played("etcd", tmp_path, deaths=0)
    api_server = played("kube-apiserver", tmp_path, deaths=0)
    with_both = plane_of(tmp_path, etcd, api_server)
    Layout(tmp_path).log_of("kube-apiserver").write_text("killed by somebody\n")
    try:
        with pytest.raises(StartError, match=r"kube-apiserver ended[^\n]*\nkilled by somebody"):
            with_both.restart("etcd")
        assert (etcd.starts, api_server.starts) == (1, 0)
    finally:
        with_both.stop()


def test_a_control_plane_that_is_stopped_starts_nothing_again(tmp_path: Path) -> None:
    kwok = played("kwok-a", tmp_path, deaths=0, port=ANY_PORT)
    plane = plane_of(tmp_path, kwok)
    with ThreadPoolExecutor(1) as thread:
        restarted = thread.submit(plane.restart, "kwok-a")
        wait_until(lambda: kwok.starts == 1, "it was started", limit_seconds=LIMIT_SECONDS)
        plane.stop()
        with pytest.raises(StartError, match="kwok-a was not ready"):
            restarted.result()
    with pytest.raises(StartError, match="kwok-a cannot be started"):
        plane.restart("kwok-a")
    assert kwok.starts == 1
    assert [each.condition for each in plane.status()] == ["ended"]
