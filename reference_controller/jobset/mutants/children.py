"""Jobs that are created otherwise than their JobSet says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import RESTART, RESTART_ATTEMPT
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object, name_of
from vocabulary.requests import Delete


@MUTANTS.mutant(Rules.as_annotations, "It labels Jobs, and does not annotate them.", "JS-103")
def no_annotations(self: Rules, marks: Mapping[str, str]) -> Mapping[str, str]:
    return {}


@MUTANTS.mutant(
    Rules.as_annotations, "It creates Jobs with the mark of those to restart.", "JS-024"
)
def new_jobs_are_marked(self: Rules, marks: Mapping[str, str]) -> Mapping[str, str]:
    return {**Rules.as_annotations(self, marks), RESTART: "true"}


@MUTANTS.mutant(Rules.spec_of, "It drops the podFailurePolicy of a template.", "JS-104")
def pod_failures_are_retried(self: Rules, template: Object) -> Object:
    spec = Rules.spec_of(self, template)
    return {key: value for key, value in spec.items() if key != "podFailurePolicy"}


@MUTANTS.wrong_rules("It gives a deadline to all Jobs after the first one.", "JS-104")
class LaterJobsHaveADeadline(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._has_created = False

    def spec_of(self, template: Object) -> Object:
        spec = super().spec_of(template)
        if not self._has_created:
            self._has_created = True
            return spec
        return {"activeDeadlineSeconds": 3_600, **spec}


@MUTANTS.wrong_rules("It takes JobSets of one name in two namespaces for one.", "JS-105")
class NamespacesAreOne(Rules):
    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, str] = {}
        """The namespace of the first JobSet of each name."""

    def looks_in(self, job_set: Object) -> str:
        return self._first.setdefault(name_of(job_set), super().looks_in(job_set))


@MUTANTS.mutant(Rules.service_spec, "Its Service is not headless.", "JS-106")
def service_has_an_address(self: Rules, selector: Mapping[str, str], publishes: bool) -> Object:
    spec = Rules.service_spec(self, selector, publishes)
    return {
        **{key: each for key, each in spec.items() if key != "clusterIP"},
        "ports": [{"port": 80}],
    }


@MUTANTS.mutant(Rules.service_spec, "Its Service selects no pod of a restart.", "JS-106")
def service_is_of_the_first_attempt(
    self: Rules, selector: Mapping[str, str], publishes: bool
) -> Object:
    return Rules.service_spec(self, {**selector, RESTART_ATTEMPT: "0"}, publishes)


@MUTANTS.mutant(Rules.service_name, "Its Service is not of the subdomain's name.", "JS-106")
def service_has_a_name_of_its_own(self: Rules, subdomain: str) -> str:
    return f"{subdomain}-pods"


@MUTANTS.mutant(Rules.attempt, "It marks all Jobs as those of the first attempt.", "JS-103")
def attempts_stay_the_first(self: Rules, job_set: Object, partial_restarts: int) -> int:
    return 0


@MUTANTS.mutant(Rules.job_key, "Jobs of several JobSets share a topology domain.", "JS-076")
def namesakes_share_domains(self: Rules, job_set: Object, child: ChildId) -> str:
    return f"{child.replicated_job}-{child.number}"


@MUTANTS.mutant(
    Rules.affinity_term, "Jobs of several namespaces share a topology domain.", "JS-076"
)
def namespaces_share_domains(self: Rules, selector: Object, topology: str) -> Object:
    term = Rules.affinity_term(self, selector, topology)
    return {key: value for key, value in term.items() if key != "namespaceSelector"}


@MUTANTS.mutant(Rules.manages, "It manages what is another controller's.", "JS-108")
def manages_all(self: Rules, job_set: Object) -> bool:
    return True


@MUTANTS.mutant(Rules.works_on, "It builds up what is being deleted.", "JS-113")
def builds_up_the_deleted(self: Rules, job_set: Object) -> bool:
    return True


@MUTANTS.mutant(Rules.delete, "It deletes whatever has the name of a Job that restarts.", "JS-112")
def deletes_any_namesake(self: Rules, job: Job, job_set: Object) -> Delete:
    return structs.replace(Rules.delete(self, job, job_set), uid=None)


@MUTANTS.mutant(Rules.identity, "It changes whatever has the name of one of its Jobs.", "JS-112")
def changes_any_namesake(self: Rules, job: Job) -> Object:
    return {}


@MUTANTS.mutant(Rules.works_on, "It fails on what is being deleted.", "JS-114")
def fails_on_the_deleted(self: Rules, job_set: Object) -> bool:
    if not Rules.works_on(self, job_set):
        raise ValueError("it has a deletionTimestamp")
    return True


@MUTANTS.mutant(
    Rules.owner_reference, "Its owner references are not those of a controller.", "JS-091"
)
def owns_and_does_not_control(self: Rules, job_set: Object, name: str) -> Object:
    return {**Rules.owner_reference(self, job_set, name), "controller": False}


@MUTANTS.mutant(Rules.spec_of, "It makes a Job that the API server refuses.", "JS-091")
def makes_invalid_jobs(self: Rules, template: Object) -> Object:
    return {**Rules.spec_of(self, template), "backoffLimit": -1}
