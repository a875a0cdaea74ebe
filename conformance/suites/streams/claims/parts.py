"""ST-049 to 051: what the parts of a Job say, what they wait for, and whose objects they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from conformance.history import Moment, Track
from conformance.norm import Obligation, Obligations, met, violated
from conformance.norm.claim import Level
from conformance.norm.words import listed, when
from conformance.suites.streams.api import (
    ATTEMPT,
    COUNTED,
    EXPORT,
    GENERATION,
    HOST_POOL,
    IMPORT,
    JOB_UID,
    OF_JOB,
    OF_PE,
    PARALLEL_REGION,
    PROCESSING_ELEMENT,
)
from conformance.suites.streams.judging import claim
from conformance.suites.streams.kind import JobState
from conformance.suites.streams.sources import text
from conformance.suites.streams.view import JobRun
from vocabulary.history import Write
from vocabulary.kinds import CONFIG_MAP, NODE, POD, SERVICE
from vocabulary.objects import Object, get_path, labels_of, name_of, uid_of


@claim("ST-049", text(30), level=Level.DERIVED, armed_by="operator created a part of a Job")
def parts_say_what_their_job_says(run: JobRun) -> Obligations:
    """A Job and each of its parts MUST say what its user's spec makes of them, in each attempt:
    how many there are, their names and labels, and what they contain."""
    if run.launched is None:
        return
    yield _as_wanted(str(run), run.launched, iter([_launched(run, run.launched)]))
    launched = [each for each in run.track.versions if JobState(each.object or {}).id is not None]
    for track in run.tree:
        created = track.created
        if run.operator.is_by(created.actor):
            # Of the Job's versions so far the operator may have seen any.
            jobs = (each.object or {} for each in reversed(launched) if each.n < created.n)
            yield _as_wanted(f"{track} of {run}", created, (_part(job, track) for job in jobs))


def _as_wanted(what: str, write: Write, wanted: Iterator[Object]) -> Obligation:
    odd: list[str] = []
    for each in wanted:
        found = list(_differences(each, write.object or {}))
        if not found:
            return met(write)
        odd = odd or found
    return violated(write, f"{when(write)}: {what} has {listed(odd) or 'no launch'}.")


def _differences(wanted: Any, found: Any, path: str = "") -> Iterator[str]:
    """The fields that are otherwise than wanted. There may be more: others fill fields in."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            yield from _differences(value, found.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) <= len(found):
        for index, value in enumerate(wanted):
            if all(any(_differences(value, each)) for each in found):
                yield f"no {path}[{index}] {value!r}"
    elif wanted != found:
        yield f"{path} {found!r} where {wanted!r} is due"


def _launched(run: JobRun, write: Write) -> Object:
    """A Job at the first write of its submission."""
    job = write.object or {}
    counts = {statistic: JobState(job).wanted(statistic) for statistic in COUNTED.values()}
    if not get_path(job, "spec.fusion.manual"):
        counts[COUNTED[PROCESSING_ELEMENT]] = _nodes(run, write) or JobState(job).size
    before = run.interrupted
    labels = {} if before is None else {ATTEMPT: str(int(_attempt(before.track.last)) + 1)}
    return {"metadata": {"labels": labels}, "spec": {"statistics": counts, "generationId": 0}}


def _nodes(run: JobRun, write: Write) -> int:
    """The ProcessingElements of a Job that leaves their number to the cluster: one for each node,
    and at least one. 0 if the history does not tell: it has each node in virtual time alone."""
    since_us = run.operator.looked_us(write.actor, write.t)
    nodes = run.history.by_kind.get(str(NODE), ())
    changes: list[Moment] = [node.created for node in nodes]
    changes += [node.removed for node in nodes if node.removed is not None]
    if run.history.header.clock != "virtual" or any(
        since_us <= each.t <= write.t for each in changes
    ):
        return 0
    return max(1, sum(node.exists_at(write.n) for node in nodes))


def _attempt(job: Object) -> str:
    return labels_of(job).get(ATTEMPT, "1")


def _part(job: Object, track: Track) -> Object:
    """A part as its Job has it."""
    pe = labels_of(track.first).get(OF_PE)
    labels = {
        "app": "streams",
        "svc": "job" if pe is None else "pe",
        OF_JOB: name_of(job),
        JOB_UID: uid_of(job),
        ATTEMPT: _attempt(job),
        GENERATION: str(get_path(job, "spec.generationId")),
    }
    if track.kind == str(CONFIG_MAP):
        return {"metadata": {"labels": labels}, **_data(job, track, pe)}
    if track.kind == str(POD):
        template = get_path(job, "spec.podTemplate") or {}
        metadata = {"labels": labels, "annotations": get_path(template, "metadata.annotations")}
        return {"metadata": metadata, "spec": {**_POD, **(template.get("spec") or {})}}
    # Of a name that is none of its parts', nothing is right.
    return {"metadata": {"labels": labels}, "spec": _specs(job).get((track.kind, track.name))}


_POD: Final = {
    "restartPolicy": "Never",
    "volumes": [{"name": "aadl"}],
    "containers": [{"volumeMounts": [{"name": "aadl"}]}],
}
_SERVICE: Final = {"clusterIP": "None"}


def _data(job: Object, track: Track, pe: str | None) -> Object:
    """The data of a ConfigMap; the text of one ProcessingElement may have more fields."""
    if pe is None:
        return {"metadata": {"name": name_of(job)}} if track.name != name_of(job) else {}
    wanted = {
        "job": name_of(job),
        "id": job["spec"]["id"],
        "pe": int(pe),
        "of": JobState(job).size,
        "regions": job["spec"].get("parallelRegions") or [],
    }
    text = (track.first.get("data") or {}).get("aadl.xml", "{}")
    is_right = not any(_differences(wanted, json.loads(text)))
    return {"data": {"aadl.xml": text if is_right else wanted}}


def _specs(job: Object) -> dict[tuple[str, str], Object]:
    """The specs of the parts whose names follow from the Job's, by kind and name."""
    spec, name = job["spec"], name_of(job)
    found: dict[tuple[str, str], Object] = {}
    for pe in range(JobState(job).size):
        state = {"id": pe, "launchCount": 0, "connectivity": "None"}
        settings = spec.get("processingElement") or {}
        found[str(PROCESSING_ELEMENT), f"{name}-{pe}"] = {**settings, **state}
        selector = {OF_JOB: name, OF_PE: str(pe)}
        found[str(SERVICE), f"{name}-{pe}"] = {**_SERVICE, "selector": selector}
    for index, pool in enumerate(spec.get("hostPools") or ()):
        found[str(HOST_POOL), f"{name}-{index}"] = {"index": index, **pool}
    for kind, field in ((EXPORT, "exports"), (IMPORT, "imports")):
        for end in spec.get(field) or ():
            place = f"{name}-{end['peId']}-{end['portId']}"
            found[str(kind), place] = {"jobId": spec["id"], **end}
    for index, region in enumerate(spec.get("parallelRegions") or ()):
        found[str(PARALLEL_REGION), f"{name}-{region['alias']}"] = {"index": index, **region}
    return found


@claim("ST-050", text(18), level=Level.DERIVED, armed_by="pod of a Job with HostPools was created")
def host_pools_come_first(run: JobRun) -> Obligations:
    """A pod MUST NOT be created before all HostPools of its Job are there."""
    pools = run.of(HOST_POOL)
    for pod in run.of(POD):
        created = pod.created
        wanted = len(get_path(run.track.at(created.n), "spec.hostPools") or ())
        if not wanted or not run.operator.is_by(created.actor):
            continue
        # One that has just gone may still be in the operator's cache.
        since_us = run.operator.seen_us(created.actor, created.t)
        there = {
            each.name
            for each in pools
            if each.created.n < created.n and (each.removed is None or each.removed.t > since_us)
        }
        if len(there) >= wanted:
            yield met(created)
        else:
            yield violated(
                created,
                f"{when(created)}: {pod} is created with {len(there)} of {wanted} HostPools.",
            )


@claim("ST-051", text(31), level=Level.DERIVED, armed_by="name of a part was another's")
def what_is_not_its_own_is_left_alone(run: JobRun) -> Obligations:
    """An object that the operator has not created, and that has the name of a part of a Job, MUST
    be left as it is."""
    if run.launched is None:
        return
    job = run.launched.object or {}
    parts = {(str(CONFIG_MAP), name_of(job)), *_specs(job)}
    for kind in COUNTED:
        for track in run.history.by_kind.get(str(kind), ()):
            is_taken = (track.kind, track.name) in parts and track.namespace == run.track.namespace
            if not is_taken or run.operator.is_by(track.created.actor):
                continue
            later = [*track.versions[1:], *([track.removed] if track.removed else [])]
            wrong = next((each for each in later if run.operator.is_by(each.actor)), None)
            if wrong is None:
                yield met(track.created)
            else:
                yield violated(
                    wrong,
                    f"{when(wrong)}: the operator writes {wrong.verb} {track}, which "
                    f"{track.created.actor} has created.",
                    track.created,
                )
