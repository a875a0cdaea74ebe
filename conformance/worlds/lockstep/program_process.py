"""A program as a process of the simulated cluster, through all its incarnations."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from chaos.ground import WatchRule
from clusters import parent_bound
from clusters.go_time.pacer import Pacer
from clusters.go_time.signals import await_delivery
from clusters.go_time.work import is_at_rest
from clusters.simulated.api_server import ApiServer
from clusters.simulated.loop import Loop, Timer
from clusters.simulated.serve.requests import Call
from conformance.implementations.under_test import Launch
from conformance.worlds.control_plane.network import Network
from conformance.worlds.lockstep.health_probe import listens
from conformance.worlds.lockstep.http_connection import CONNECT, TUNNELLED, HttpConnection
from conformance.worlds.lockstep.outgoing import Outgoing
from conformance.worlds.lockstep.own_files import OwnFiles, why_no_files_of_its_own
from conformance.worlds.lockstep.pacing import BusyError, Pacing
from conformance.worlds.lockstep.server_address import listen
from conformance.worlds.lockstep.serving import Served, Serving
from conformance.worlds.panics import PanicError, panics
from conformance.worlds.simulated.connection import Connection
from conformance.worlds.simulated.operator_process import FAST_WAKES, LEAST_POLL_US
from vocabulary.clock import SECOND, Micros
from vocabulary.errors import ApiError

_GARBAGE: Final = {"GOGC": "off", "GOMEMLIMIT": "400MiB"}
"""Collections cost more than memory in a life of seconds, and the runtime's clock forces one in
every two minutes, which pass at once here."""
_MOST_SHOWN: Final = 600
"""Characters of a log."""
_CLIENT_PORT: Final = re.compile(r"127\.0\.0\.1:\d+(?=->)")
_LOG_PID: Final = re.compile(r"([IWEF]\d{4} \d\d:\d\d:\d\d\.\d+) +\d+ ")
"""The process id in a line of klog."""
END_SECONDS: Final = 5.0
GRACE_US: Final = 30 * SECOND
"""The terminationGracePeriodSeconds of a pod that names none."""

T = TypeVar("T")


class EndedError(Exception):
    """A program has ended by itself; the message has the end of its log."""


class ProgramProcess:
    """One program. What it is asked by `clusters.simulated.processes`, it records nowhere."""

    def __init__(
        self,
        name: str,
        launch: Callable[[], Launch],
        *,
        network: Network,
        pacing: Pacing,
        loop: Loop,
        api: ApiServer,
        connection: Connection,
        outgoing: Outgoing,
        log: Path,
        on_end: Callable[[str, Exception], None],
        stream: str,
        run: str,
        ports: tuple[int, ...],
    ) -> None:
        """`launch` prepares a start and says how; `on_end` is called with (name, exception) when it
        has ended by itself; `stream` names its random streams; `run` identifies the run;
        `ports` are those it listens on."""
        self.name = name
        self.running = False
        self.paused = False
        self.network = network
        """The one that it lives in, for connections to it."""
        self._files = None if why_no_files_of_its_own() else OwnFiles(network)
        self._launch = launch
        self._random = loop.rng(f"{stream}/crypto")
        self._pacing = pacing
        self._loop = loop
        self._log = log
        self._started_us: Micros = 0
        self._log_begins = 0
        """Where the output of the present or last incarnation begins in the log."""
        self._ports = ports
        self._on_end = on_end
        self._backlog: list[Callable[[], None]] = []
        self._stopped: Callable[[], None] | None = None
        """To be called once it has ended, if it has been asked to."""
        self._grace: Timer | None = None
        self._wake: Timer | None = None
        self._wakes = 0
        """How often one of its timers was due."""
        self._busy_at = 0
        """The value of `_looks` when the store last changed, or it asked for more than watches."""
        self._idle_revision = 0
        self._answers_by_us: Micros = 0
        self._api = api
        self._process: subprocess.Popen[bytes] | None = None
        self._connections: dict[int, HttpConnection] = {}
        self._accepted = 0
        """How many connections it has begun."""
        self._calls: list[tuple[HttpConnection, Call]] = []
        """The requests of the present moment."""
        # Go's client sends no token where nothing is encrypted, so it is part of the path.
        self._listener, token = network.make(partial(listen, f"{run}/{name}"))
        self._token = f"/{token}"
        self._listener.setblocking(False)
        self._host, self.port = self._listener.getsockname()
        self.outgoing = outgoing
        self.serving = Serving(
            name,
            stream,
            Served(api, loop, self.port),
            connection,
            self.outgoing,
            self._reach,
            lambda: not self.fast_wakes_left,
        )
        pacing.read(self._listener.fileno(), self._accept)

    @property
    def url(self) -> str:
        """Its way to the API server."""
        return f"http://{self._host}:{self.port}{self._token}"

    def listens_on(self, port: int) -> bool:
        """True if it accepts connections there. It is not asked, and so takes no notice."""
        return self._process is not None and self.network.make(partial(listens, port))

    # Life: what `clusters.simulated.processes` asks of a process, and records.

    def start(self) -> None:
        """Start a new incarnation; nothing happens if one is running."""
        if self._process is not None:
            return
        launch = self._launch()
        # Each incarnation has numbers of its own: replicas are told apart by names made of them.
        self.pacer = Pacer(self._pacing.page, self._random.getrandbits(63))
        with self._log.open("ab") as log:
            self._log_begins = log.tell()
            self._process = self.network.make(partial(self._started, launch, log))
        self.pacer.began()
        self.outgoing.began()
        self._started_us = self._loop.now_us
        self.running = True
        self._pacing.join(self)

    def kill(self) -> None:
        """End the incarnation at once, with SIGKILL."""
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()
        self._gone()

    def stop(self, ended: Callable[[], None]) -> None:
        """Ask it to end, by SIGTERM; it has as long for it as in a pod."""
        process = self._process
        if process is None or self._stopped is not None:
            return
        self.resume()
        self._stopped = ended
        self._pacing.settle(self._loop.now_us)
        if self._process is not process:  # it has ended by what it had to do before
            return
        self._grace = self._loop.call_later(GRACE_US, self._end_stopped, process)
        process.send_signal(signal.SIGTERM)
        try:
            await_delivery(process.pid)
        except TimeoutError as busy:
            raise BusyError(f"{self.name}: {busy}") from None
        self.wake()

    def pause(self) -> None:
        """Stop it by SIGSTOP, unless it ends by what it has to do before: what arrives meanwhile
        waits."""
        if self._process is None or self.paused:
            return
        self._pacing.settle(self._loop.now_us)
        if self.running:
            self.paused = True
            self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it run on by SIGCONT, with whatever it believed when it was paused."""
        if self._process is None or not self.paused:
            return
        self.paused = False
        self._process.send_signal(signal.SIGCONT)
        self.wake()
        backlog, self._backlog = self._backlog, []
        for arrived in backlog:
            self._reach(arrived)

    def close(self) -> None:
        """The run is over."""
        self.kill()
        self._pacing.forget(self._listener.fileno())
        self._listener.close()
        self.network.close()

    @property
    def leads(self) -> bool:
        """True if it is up: who leads, it alone knows."""
        return self.running

    def is_idle(self) -> bool:
        """True if it has nothing to do now, and nothing is on its way to it or from it. Its next
        timer is one of the loop's."""
        if not self.running:
            return True
        return not self.paused and not self._pacing.is_awake(self) and self.serving.is_idle

    @property
    def starts_now(self) -> bool:
        """True at the time of its start: how far it has come, only the machine knows."""
        return self._started_us == self._loop.now_us

    def settle(self) -> None:
        """Let it do what it has to do now."""
        self.wake()
        self._pacing.settle(self._loop.now_us)

    def await_input(self) -> bool:
        """Let time pass until a timer of its is due, or something arrives at it, while all others
        stand still; False if neither happens before it has to have answered."""
        arrival, due_us = self.serving.next_arrival(), self.pacer.next_due_us
        moments = [*([arrival.at_us] if arrival else ()), *([due_us] if due_us else ())]
        if not moments or min(moments) > self._answers_by_us:
            return False
        self._loop.go_on(min(moments))
        if arrival is not None and arrival.at_us <= self._loop.now_us:
            arrival.run()
        return True

    def asked(self, act: Callable[[], T], within_us: Micros) -> T:
        """Ask it something, while all others stand still; what it asks for meanwhile is answered at
        once."""
        self._pacing.settle(self._loop.now_us)
        # What it asks for may be reviewed by itself.
        before = self.serving.is_aside, self._answers_by_us
        self.serving.is_aside, self._answers_by_us = True, self._loop.now_us + within_us
        try:
            return act()
        finally:
            self.serving.is_aside, self._answers_by_us = before
            self.wake()

    @property
    def last_words(self) -> str:
        """The end of its log since its last start, without what is different in each run."""
        log = self._log.read_bytes()[self._log_begins :] if self._log.exists() else b""
        # Cut after what differs is replaced: it has other lengths, and half of it is not found.
        end = log[-4 * _MOST_SHOWN :].decode("utf-8", "replace")
        end = end.replace(self.url, "SERVER").replace(f"{self._host}:{self.port}", "SERVER")
        end = _CLIENT_PORT.sub("CLIENT", end.replace(str(self._log.parent), "FOLDER"))
        end = _LOG_PID.sub(r"\1 PID ", end)
        for port in self._ports:
            end = end.replace(f":{port}", ":PORT")
        return f"its log ends: {end[-_MOST_SHOWN:].strip()}" if end else "its log is empty"

    @property
    def panics(self) -> Sequence[PanicError]:
        """Those that it has recovered from, in all its incarnations."""
        return panics(self._log.read_bytes()) if self._log.exists() else ()

    def on_watch_rule(self, rule: WatchRule, holds: bool) -> None:
        self.serving.on_watch_rule(rule, holds)

    # What its pacing asks, and tells it.

    @property
    def is_amid_request(self) -> bool:
        """True if part of a request of its has arrived: the rest follows once there is room."""
        return any(each.is_amid_request for each in self._connections.values())

    def sleeps(self) -> bool:
        """True if none of its threads can run, and none of its processes is left."""
        process = self._process
        return process is not None and is_at_rest(process.pid)

    def idle(self) -> None:
        """It has nothing to do until its next timer: wake it then.

        Requests of one moment know nothing of each other, and their order is the processor's. So
        they are sent in an order of ours.
        """
        calls, self._calls = self._calls, []
        if any(not call.flag("watch") for _, call in calls):  # watches are begun again and again
            self._busy_at = self._looks
        process = self._process
        for connection, call in sorted(calls, key=lambda each: _rank(*each)):
            self.serving.receive(connection, call)
            if self._process is not process:  # a fault that this set off has ended it
                return
        due_us = self._next_wake_us()
        if self._wake is not None:
            if self._wake.at_us == due_us and self._wake.callback is not None:
                return
            self._wake.cancel()
            self._wake = None
        if due_us is not None:
            self._wake = self._loop.call_at(due_us, self._is_due)

    def ended(self) -> None:
        """It has ended by itself."""
        process = self._process
        if process is None:
            return
        try:
            code = process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # it has closed what it must not close
            process.kill()
            code = process.wait()
        stopped = self._stopped
        self._gone()
        if stopped is not None:
            stopped()
            return
        self._on_end(self.name, EndedError(f"it ended with {code}; {self.last_words}"))

    # Inside.

    def _started(self, launch: Launch, log: BinaryIO) -> subprocess.Popen[bytes]:
        environment = {**os.environ, **_GARBAGE}
        if self._files is not None:
            shown = (Path(launch.command[0]), self._log.parent, *launch.reads)
            self._files.renew(shown, launch.mounts)
            environment.pop("TMPDIR", None)
        server = {"ASSAY_TIME_SERVER": f"{self._host}:{self.port}"}
        environment |= {**launch.environment, **self.pacer.environment, **server}
        return subprocess.Popen(
            [*parent_bound.prefix(os.getpid()), *launch.command],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=self.pacer.inherited,
            cwd=launch.folder,
        )

    def _next_wake_us(self) -> Micros | None:
        """When to wake it next: one that only polls is slowed, but not for what it has set for long
        ahead."""
        due_us, far_us = self.pacer.next_due_us, self.pacer.next_far_us
        if due_us is None:
            return None
        if self.fast_wakes_left:
            return max(due_us, self._loop.now_us + 1)
        slowed_us = max(due_us, self._loop.now_us + LEAST_POLL_US)
        return slowed_us if far_us is None else max(min(slowed_us, far_us), self._loop.now_us + 1)

    def _end_stopped(self, process: subprocess.Popen[bytes]) -> None:
        """Its time to end in is over."""
        stopped = self._stopped
        if stopped is not None and process is self._process:
            self.kill()
            stopped()

    def _is_due(self) -> None:
        self._pacing.timers += 1
        if self._idle_revision != self._api.store.revision:
            self._idle_revision = self._api.store.revision
            self._busy_at = self._looks
        self._wakes += 1
        self.wake()  # one that is paused looks at its timers when it is resumed

    @property
    def _looks(self) -> int:
        """How often it has looked at its timers: when the loop woke it, and by itself."""
        return self._wakes + self._pacing.page.moves

    @property
    def fast_wakes_left(self) -> int:
        """How often its timers may wake it in a row before it counts as one that only polls."""
        if self._idle_revision != self._api.store.revision:
            return FAST_WAKES
        return max(0, FAST_WAKES + self._busy_at - self._looks)

    def wake(self) -> None:
        """It has something to do, unless a fault that this set off has ended or paused it."""
        if self.running and not self.paused:
            self._pacing.wake(self)

    def _gone(self) -> None:
        self._process = None
        self.running = self.paused = False
        self._stopped = None
        if self._grace is not None:
            self._grace.cancel()
            self._grace = None
        self._backlog = []
        self._calls = []
        self.serving.end()
        self._pacing.leave(self)
        self._pacing.forget(self.pacer.fileno())
        self.pacer.close()
        for connection in self._connections.values():
            self._pacing.forget(connection.fileno())
            connection.close()
        self._connections = {}
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        # Connections that the program had begun and nobody has accepted.
        self._accept()
        for connection in tuple(self._connections.values()):
            self._drop(connection)

    def _reach(self, arrive: Callable[[], None]) -> None:
        """Let something arrive at the program, now or once it runs again."""
        if self.running and not self.paused:
            # One thing after the other: what it does first does not depend on the processor.
            self._pacing.settle(self._loop.now_us)
        if not self.running:
            return
        if self.paused:
            self._backlog.append(arrive)
            return
        self.wake()  # a fault that this sets off finds it at work
        arrive()

    def _accept(self) -> None:
        while True:
            try:
                accepted, _ = self._listener.accept()
            except BlockingIOError:
                return
            self._accepted += 1
            connection = HttpConnection(accepted, self._on_call, self._accepted)
            self._connections[connection.fileno()] = connection
            self._pacing.read(connection.fileno(), partial(self._read, connection))

    def _read(self, connection: HttpConnection) -> None:
        if not connection.receive():
            self._drop(connection)
        elif connection.is_amid_request and self.running:
            self._pacing.ask_again(self)

    def _drop(self, connection: HttpConnection) -> None:
        self._connections.pop(connection.fileno(), None)
        self._pacing.forget(connection.fileno())
        connection.close()

    def _on_call(self, connection: HttpConnection, call: Call) -> None:
        if call.method in (CONNECT, TUNNELLED) or connection.leads_to:
            self._calls.append((connection, call))
            return
        if not call.path.startswith(self._token):
            error = ApiError(401, "Unauthorized", "Unauthorized")
            connection.respond(error.code, error.to_status())
            return
        call = replace(call, path=call.path.removeprefix(self._token))
        self._calls.append((connection, call))


def _rank(connection: HttpConnection, call: Call) -> tuple[object, ...]:
    return call.method, call.path, sorted(call.query.items()), call.body, connection.number
