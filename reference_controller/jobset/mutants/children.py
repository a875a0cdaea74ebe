"""Jobs that are created otherwise than their JobSet says."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import structs

from reference_controller.jobset.job_set import ChildId
from reference_controller.jobset.mutants.registry import MUTANTS
from reference_controller.jobset.names import RESTART, RESTART_ATTEMPT
from reference_controller.jobset.observation import Job
from reference_controller.jobset.rules import Rules
from vocabulary.objects import Object
from vocabulary.requests import Delete


@MUTANTS.wrong_rules("no-annotations", "It labels Jobs, and does not annotate them.", "JS-103")
class NoAnnotations(Rules):
    def as_annotations(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        del marks
        return {}


@MUTANTS.wrong_rules(
    "new-jobs-are-marked", "It creates Jobs with the mark of those to restart.", "JS-024"
)
class NewJobsAreMarked(Rules):
    def as_annotations(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        return {**super().as_annotations(marks), RESTART: "true"}


@MUTANTS.wrong_rules(
    "pod-failures-are-retried", "It drops the podFailurePolicy of a template.", "JS-104"
)
class PodFailuresAreRetried(Rules):
    def spec_of(self, template: Object) -> Object:
        spec = super().spec_of(template)
        return {key: value for key, value in spec.items() if key != "podFailurePolicy"}


@MUTANTS.wrong_rules(
    "later-jobs-have-a-deadline", "It gives a deadline to all Jobs after the first one.", "JS-104"
)
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


@MUTANTS.wrong_rules("service-has-an-address", "Its Service is not headless.", "JS-106")
class ServiceHasAnAddress(Rules):
    def service_spec(self, selector: Mapping[str, str], publishes: bool) -> Object:
        spec = super().service_spec(selector, publishes)
        return {
            **{key: each for key, each in spec.items() if key != "clusterIP"},
            "ports": [{"port": 80}],
        }


@MUTANTS.wrong_rules(
    "service-is-of-the-first-attempt", "Its Service selects no pod of a restart.", "JS-106"
)
class ServiceIsOfTheFirstAttempt(Rules):
    def service_spec(self, selector: Mapping[str, str], publishes: bool) -> Object:
        return super().service_spec({**selector, RESTART_ATTEMPT: "0"}, publishes)


@MUTANTS.wrong_rules(
    "service-has-a-name-of-its-own", "Its Service is not of the subdomain's name.", "JS-106"
)
class ServiceHasANameOfItsOwn(Rules):
    def service_name(self, subdomain: str) -> str:
        return f"{subdomain}-pods"


@MUTANTS.wrong_rules(
    "attempts-stay-the-first", "It marks all Jobs as those of the first attempt.", "JS-103"
)
class AttemptsStayTheFirst(Rules):
    def attempt(self, job_set: Object, partial_restarts: int) -> int:
        del job_set, partial_restarts
        return 0


@MUTANTS.wrong_rules(
    "namesakes-share-domains", "Jobs of several JobSets share a topology domain.", "JS-076"
)
class NamesakesShareDomains(Rules):
    def job_key(self, job_set: Object, child: ChildId) -> str:
        del job_set
        return f"{child.replicated_job}-{child.number}"


@MUTANTS.wrong_rules(
    "namespaces-share-domains", "Jobs of several namespaces share a topology domain.", "JS-076"
)
class NamespacesShareDomains(Rules):
    def affinity_term(self, selector: Object, topology: str) -> Object:
        term = super().affinity_term(selector, topology)
        return {key: value for key, value in term.items() if key != "namespaceSelector"}


@MUTANTS.wrong_rules("manages-all", "It manages what is another controller's.", "JS-108")
class ManagesAll(Rules):
    def manages(self, job_set: Object) -> bool:
        del job_set
        return True


@MUTANTS.wrong_rules(
    "deletes-any-namesake", "It deletes whatever has the name of a Job that restarts.", "JS-112"
)
class DeletesByName(Rules):
    def delete(self, job: Job, job_set: Object) -> Delete:
        return structs.replace(super().delete(job, job_set), uid=None)


@MUTANTS.wrong_rules(
    "changes-any-namesake", "It changes whatever has the name of one of its Jobs.", "JS-112"
)
class ChangesByName(Rules):
    def identity(self, job: Job) -> Object:
        del job
        return {}
