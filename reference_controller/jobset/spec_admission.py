"""Admission of a JobSet but for its failure policy: defaults, names, dependencies, lasting fields.

KEP-262 says nothing of these: they are as the released API has them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from reference_controller.jobset.job_set import (
    replicas_of,
    replicated_jobs,
    spec_of,
)
from reference_controller.jobset.known_fields import Cause
from reference_controller.jobset.names import CONTROLLER_NAME
from reference_controller.jobset.network import coordinator_of
from vocabulary.objects import Object, get_path, name_of

MAX_INT32: Final = 2**31 - 1
MAX_NAME_LENGTH: Final = 63
_DNS_LABEL: Final = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?")
_RULE_NAME: Final = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_MAX_RULE_NAME: Final = 128
_LASTING: Final = (
    "successPolicy",
    "startupPolicy",
    "network",
    "coordinator",
    "managedBy",
)
"""The fields that no update changes, adds or removes; so is the failure policy."""
_DEFAULTS: Final[Mapping[str, Object]] = {
    "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
    "successPolicy": {"operator": "All"},
    "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
}
"""By the path of an object in the spec, the defaults of its fields."""
_DEFAULTS_OF_REPLICATED_JOBS: Final[Mapping[str, Object]] = {
    "": {"groupName": "default", "replicas": 1},
    "template.spec": {"completionMode": "Indexed"},
    "template.spec.template.spec": {"restartPolicy": "OnFailure"},
}
_POD: Final = "template.spec.template"
_IN_AFFINITY: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_NONE: Final = type(None)
_REQUIRED: Final = ((Mapping,), "an object")
_OBJECT: Final = ((Mapping, _NONE), "an object")
_WHOLE_NUMBER: Final = ((int, _NONE), "a whole number")
_LIST: Final = ((list, _NONE), "a list")
_TYPES: Final[Mapping[str, tuple[tuple[type, ...], str]]] = {
    "template": _REQUIRED,
    "template.spec": _REQUIRED,
    "template.spec.parallelism": _WHOLE_NUMBER,
    "template.spec.completions": _WHOLE_NUMBER,
    _POD: _REQUIRED,
    f"{_POD}.spec": _REQUIRED,
    **{
        f"{metadata}{field}": _OBJECT
        for metadata in ("template.metadata", f"{_POD}.metadata")
        for field in ("", ".labels", ".annotations")
    },
    **{
        f"{_POD}.spec.{field}": _OBJECT
        for field in (
            "affinity",
            "affinity.podAffinity",
            "affinity.podAntiAffinity",
            "resources",
            "resources.limits",
            "resources.requests",
        )
    },
    f"{_POD}.spec.affinity.podAffinity.{_IN_AFFINITY}": _LIST,
    f"{_POD}.spec.affinity.podAntiAffinity.{_IN_AFFINITY}": _LIST,
}
"""The types of the values in a replicated job's template that are read here."""


STAYS: Final = "cannot be changed, added or removed"


def with_defaults(spec: Any) -> Any:
    """The spec with the defaults of the API filled in, of a failure policy that is there too."""
    filled = _all_filled(spec, _DEFAULTS)
    if not isinstance(filled, Mapping):
        return filled
    jobs = filled.get("replicatedJobs") or []
    if isinstance(jobs, list):
        jobs = [_all_filled(each, _DEFAULTS_OF_REPLICATED_JOBS) for each in jobs]
    filled = {**filled, "replicatedJobs": jobs}
    if filled.get("failurePolicy") is not None:
        filled = with_default(filled, "failurePolicy", {"restartStrategy": "Recreate"})
    return filled


def _all_filled(obj: Any, defaults: Mapping[str, Object]) -> Any:
    for path, of_path in defaults.items():
        obj = with_default(obj, path, of_path)
    return obj


def with_default(obj: Any, path: str, defaults: Object) -> Any:
    """The object with defaults at a path, for what is absent, null or the empty text: clients in Go
    write these for what was not set. What is no object stays: an API server refuses it once the
    mutating webhooks have answered."""
    if obj is None:
        obj = {}
    if not isinstance(obj, Mapping):
        return obj
    if not path:
        return {**obj, **{key: defaults[key] for key in defaults if obj.get(key) in (None, "")}}
    field, _, rest = path.partition(".")
    return {**obj, field: with_default(obj.get(field), rest, defaults)}


def type_flaws(job_set: Object) -> Iterator[Cause]:
    """Values in templates that are of another type: no schema describes these."""
    for index, replicated_job in enumerate(replicated_jobs(job_set)):
        for path, (types, text) in _TYPES.items():
            if not isinstance(get_path(replicated_job, path), types):
                yield Cause(f"spec.replicatedJobs[{index}].{path}", f"must be {text}")


def flaws(job_set: Object) -> Iterator[Cause]:
    """Values that cannot be."""
    names = names_of(job_set)
    managed_by = spec_of(job_set).get("managedBy")
    if managed_by is not None and managed_by != CONTROLLER_NAME and "/" not in str(managed_by):
        yield Cause("spec.managedBy", f"is {managed_by!r}; write a domain, a slash and a name")
    for index, replicated_job in enumerate(replicated_jobs(job_set)):
        yield from _replicated_job_flaws(job_set, replicated_job, index, names)
    subdomain = get_path(job_set, "spec.network.subdomain")
    if subdomain and not (_DNS_LABEL.fullmatch(subdomain) and len(subdomain) <= MAX_NAME_LENGTH):
        yield Cause(
            "spec.network.subdomain",
            f"is {subdomain!r}; it is the name of a Service, which has up to {MAX_NAME_LENGTH} "
            "lower-case letters, digits and dashes",
        )
    path = "spec.successPolicy.targetReplicatedJobs"
    yield from target_flaws(get_path(job_set, path) or (), path, names)
    if spec_of(job_set).get("coordinator") is not None:
        yield from _coordinator_flaws(job_set, spec_of(job_set)["coordinator"])
    yield from _strategy_flaws(spec_of(job_set).get("failurePolicy") or {})


def names_of(job_set: Object) -> list[str]:
    """The names of the replicated jobs."""
    return [each.get("name", "") for each in replicated_jobs(job_set)]


def _replicated_job_flaws(
    job_set: Object, replicated_job: Object, index: int, names: list[str]
) -> Iterator[Cause]:
    path = f"spec.replicatedJobs[{index}]"
    name = names[index]
    longest = f"{name_of(job_set)}-{name}-{max(replicas_of(replicated_job) - 1, 0)}"
    if name in names[:index]:
        yield Cause(f"{path}.name", f"{name!r} is the name of another one, too")
    if not _DNS_LABEL.fullmatch(longest) or len(longest) > MAX_NAME_LENGTH:
        yield Cause(
            f"{path}.name",
            f"a Job would be called {longest!r}; a name has up to {MAX_NAME_LENGTH} lower-case "
            "letters, digits and dashes",
        )
    pods = replicas_of(replicated_job) * _count(replicated_job, "template.spec.parallelism")
    if pods > MAX_INT32:
        yield Cause(path, f"replicas times parallelism is {pods}, more than {MAX_INT32}")
    for position, need in enumerate(replicated_job.get("dependsOn") or ()):
        at = f"{path}.dependsOn[{position}]"
        if need.get("name") not in names[:index]:
            yield Cause(f"{at}.name", f"{need.get('name')!r} is no replicated job before this one")
        if need.get("status") not in ("Ready", "Complete"):
            yield Cause(f"{at}.status", f"{need.get('status')!r}; write Ready or Complete")


def _count(replicated_job: Object, path: str) -> int:
    given = get_path(replicated_job, path)
    return 1 if given is None else int(given)


def _coordinator_flaws(job_set: Object, coordinator: Object) -> Iterator[Cause]:
    name = coordinator.get("replicatedJob")
    of = next((each for each in replicated_jobs(job_set) if each.get("name") == name), None)
    if of is None:
        yield _no_such(name, "spec.coordinator.replicatedJob")
        return
    pods = _count(of, "template.spec.completions")
    for field, count in (("jobIndex", replicas_of(of)), ("podIndex", pods)):
        if not 0 <= int(coordinator.get(field, 0)) < count:
            yield Cause(
                f"spec.coordinator.{field}",
                f"is {coordinator[field]}, and there are {count}; the first is 0",
            )
    if get_path(of, "template.spec.completionMode") == "NonIndexed":
        yield Cause(
            "spec.coordinator.replicatedJob",
            f"the pods of {name!r} have no index; write completionMode: Indexed there",
        )
    address = coordinator_of(job_set, coordinator)
    if len(address) > MAX_NAME_LENGTH:
        yield Cause(
            "spec.coordinator",
            f"its pod would be called {address!r}, which is a label of every pod; "
            f"a label's value has up to {MAX_NAME_LENGTH} characters",
        )


def _strategy_flaws(policy: Object) -> Iterator[Cause]:
    """Flaws of the restart strategy and of the names of rules."""
    strategy = policy.get("restartStrategy", "Recreate")
    if strategy not in ("Recreate", "BlockingRecreate"):
        yield Cause(
            "spec.failurePolicy.restartStrategy",
            f"{strategy!r} is not implemented; write Recreate or BlockingRecreate",
        )
    names: list[str] = []
    for index, rule in enumerate(policy.get("rules") or ()):
        path = f"spec.failurePolicy.rules[{index}].name"
        name = str(rule.get("name", ""))
        if not _RULE_NAME.fullmatch(name) or len(name) > _MAX_RULE_NAME:
            yield Cause(path, f"{name!r} is no name of a rule")
        if name in names:
            yield Cause(path, f"{name!r} is the name of another rule, too")
        names.append(name)


def target_flaws(targets: Collection[str], path: str, names: list[str]) -> Iterator[Cause]:
    """Targets that are no replicated jobs."""
    for target in targets:
        if target not in names:
            yield _no_such(target, path)


def _no_such(name: object, path: str) -> Cause:
    return Cause(path, f"there is no replicated job {name!r}")


def changes(new: Object, old: Object) -> Iterator[Cause]:
    """Changes by an update of what stays as it is."""
    for field in _LASTING:
        if spec_of(old).get(field) != spec_of(new).get(field):
            yield Cause(f"spec.{field}", STAYS)
