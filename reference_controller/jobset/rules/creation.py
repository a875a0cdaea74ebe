"""Ownership of Jobs, taken names, and deletions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from reference_controller.jobset.job_set import ChildId, job_name, spec_of
from reference_controller.jobset.names import CONTROLLER_NAME, JOB_SET
from reference_controller.jobset.observation import Job
from vocabulary.errors import ApiError
from vocabulary.kinds import JOB
from vocabulary.objects import Object, controller_of, is_terminating, namespace_of, uid_of
from vocabulary.requests import Delete, PropagationPolicy


class CreationRules:
    """JS-021, 047, 076, 091, 094, 102, 103, 104, 106, 108, 112, 113."""

    def is_news(self, status: Object, standing: Object) -> bool:
        """True if a status is written where another one stands."""
        return status != standing

    def works_on(self, job_set: Object) -> bool:
        """False once the JobSet is being deleted: what goes with it would come back."""
        return not is_terminating(job_set)

    def manages(self, job_set: Object) -> bool:
        """True unless the JobSet names another controller."""
        return spec_of(job_set).get("managedBy") in (None, CONTROLLER_NAME)

    def is_ours(self, obj: Object, job_set: Object) -> bool:
        """True if the JobSet controls the object; a namesake's Jobs have another uid."""
        return (controller_of(obj) or {}).get("uid") == uid_of(job_set)

    def looks_in(self, job_set: Object) -> str:
        """The namespace in which its Jobs are looked up; others have Jobs of the same names."""
        return namespace_of(job_set)

    def job_name(self, job_set: Object, child: ChildId) -> str:
        """The same for each restart: a Job cannot be there before its predecessor is gone."""
        return job_name(job_set, child)

    def owner_reference(self, job_set: Object, name: str) -> Object:
        return {
            "apiVersion": JOB_SET.api_version,
            "kind": JOB_SET.kind,
            "name": name,
            "uid": uid_of(job_set),
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def is_exclusive(self, partial_restarts: int) -> bool:
        """True if a Job after so many partial restarts has a domain of the topology to itself, in a
        JobSet that asks for it."""
        del partial_restarts
        return True

    def job_key(self, job_set: Object, child: ChildId) -> str:
        """A digest by which exclusive topology tells a Job from all others of the cluster."""
        name = f"{namespace_of(job_set)}/{job_name(job_set, child)}"
        return hashlib.sha1(name.encode()).hexdigest()

    def affinity_term(self, selector: Object, topology: str) -> Object:
        """A term about pods in all namespaces."""
        return {"labelSelector": selector, "topologyKey": topology, "namespaceSelector": {}}

    def service_name(self, subdomain: str) -> str:
        return subdomain

    def service_spec(self, selector: Mapping[str, str], publishes: bool) -> Object:
        """The spec of the headless Service."""
        return {
            "clusterIP": "None",
            "selector": selector,
            "publishNotReadyAddresses": publishes,
        }

    def is_missing(self, stands: bool) -> bool:
        """True if a Job is created, of whose name one of the JobSet `stands` or not."""
        return not stands

    def propagation(self) -> PropagationPolicy:
        """In the foreground: the name is free once all pods are gone."""
        return "Foreground"

    def needs_delete(self, job: Job) -> bool:
        """True if nothing has deleted a Job yet that has to go."""
        return not job.is_terminating

    def identity(self, job: Job) -> Object:
        """The metadata by which a change is refused if the Job is another one by now."""
        return {"uid": job.uid}

    def delete(self, job: Job, job_set: Object) -> Delete:
        namespace = namespace_of(job_set)
        return Delete(JOB, namespace, job.name, propagation_policy=self.propagation(), uid=job.uid)

    def is_sent_again(self, error: ApiError) -> bool:
        """True if a change or deletion that was refused so is asked for again."""
        return not error.is_not_found

    def goes_at_the_end(self, job: Job, job_set: Object) -> bool:
        """True if a Job of a finished JobSet is deleted: those that are finished are kept."""
        del job_set
        return not job.is_finished

    def as_annotations(self, marks: Mapping[str, str]) -> Mapping[str, str]:
        """The annotations of a Job and its pods: the same as their labels."""
        return marks

    def spec_of(self, template: Object) -> Object:
        """The spec of a Job by the template of its replicated job."""
        spec: Object = template["spec"]
        return spec
