"""The network of an operator process: this machine's, or its own.

A program that listens on a fixed port can run only once in a network. On Linux the kernel provides
a separate network, with nothing but its loopback, to processes with the permission: such
operators then run in parallel. A socket belongs to the network of the thread that creates it, not
of those that use it. So a proxy whose listening socket is created inside forwards requests to the
outside, and a forwarder leads the other way.

Elsewhere runs with such operators take turns, see `conformance.worlds.turns`: there is one at a
time.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Final, Protocol, TypeVar

from clusters.control_plane.ports import LOOPBACK
from conformance.worlds.control_plane.forwarder import Forwarder

Made = TypeVar("Made")
CLONE_NEWNET: Final = 0x40000000
"""Of sched.h, for unshare and setns; Python has both since 3.12."""
_CLONE_NEWUTS: Final = 0x04000000
_SIOCSIFFLAGS: Final = 0x8914
_UP_AND_RUNNING: Final = 0x1 | 0x40
_INTERFACE_FLAGS: Final = "16sH22x"
"""struct ifreq: a name and flags."""


class Network(Protocol):
    """One operator process's."""

    @property
    def path(self) -> Path | None:
        """The kernel's file for it, to `enter`; None: that of this process."""

    def make(self, build: Callable[[], Made]) -> Made:
        """Call `build` so that its sockets are created there."""

    def connect(self, port: int) -> socket.socket:
        """Connect to a listener on the loopback address there. Raises OSError if there is none."""

    def show(self, port: int) -> None:
        """Have callers on this machine's loopback address reach who listens there."""

    def close(self) -> None:
        """It is needed no more: the process has ended."""


class MachineNetwork:
    """This machine's own."""

    path: Path | None = None

    def make(self, build: Callable[[], Made]) -> Made:
        return build()

    def connect(self, port: int) -> socket.socket:
        return socket.create_connection((LOOPBACK, port))

    def show(self, port: int) -> None:
        """They do."""

    def close(self) -> None:
        """It stays."""


class NamedMachine(MachineNetwork):
    """This machine's own, for a process that has a host name of its own.

    OSError if this user may not give it one.
    """

    def __init__(self, hostname: str) -> None:
        self._inside = _thread_in(partial(_name_machine, hostname))[0]

    def make(self, build: Callable[[], Made]) -> Made:
        return self._inside.submit(build).result()

    def close(self) -> None:
        self._inside.shutdown(cancel_futures=True)


class NetworkNamespace:
    """One of its own. It lasts as long as anything is in it, and needs no cleaning up.

    OSError if this user may not have one.
    """

    def __init__(self, hostname: str = "") -> None:
        """`hostname`: that of the processes that are started in it; by default this machine's."""
        self._shown: list[Forwarder] = []
        self._inside, self.path = _thread_in(partial(_move_to_a_new_one, hostname))

    def make(self, build: Callable[[], Made]) -> Made:
        return self._inside.submit(build).result()

    def connect(self, port: int) -> socket.socket:
        try:
            return self.make(partial(socket.create_connection, (LOOPBACK, port)))
        except (RuntimeError, CancelledError) as closed:
            raise ConnectionRefusedError(f"the network is closed: {closed}") from closed

    def show(self, port: int) -> None:
        forwarder = Forwarder(LOOPBACK, port, partial(self.connect, port))
        forwarder.start()
        self._shown.append(forwarder)

    def close(self) -> None:
        for forwarder in self._shown:
            forwarder.stop()
        self._inside.shutdown(cancel_futures=True)


@cache
def why_none_can_be_made() -> str:
    """Why this user cannot have networks of his own, in words; empty if he can."""
    return _why_not(NetworkNamespace)


@cache
def why_no_hostname_can_be_given() -> str:
    """Why this user cannot give processes a host name of their own, in words; empty if he can."""
    return _why_not(partial(NamedMachine, "any"))


def _why_not(make: Callable[[], Network]) -> str:
    try:
        make().close()
    except (OSError, AttributeError) as error:  # not permitted, or no Linux
        return str(error)
    return ""


def enter(network: Path) -> None:
    """Move this thread, and what it starts, to that network; OSError if it is gone."""
    with network.open("rb") as namespace:
        call_libc("setns", namespace.fileno(), CLONE_NEWNET)


def _thread_in(move: Callable[[], Made]) -> tuple[ThreadPoolExecutor, Made]:
    """A thread that has moved, for what is to be there, and what `move` returned."""
    inside = ThreadPoolExecutor(1, thread_name_prefix="network")
    try:
        return inside, inside.submit(move).result()
    except OSError:
        inside.shutdown()
        raise


def _name_machine(hostname: str) -> None:
    """Give what this thread starts a host name of its own."""
    call_libc("unshare", _CLONE_NEWUTS)
    socket.sethostname(hostname)


def _move_to_a_new_one(hostname: str) -> Path:
    """Move this thread to a new network whose loopback is up."""
    if hostname:
        _name_machine(hostname)
    call_libc("unshare", CLONE_NEWNET)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        up = struct.pack(_INTERFACE_FLAGS, b"lo", _UP_AND_RUNNING)
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, up)
    return Path(f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net")


def call_libc(function: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library that returns 0; OSError if it does not."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function}: {os.strerror(number)}")
