"""`kubectl logs`: what `echo` has written in a container's command. No program runs here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from clusters.commands import output_of
from vocabulary.errors import ApiError
from vocabulary.objects import Object, get_path, name_of

LOG: Final = "log"


def logs_of(pod: Object, query: Mapping[str, str]) -> str:
    """The log of a container, as a kubelet answers; raises its 400 for one that has not started."""
    spec = pod["spec"]
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    names = [each["name"] for each in containers]
    wanted = query.get("container", "")
    if not wanted and len(names) > 1:
        raise _bad(
            f"a container name must be specified for pod {name_of(pod)}, choose one of: "
            f"[{' '.join(names)}]"
        )
    wanted = wanted or names[0]
    container = next((each for each in containers if each["name"] == wanted), None)
    if container is None:
        raise _bad(f"container {wanted} is not valid for pod {name_of(pod)}")
    statuses = (
        *(get_path(pod, "status.initContainerStatuses") or ()),
        *(get_path(pod, "status.containerStatuses") or ()),
    )
    state = next((each.get("state") for each in statuses if each["name"] == wanted), None) or {}
    if not state.keys() & {"running", "terminated"}:
        reason = get_path(state, "waiting.reason", "ContainerCreating")
        raise _bad(f'container "{wanted}" in pod "{name_of(pod)}" is waiting to start: {reason}')
    lines = output_of(container).splitlines(keepends=True)
    tail = query.get("tailLines", "")
    return "".join(lines[len(lines) - min(int(tail), len(lines)) :] if tail.isdecimal() else lines)


def _bad(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)
