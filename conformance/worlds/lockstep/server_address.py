"""The address at which the API server listens for a program: the same in each repetition of a run.

Programs write it into messages of Events, which are in the history.
"""

from __future__ import annotations

import errno
import random
import socket
from typing import Final

_PORTS: Final = 10_000, 19_999
"""Below those of `clusters.control_plane.ports`, and of the kernel's for outgoing connections."""
_ATTEMPTS: Final = 100


def listen(key: str) -> tuple[socket.socket, str]:
    """Listen on a loopback address that the key decides; the listener, and a token.

    Linux has 16 million such addresses. A listener of the same key, in another process, takes the
    first one; the next one is used then.
    """
    draw = random.Random(key)
    token = f"{draw.getrandbits(96):024x}"
    for _ in range(_ATTEMPTS):
        host = ".".join(str(part) for part in (127, *(draw.randint(1, 254) for _ in range(3))))
        try:
            return socket.create_server((host, draw.randint(*_PORTS)), backlog=128), token
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
    raise OSError(errno.EADDRINUSE, f"{_ATTEMPTS} loopback addresses are in use")
