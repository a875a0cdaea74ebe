"""The kubelets: one process per node, which plays the pods that are bound to it.

Annotations set the behaviour of a pod's containers (see `clusters.behaviour`), and may change
while the pod runs. Phases go Pending, Running, Succeeded or Failed; containers are restarted in
place according to the restart policy. A pod that is being deleted gets its time to stop, is killed
when its grace period is over, ends with a final phase, and is only then deleted with grace period
0, as in reality: watches see a failed pod for some milliseconds.

There are no heartbeats: a live node writes nothing, and the node controller is notified when a
kubelet falls silent (see `node_lifecycle`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from clusters import behaviour
from clusters.crash_loop import crash_loop_us
from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.controllers.kubelets import pod_status
from clusters.simulated.controllers.kubelets.node_status import ready_condition
from clusters.simulated.controllers.kubelets.wishes import event_about, understood
from clusters.simulated.latencies import MEASURED
from clusters.simulated.store import Change
from vocabulary.clock import MINUTE, SECOND, Micros, parse_rfc3339, to_rfc3339
from vocabulary.durations import parse_duration
from vocabulary.errors import ApiError
from vocabulary.kinds import NODE, POD
from vocabulary.objects import (
    Object,
    annotations_of,
    condition_status,
    get_path,
    is_terminating,
    labels_of,
    meta,
    name_of,
    uid_of,
)
from vocabulary.requests import Delete, Update

SIGTERM_EXIT_CODE: Final = 143
SIGKILL_EXIT_CODE: Final = 137
MIN_GRACE_SECONDS: Final = 2
"""A kubelet gives containers that long, even if finalizers alone keep their pod."""
_NODE_KEY: Final = "node"
_FINAL: Final = ("Succeeded", "Failed")
_CRASH_LOOP_RESET_US: Final = 10 * MINUTE
"""A container that ran this long begins with the shortest back-off again."""


@dataclass(slots=True)
class _Memory:
    """A kubelet's memory of one pod; points in time are exact, unlike the API's."""

    uid: str
    seen_us: Micros
    began_us: Micros | None = None
    """When the containers last started."""
    crashed_us: Micros | None = None
    crashes: int = 0
    """Crashes in a row, for the back-off."""
    stopping_us: Micros | None = None
    """The time at which they were asked to stop."""
    kill_us: Micros = 0
    """The time at which they are killed if they still run."""
    told: set[str] = field(default_factory=set)
    """The messages of its Events."""
    removed: bool = False
    """The last delete, with grace 0, was sent; only finalizers keep the object."""


class Kubelet(Controller):
    """The kubelet of one node, with the node's network addresses."""

    queue_delay_us = MEASURED["kubelet_us"]

    def __init__(self, environment: Environment, node: str, number: int) -> None:
        self.node = node
        self.name = f"kubelet/{node}"
        self.host_ip = f"172.18.{number // 250}.{number % 250 + 1}"
        self._subnet = f"10.{244 + number // 256}.{number % 256}"
        self._addresses = 0
        self._pods: dict[Hashable, _Memory] = {}
        super().__init__(environment)

    def listen(self) -> None:
        """Nothing of its own: `Kubelets` hands every change to the one that it concerns."""

    def everything(self) -> Iterable[Hashable]:
        yield _NODE_KEY
        for pod in self.informers.pods_on(self.node):
            yield meta(pod)["namespace"], name_of(pod)

    def forget(self) -> None:
        self._pods.clear()

    def hear(self, change: Change) -> None:
        """A change of this node, or of a pod that is bound to it."""
        if not self.running or self.hears_later(self.hear, change):
            return
        if change.key.kind == str(NODE):
            if change.event == "ADDED":
                for entry in self.everything():
                    self.enqueue(entry)
            elif change.event == "MODIFIED":
                self.enqueue(_NODE_KEY)
        else:
            key = change.key.namespace, change.key.name
            if change.event == "DELETED":
                self._pods.pop(key, None)
                self.drop(key)
            elif change.event == "ADDED" or _concerns_kubelet(change, key in self._working):
                self.enqueue(key)

    def sync(self, key: Hashable) -> Work:
        if key == _NODE_KEY:
            return self._report_node()
        return self._play(key)

    def _report_node(self) -> Work:
        """Say whether the node is ready, where that is not yet what its status says."""
        node = self.informers.get(NODE, "", self.node)
        if node is None:
            return None
        ready = labels_of(node).get(behaviour.NOT_READY_LABEL) != "true"
        if condition_status(node, "Ready") != ("True" if ready else "False"):
            now = to_rfc3339(self.loop.now_us)
            status = ready_condition(node, "True" if ready else "False", now)
            yield Update(NODE, {**node, "status": status}, subresource="status")
        return None

    def _play(self, key: Hashable) -> Work:
        """Take a pod to its next state; the next moment at which something changes by itself."""
        assert isinstance(key, tuple)
        pod = self.informers.get(POD, *key)
        if pod is None or pod["spec"].get("nodeName") != self.node:
            self._pods.pop(key, None)
            return None
        if self.informers.get(NODE, "", self.node) is None:
            # The machine is gone together with its Node object, and with it who could play.
            return None
        memory = self._pods.get(key)
        if memory is None or memory.uid != uid_of(pod):
            memory = self._pods[key] = self._remember(pod)
        now_us = self.loop.now_us
        wishes, unclear = self._wishes(pod)
        if unclear and unclear not in memory.told:
            memory.told.add(unclear)
            with suppress(ApiError):
                yield event_about(pod, unclear, self.loop.now_us)
        phase = get_path(pod, "status.phase", "Pending")
        if is_terminating(pod):
            return (yield from self._stop(pod, phase, memory, wishes))
        if phase in _FINAL:
            return None
        now = to_rfc3339(now_us)
        ready = wishes.get(behaviour.HOLD) != behaviour.HOLD_NOT_READY
        status: Object
        if phase == "Pending":
            hold = wishes.get(behaviour.HOLD)
            if hold == behaviour.HOLD_PENDING:
                return None
            if hold in (behaviour.HOLD_INIT, behaviour.HOLD_IMAGE):
                status = pod_status.held(pod, hold == behaviour.HOLD_INIT, now)
                if status != pod.get("status"):
                    yield _status_update(pod, status)
                return None
            due_us = memory.seen_us + _span(wishes, behaviour.READY_AFTER)
            if now_us < due_us:
                return due_us
            memory.began_us = now_us
            self._addresses += 1
            pod_ip = f"{self._subnet}.{self._addresses % 254 + 1}"
            status = pod_status.started(pod, ready, self.host_ip, pod_ip, now)
            pod = yield _status_update(pod, status)
            return self._exit_due_us(pod, memory, wishes)
        if memory.crashed_us is not None:
            due_us = memory.crashed_us + self._crash_loop_us(memory, wishes)
            if now_us < due_us:
                return due_us
            memory.crashed_us, memory.began_us = None, now_us
            pod = yield _status_update(pod, pod_status.restarted(pod, ready, now))
            return self._exit_due_us(pod, memory, wishes)
        if (condition_status(pod, "Ready") == "True") != ready:
            pod = yield _status_update(pod, pod_status.readiness(pod, ready, now))
            return self._exit_due_us(pod, memory, wishes)
        exit_us = self._exit_due_us(pod, memory, wishes)
        if exit_us is None or now_us < exit_us:
            return exit_us
        code = int(wishes[behaviour.EXIT])
        reason = wishes.get(behaviour.REASON) or ("Error" if code else "Completed")
        policy = pod["spec"]["restartPolicy"]
        if policy == "Never" or (policy == "OnFailure" and code == 0):
            yield _status_update(pod, pod_status.ended(pod, code, reason, now))
            return None
        assert memory.began_us is not None
        if now_us - memory.began_us >= _CRASH_LOOP_RESET_US:
            memory.crashes = 0
        memory.crashes += 1
        memory.crashed_us = now_us
        yield _status_update(pod, pod_status.crashed(pod, code, reason, now))
        return now_us + self._crash_loop_us(memory, wishes)

    def _stop(self, pod: Object, phase: str, memory: _Memory, wishes: Object) -> Work:
        """Graceful termination: time to stop, a final phase, and the last delete."""
        if wishes.get(behaviour.STUCK_TERMINATING) == "true":
            return None
        now_us = self.loop.now_us
        now = to_rfc3339(now_us)
        if phase == "Running":
            stop_us = self._stop_due_us(pod, memory, wishes)
            due_us = min(stop_us, memory.kill_us)
            if now_us < due_us:
                return due_us
            is_killed = due_us < stop_us
            own_code = int(wishes.get(behaviour.TERM_EXIT, SIGTERM_EXIT_CODE))
            code = SIGKILL_EXIT_CODE if is_killed else own_code
            reason = "Error" if code else "Completed"
            yield _status_update(pod, pod_status.ended(pod, code, reason, now))
        elif phase not in _FINAL:
            yield _status_update(pod, pod_status.never_started(pod, now))
        if not memory.removed and meta(pod).get("deletionGracePeriodSeconds") != 0:
            memory.removed = True
            yield Delete(
                POD,
                meta(pod)["namespace"],
                name_of(pod),
                grace_period_seconds=0,
                uid=uid_of(pod),
            )
        return None

    def _stop_due_us(self, pod: Object, memory: _Memory, wishes: Object) -> Micros:
        """When the containers stop by themselves; and note by when they have to.

        The grace period begins when the kubelet asks them to stop, and a shorter one, which another
        deletion sets, when the kubelet hears of it.
        """
        now_us = self.loop.now_us
        grace_seconds = max(meta(pod).get("deletionGracePeriodSeconds") or 0, MIN_GRACE_SECONDS)
        kill_us = now_us + grace_seconds * SECOND
        if memory.stopping_us is None:
            memory.stopping_us, memory.kill_us = now_us, kill_us
        memory.kill_us = min(memory.kill_us, kill_us)
        return memory.stopping_us + _span(wishes, behaviour.TERM_FOR)

    def _remember(self, pod: Object) -> _Memory:
        """A pod that is new to this process; after a restart its containers have run on."""
        memory = _Memory(uid_of(pod), self.loop.now_us)
        for container in get_path(pod, "status.containerStatuses") or ():
            state = container.get("state") or {}
            if "running" in state:
                memory.began_us = parse_rfc3339(state["running"]["startedAt"])
            elif "waiting" in state and container.get("lastState"):
                memory.crashes = container["restartCount"] + 1
                memory.crashed_us = parse_rfc3339(
                    container["lastState"]["terminated"]["finishedAt"]
                )
        return memory

    def _wishes(self, pod: Object) -> tuple[Object, str]:
        """The single annotations of a pod's behaviour, and what of it is not understood."""
        given = annotations_of(pod)
        settings = self.settings
        if not settings.reads_commands:
            return given, ""
        return understood(given, pod["spec"], settings.behaviours)

    def _exit_due_us(self, pod: Object, memory: _Memory, wishes: Object) -> Micros | None:
        """When the running containers exit by themselves; None if they do not."""
        if behaviour.EXIT not in wishes or memory.began_us is None:
            return None
        times = wishes.get(behaviour.EXIT_TIMES)
        if times is not None:
            statuses = get_path(pod, "status.containerStatuses") or ()
            if max((entry["restartCount"] for entry in statuses), default=0) >= int(times):
                return None
        return memory.began_us + _span(wishes, behaviour.RUN_FOR)

    def _crash_loop_us(self, memory: _Memory, wishes: Object) -> Micros:
        if behaviour.RESTART_AFTER in wishes:
            return _span(wishes, behaviour.RESTART_AFTER)
        settings = self.settings
        return crash_loop_us(
            memory.crashes, settings.crash_loop_backoff_us, settings.crash_loop_backoff_limit_us
        )


class Kubelets:
    """Hands every change of a node or a bound pod to the kubelet that it concerns."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.by_node: dict[str, Kubelet] = {}
        environment.informers.on(POD, self._pod_changed)
        environment.informers.on(NODE, self._node_changed)

    def add(self, node: str) -> Kubelet:
        """The kubelet of a node, made if there is none yet; not started."""
        kubelet = self.by_node.get(node)
        if kubelet is None:
            kubelet = Kubelet(self._environment, node, len(self.by_node))
            self.by_node[node] = kubelet
        return kubelet

    def _pod_changed(self, change: Change) -> None:
        node = change.object["spec"].get("nodeName")
        if node:
            kubelet = self.by_node.get(node)
            if kubelet is not None:
                kubelet.hear(change)

    def _node_changed(self, change: Change) -> None:
        kubelet = self.by_node.get(change.key.name)
        if kubelet is not None:
            kubelet.hear(change)


def _concerns_kubelet(change: Change, writing: bool) -> bool:
    """True if a kubelet may have to act: not on labels, nor on its own status writes.

    Readiness that changes while it is not `writing` itself was set by the node controller.
    """
    new, old = change.object, change.old
    assert old is not None
    new_meta, old_meta = new["metadata"], old["metadata"]
    return (
        new_meta.get("annotations") != old_meta.get("annotations")
        or new_meta.get("deletionTimestamp") != old_meta.get("deletionTimestamp")
        or new_meta.get("uid") != old_meta.get("uid")
        or new["spec"] != old["spec"]
        or (not writing and condition_status(new, "Ready") != condition_status(old, "Ready"))
    )


def _status_update(pod: Object, status: Object) -> Update:
    return Update(POD, {**pod, "status": status}, subresource="status")


def _span(wishes: Object, annotation: str) -> Micros:
    """A duration annotation in µs; 0 where it is absent. ValueError names the annotation."""
    text = wishes.get(annotation)
    if text is None:
        return 0
    try:
        return parse_duration(text)
    except ValueError as error:
        raise ValueError(f"annotation {annotation}: {error}") from error
