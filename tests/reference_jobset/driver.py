"""One JobSet operator on a simulated cluster, with faults that tests ask for."""

from __future__ import annotations

from typing import Any, Final

from clusters.behaviour import expand
from reference_controller.jobset.admission import mutate, validate
from reference_controller.jobset.config import JobSetConfig
from reference_controller.jobset.job_set_controller import JobSetController
from reference_controller.jobset.manifests import MANIFESTS
from reference_controller.jobset.names import JOB_SET
from reference_controller.jobset.rules import Rules
from reference_controller.runtime.admission_review import UserInfo
from tests.operator_world import NAMESPACE, OperatorWorld
from vocabulary import requests as rq
from vocabulary.kinds import JOB, POD
from vocabulary.objects import Object, condition_status, get_path, name_of

USER: Final = UserInfo("admin", "u-1")


class World(OperatorWorld):
    """A cluster, and one JobSet operator process."""

    def __init__(self, *, rules: Rules | None = None, **more: Any) -> None:
        self.rules = rules or Rules()
        (crd,) = MANIFESTS.objects("crd.yaml")
        super().__init__(crd, **more)

    def controllers_of_process(self) -> tuple[JobSetController]:
        return (JobSetController(JobSetConfig(), self.rules),)

    def submit(self, *replicated_jobs: Object, name: str = "js", **spec: Any) -> None:
        self.user(rq.create(admitted(job_set(*replicated_jobs, name=name, **spec))))

    def patch(self, body: Object, name: str = "js") -> None:
        self.patch_object(JOB_SET, name, body)

    @property
    def now(self) -> Object:
        return self.get(JOB_SET, "js") or {}

    def status(self, path: str) -> Any:
        return get_path(self.now, f"status.{path}")

    def is_(self, type_: str) -> bool:
        return condition_status(self.now, type_) == "True"

    def ready(self) -> int:
        """How many Jobs are ready."""
        return sum(each["ready"] for each in self.status("replicatedJobsStatus") or ())

    def exit_pod(self, job: str, code: int) -> None:
        """Have the pods of a Job exit."""
        for pod in self.user(rq.List(POD, NAMESPACE, label_selector=f"job-name={job}")).items:
            body = {"metadata": {"annotations": {"assay.dev/exit": str(code)}}}
            self.patch_object(POD, name_of(pod), body)

    def jobs(self) -> dict[str, Object]:
        return {job["metadata"]["name"]: job for job in self.user(rq.List(JOB, NAMESPACE)).items}


def admitted(made: Object) -> Object:
    """A JobSet after admission."""
    return validate("CREATE", mutate("CREATE", made, None, USER), None, USER)


def job_set(*replicated_jobs: Object, name: str = "js", **spec: Any) -> Object:
    return {
        "apiVersion": JOB_SET.api_version,
        "kind": JOB_SET.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"replicatedJobs": list(replicated_jobs), **spec},
    }


def replicated_job(
    name: str = "a", behaviour: str = "", replicas: int = 1, pods: int = 1, **more: Any
) -> Object:
    annotations = {"assay.dev/behaviour": behaviour} if behaviour else {}
    template: Object = {
        "metadata": {"annotations": annotations},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "i"}]},
    }
    job = {"parallelism": pods, "completions": pods, "backoffLimit": 0, "template": template}
    return expand({"name": name, "replicas": replicas, "template": {"spec": job}, **more})


def policy(*rules: Object, max_restarts: int = 0, **more: Any) -> Object:
    return {"maxRestarts": max_restarts, "rules": list(rules), **more}
