"""Component health: readiness and resource use."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit

from clusters.control_plane.commands import health_url
from clusters.control_plane.process import Process
from clusters.control_plane.state import Component

PROBE_TIMEOUT_SECONDS = 2.0

Condition = Literal["ready", "not ready", "paused", "ended"]


@dataclass(frozen=True)
class ComponentStatus:
    """One line of `assay cluster status`."""

    name: str
    pid: int | None
    port: int
    memory_bytes: int
    condition: Condition

    @property
    def ready(self) -> bool:
        return self.condition == "ready"


def status_of(component: Component) -> ComponentStatus:
    """Observe one component; a paused one is not probed, since it could not respond."""
    running = component.process
    if running is None or not running.is_alive():
        return ComponentStatus(component.name, None, component.port, 0, "ended")
    return ComponentStatus(
        component.name,
        running.pid,
        component.port,
        running.memory_bytes(),
        _condition_of(component, running),
    )


def _condition_of(component: Component, running: Process) -> Condition:
    if running.is_paused():
        return "paused"
    return "ready" if is_ready(component) else "not ready"


def is_ready(component: Component) -> bool:
    """True if the component's health endpoint responds with 200."""
    url = urlsplit(health_url(component.name, component.port))
    assert url.hostname is not None
    connection: http.client.HTTPConnection
    if url.scheme == "https":
        # Some components create their own certificate at start. On the loopback address, with
        # a request that reveals nothing, it need not be verified.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            url.hostname, url.port, timeout=PROBE_TIMEOUT_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(
            url.hostname, url.port, timeout=PROBE_TIMEOUT_SECONDS
        )
    try:
        connection.request("GET", url.path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
