"""JS-106: the headless Service by which the pods of a JobSet find each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from conformance.history import Track
from conformance.norm import Obligations, in_the_end, met, undecided, violated
from conformance.norm.claim import Level
from conformance.norm.words import when
from conformance.suites.jobset.api import NAME_LABEL
from conformance.suites.jobset.decisions import HEADLESS_SERVICE
from conformance.suites.jobset.judging import claim
from conformance.suites.jobset.sources import field
from conformance.suites.jobset.view import Child, JobSetRun
from vocabulary.objects import Object, get_path, labels_of


@claim(
    "JS-106",
    field("Network.enableDNSHostnames", 1),
    level=Level.DERIVED,
    decision=HEADLESS_SERVICE,
    armed_by="JobSet",
)
def pods_find_each_other(run: JobSetRun) -> Obligations:
    """A JobSet that enables DNS hostnames MUST have a headless Service of its subdomain's name
    that selects its pods, and the pods MUST be of that subdomain; one that does not MUST NOT
    have a Service."""
    network = get_path(run.track.first, "spec.network") or {}
    if not network.get("enableDNSHostnames", True):
        yield from _has_none(run)
        return
    subdomain = str(network.get("subdomain") or run.track.name)
    for child in run.children:
        created = child.track.created
        found = get_path(child.track.first, "spec.template.spec.subdomain")
        own = _own_subdomain(run, child.replicated_job)
        if found in (subdomain, own or subdomain):
            yield met(created)
        else:
            yield violated(
                created,
                f"{when(created)}: {child} of {run} was created with pods of the subdomain "
                f"{found!r}; it is {subdomain!r}.",
            )
    services = run.history.named("Service", run.track.namespace, subdomain)
    own_services = [each for each in services if each in run.history.owned.get(run.track.uid, ())]
    for service in own_services:
        flaw = next(_flaws(run, service, network), None)
        if flaw is not None:
            yield violated(service.created, f"{when(service.created)}: {service} of {run} {flaw}.")
    yield from _is_there(run, subdomain, services)


def _has_none(run: JobSetRun) -> Obligations:
    """That nothing is made for hostnames that the JobSet does not have."""
    own = [each for each in run.history.owned.get(run.track.uid, ()) if each.kind == "Service"]
    for service in own:
        yield violated(
            service.created,
            f"{when(service.created)}: {service} was created for {run}, which disables DNS "
            "hostnames.",
        )
    for child in run.children:
        found = get_path(child.track.first, "spec.template.spec.subdomain") or ""
        created = child.track.created
        if found == _own_subdomain(run, child.replicated_job):
            yield met(created)
        else:
            yield violated(
                created,
                f"{when(created)}: {child} of {run}, which disables DNS hostnames, was created "
                f"with pods of the subdomain {found!r}.",
            )


def _own_subdomain(run: JobSetRun, replicated_job: str) -> str:
    listed = get_path(run.track.first, "spec.replicatedJobs") or ()
    return next(
        (
            str(get_path(each, "template.spec.template.spec.subdomain", ""))
            for each in listed
            if each["name"] == replicated_job
        ),
        "",
    )


def _flaws(run: JobSetRun, service: Track, network: Object) -> Iterator[str]:
    spec = service.first.get("spec") or {}
    if spec.get("clusterIP") != "None":
        yield f"is not headless: its clusterIP is {spec.get('clusterIP')!r}"
    selector = spec.get("selector") or {}
    meanwhile = [child for child in run.children if service.exists_at(child.track.created.n)]
    for child in meanwhile or run.children[-1:]:
        if not any(_selects(each.object or {}, child) for each in service.versions):
            yield f"selects {selector!r}, which the pod template of {child} does not have"
    if selector.get(NAME_LABEL, run.track.name) != run.track.name:
        yield f"selects the pods of {selector[NAME_LABEL]!r}"
    wanted = bool(network.get("publishNotReadyAddresses", True))
    if bool(spec.get("publishNotReadyAddresses", False)) != wanted:
        yield f"has publishNotReadyAddresses {not wanted}"


def _selects(service: Object, child: Child) -> bool:
    selector = get_path(service, "spec.selector") or {}
    labels = labels_of(get_path(child.track.first, "spec.template") or {})
    return bool(selector) and all(labels.get(key) == value for key, value in selector.items())


def _is_there(run: JobSetRun, subdomain: str, services: Sequence[Track]) -> Obligations:
    end = run.history.end
    last = run.at(end.n)
    if last is None or last.has_ended or last.is_terminating or not run.children:
        return
    standing = [each for each in services if each.exists_at(end.n)]
    removed = [each.removed for each in services if each.removed is not None]
    hindrance = _what_hinders(run, subdomain)
    if hindrance:
        yield undecided(run.track.created, f"the creation of the Service was refused: {hindrance}")
        return
    yield in_the_end(
        run,
        f"the Service {subdomain}",
        since=removed[-1] if removed else run.children[0].track.created,
        happened=standing[-1].created if standing else None,
    )


def _what_hinders(run: JobSetRun, subdomain: str) -> str:
    """The cause, as the run ends, for which a Service that was refused cannot be created; or ""."""
    end = run.history.end
    if not any(write.kind == "Service" for write in run.operator.refused_creates):
        return ""
    own = run.history.owned.get(run.track.uid, ())
    for track in run.history.named("Service", run.track.namespace, subdomain):
        if track.exists_at(end.n) and track not in own:
            return f"{track} is another one's"
    quotas = run.history.by_kind.get("ResourceQuota", ())
    return next((f"{quota} limits it" for quota in quotas if quota.exists_at(end.n)), "")
