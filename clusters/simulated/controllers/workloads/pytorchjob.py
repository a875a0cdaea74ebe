"""The PyTorchJob controller (kubeflow.org/v1), as far as it can be seen from outside.

One master, and workers, each a pod with a name of its own. What a failed pod means is said
per replica type: `Never` fails the job, `OnFailure` and `Always` replace the pod, `ExitCode`
replaces it for codes from 128 on and fails the job for all others.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, Final

from clusters.simulated.controllers.base import Work
from clusters.simulated.controllers.workloads.pods import (
    controller_reference,
    is_active,
    phase_of,
    pod_from_template,
)
from clusters.simulated.controllers.workloads.pytorchjob_status import (
    MASTER,
    begin,
    conclude,
    deadline_us,
    ended,
    set_condition,
    settle_counts,
    suspend,
)
from clusters.simulated.controllers.workloads.workload import WorkloadController
from vocabulary.clock import SECOND, Micros, parse_rfc3339, to_rfc3339
from vocabulary.errors import ApiError
from vocabulary.kinds import POD, PYTORCH_JOB, SERVICE
from vocabulary.objects import Object, get_path, is_terminating, labels_of, meta, name_of, uid_of
from vocabulary.requests import Create, Delete, Request, Update

PREFIX: Final = "training.kubeflow.org/"
CONTAINER: Final = "pytorch"
PORT: Final = 23456
_FIRST_RETRYABLE_CODE: Final = 128


class PyTorchJobController(WorkloadController):
    """The training operator's part for PyTorchJobs."""

    name = "pytorchjob-controller"
    kind = PYTORCH_JOB
    owns = (POD,)

    def sync(self, key: Any) -> Work:
        job = self.informers.get(PYTORCH_JOB, *key)
        if job is None or is_terminating(job):
            return None
        policy = job["spec"].get("runPolicy") or {}
        now = to_rfc3339(self.loop.now_us)
        status = dict(job.get("status") or {})
        before = dict(status)
        wake_at_us: Micros | None = None
        pods = self.informers.controlled_by(uid_of(job))
        if ended(status):
            yield from self._clean_up(pods, policy.get("cleanPodPolicy", "None"))
            wake_at_us = yield from self._expire(job, status, policy)
            settle_counts(status)
        elif policy.get("suspend"):
            yield from self._clean_up(pods, "All")
            suspend(job, status, now)
        else:
            begin(job, status, now)
            limit = self._limit_reached(job, status, pods, policy)
            if limit:
                status.setdefault("completionTime", now)
                yield from self._clean_up(pods, "All")
                set_condition(status, "Failed", "PyTorchJobFailed", limit, now)
            else:
                for type_, replica in sorted(job["spec"]["pytorchReplicaSpecs"].items()):
                    yield from self._replicate(job, status, type_, replica, now)
                conclude(job, status, now)
                wake_at_us = deadline_us(status, policy)
        if status != before:
            latest = self.informers.get(PYTORCH_JOB, *key)
            if latest is not None and uid_of(latest) == uid_of(job):
                yield Update(PYTORCH_JOB, {**latest, "status": status}, subresource="status")
        return wake_at_us

    def _limit_reached(
        self, job: Object, status: Object, pods: list[Object], policy: Object
    ) -> str:
        """The message with which a limit ends the job; empty if none is reached."""
        limit = policy.get("backoffLimit")
        if limit is not None:
            restarts = sum(
                container.get("restartCount", 0)
                for pod in pods
                if phase_of(pod) == "Running"
                and pod["spec"].get("restartPolicy") in ("OnFailure", "Always")
                for container in get_path(pod, "status.containerStatuses") or ()
            )
            failed = sum(phase_of(pod) == "Failed" for pod in pods)
            shown = sum(
                entry.get("failed", 0) for entry in (status.get("replicaStatuses") or {}).values()
            )
            fresh = failed > shown and sum(map(is_active, pods)) != len(pods)
            if (limit == 0 and (restarts or fresh)) or (limit and restarts >= limit):
                return (
                    f"Job {name_of(job)} has failed because it has reached the specified "
                    "backoff limit"
                )
        due_us = deadline_us(status, policy)
        if due_us is not None and self.loop.now_us >= due_us:
            return (
                f"Job {name_of(job)} has failed because it was active longer than specified "
                "deadline"
            )
        return ""

    def _replicate(
        self, job: Object, status: dict[str, Any], type_: str, replica: Object, now: str
    ) -> Generator[Request, Any, None]:
        """One replica type: create what is missing, replace what may be retried, count."""
        wanted = replica.get("replicas", 1)
        policy = replica.get("restartPolicy", "OnFailure")
        by_index = self._by_index(job, type_)
        counts = {"active": 0, "succeeded": 0, "failed": 0}
        for index in sorted({*range(wanted), *by_index}):
            pod = by_index.get(index)
            if pod is None:
                yield from self._create(job, type_, index, replica, policy)
                continue
            if index >= wanted:
                yield from self._delete_pod(pod)
                continue
            if phase_of(pod) == "Failed":
                code = _exit_code(pod)
                if policy in ("OnFailure", "Always") or (
                    policy == "ExitCode" and code is not None and code >= _FIRST_RETRYABLE_CODE
                ):
                    if not is_terminating(pod):
                        yield from self._delete_pod(pod)
                    text = (
                        f"PyTorchJob {name_of(job)} is restarting because {type_} "
                        "replica(s) failed."
                    )
                    set_condition(status, "Restarting", "PyTorchJobRestarting", text, now)
                counts["failed"] += 1
            elif phase_of(pod) == "Succeeded":
                counts["succeeded"] += 1
            elif phase_of(pod) == "Running":
                counts["active"] += 1
        selector = ",".join(
            f"{PREFIX}{name}={value}"
            for name, value in (
                ("job-name", name_of(job)),
                ("operator-name", "pytorchjob-controller"),
                ("replica-type", type_.lower()),
            )
        )
        entry = {name: value for name, value in counts.items() if value}
        status["replicaStatuses"] = {
            **(status.get("replicaStatuses") or {}),
            type_: {**entry, "selector": selector},
        }

    def _by_index(self, job: Object, type_: str) -> dict[int, Object]:
        found = {}
        for pod in self.informers.controlled_by(uid_of(job)):
            labels = labels_of(pod)
            index = labels.get(PREFIX + "replica-index", "")
            if labels.get(PREFIX + "replica-type") == type_.lower() and index.isdecimal():
                found[int(index)] = pod
        return found

    def _create(
        self, job: Object, type_: str, index: int, replica: Object, policy: str
    ) -> Generator[Request, Any, None]:
        """One replica's pod; a master gets a headless service of the same name."""
        namespace = meta(job)["namespace"]
        name = f"{name_of(job)}-{type_.lower()}-{index}"
        labels = {
            PREFIX + "job-name": name_of(job),
            PREFIX + "operator-name": "pytorchjob-controller",
            PREFIX + "replica-type": type_.lower(),
            PREFIX + "replica-index": str(index),
        }
        if type_ == MASTER:
            labels[PREFIX + "job-role"] = "master"
            yield from self._create_service(job, name, labels)
        pod = pod_from_template(job, PYTORCH_JOB, replica["template"])
        del pod["metadata"]["generateName"]
        pod["metadata"]["name"] = name
        pod["metadata"]["labels"] |= labels
        # Whether an exit code is final is decided here, so the kubelet must not restart.
        pod["spec"] = {
            **pod["spec"],
            "restartPolicy": "Never" if policy == "ExitCode" else policy,
        }
        yield Create(POD, pod, namespace)

    def _create_service(
        self, job: Object, name: str, labels: dict[str, str]
    ) -> Generator[Request, Any, None]:
        namespace = meta(job)["namespace"]
        if self.informers.get(SERVICE, namespace, name) is not None:
            return
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": labels,
                "ownerReferences": [controller_reference(job, PYTORCH_JOB)],
            },
            "spec": {
                "clusterIP": "None",
                "selector": labels,
                "ports": [{"name": "pytorchjob-port", "port": PORT}],
            },
        }
        try:
            yield Create(SERVICE, service, namespace)
        except ApiError as refused:
            if not refused.is_already_exists:
                raise

    def _delete_pod(self, pod: Object) -> Generator[Request, Any, None]:
        """A pod, and the service of the same name, if it has one."""
        yield from self.delete(POD, pod)
        service = self.informers.get(SERVICE, meta(pod)["namespace"], name_of(pod))
        if service is not None:
            yield from self.delete(SERVICE, service)

    def _clean_up(self, pods: list[Object], policy: str) -> Generator[Request, Any, None]:
        """`All` deletes every pod, `Running` those that have not ended, `None` none."""
        for pod in pods:
            if is_terminating(pod) or policy == "None":
                continue
            if policy == "All" or phase_of(pod) in ("Running", "Pending"):
                yield from self._delete_pod(pod)

    def _expire(self, job: Object, status: Object, policy: Object) -> Work:
        """Delete an ended job whose time to live is over; else when that will be."""
        ttl = policy.get("ttlSecondsAfterFinished")
        if ttl is None or "completionTime" not in status:
            return None
        expiry_us: Micros = parse_rfc3339(status["completionTime"]) + ttl * SECOND
        if self.loop.now_us < expiry_us:
            return expiry_us
        yield Delete(PYTORCH_JOB, meta(job)["namespace"], name_of(job), uid=uid_of(job))
        return None


def _exit_code(pod: Object) -> int | None:
    """The exit code of the container named `pytorch`; None if it has not terminated."""
    for container in get_path(pod, "status.containerStatuses") or ():
        if container["name"] == CONTAINER:
            code: int | None = get_path(container, "state.terminated.exitCode")
            return code
    return None
