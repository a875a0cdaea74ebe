"""Versions missed by watches are recovered from the audit log unchanged, or not at all.

Simulated runs are complete. Reported as by an API server, with watches that break for a while
and a log of requests, they must come out whole.
"""

from __future__ import annotations

import gzip
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from conformance.audit_log.events import read_log
from conformance.audit_log.history import NOT_FOLLOWED, to_history
from conformance.implementations.ours import implementation, implementations
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from conformance.worlds.control_plane.history_merge import Merge
from conformance.worlds.control_plane.recorder import Commit
from conformance.worlds.control_plane.recovery import recovered
from tests.cli.recording import LOGS, OPERATOR_USER
from tests.sampled import SUBJECTS, of_subject
from vocabulary.clock import SECOND, Micros, to_rfc3339_micro
from vocabulary.history import AUDIT_LOG, Entry, Write
from vocabulary.kinds import Kind, kind_of, known_kinds
from vocabulary.objects import Object

BEGAN_US = 1_700_000_000 * SECOND
SCENARIO = "appwrapper/retry/one-failure-is-retried"
LEFT_OUT = ("Node", "ResourceQuota", "Lease.coordination.k8s.io")
"""Nodes of a simulated cluster are not leased; no claim covers the other kinds."""
GAPS = 3
"""The number of gaps tried in each history."""
LONGEST = 60
"""The most versions that one of them swallows."""
ANSWERED_BY_OBJECT = ("Pod", "Service", "PersistentVolumeClaim", "Node")
"""Kinds whose deletion is answered by the object; that of others by a bare Status."""


def versioned(write: Write) -> dict[str, Any]:
    assert write.object is not None
    metadata = {**write.object["metadata"], "resourceVersion": str(write.rv)}
    return {**write.object, "metadata": metadata}


def kind_in(write: Write, kinds: Iterable[Kind]) -> Kind:
    return next(kind for kind in kinds if str(kind) == write.kind)


def kinds_of(entries: Iterable[Entry]) -> list[Kind]:
    objects = [each.object for each in entries if isinstance(each, Write) and each.object]
    return list(dict.fromkeys((*known_kinds(), *map(kind_of, objects))))


def told(write: Write, kinds: Iterable[Kind]) -> Commit:
    """The entry as a watch reports it."""
    assert write.event
    kind = kind_in(write, kinds)
    return Commit(write.rv, write.event, kind, versioned(write), time_of(write))


def all_told(writes: Iterable[Write], kinds: Iterable[Kind]) -> list[Commit]:
    """All that watches report; of what was there before the run, the first version is new."""
    known: set[str] = set()
    found = []
    for write in writes:
        if write.event:
            commit = told(write, kinds)
            is_new = uid(commit.object) not in known and commit.event == "MODIFIED"
            found.append(replace(commit, event="ADDED") if is_new else commit)
            known.add(uid(commit.object))
    return found


def time_of(write: Write) -> Micros:
    """No two requests of a real cluster are carried out at the same microsecond."""
    return BEGAN_US + write.t + write.n


def logged(writes: Iterable[Write], kinds: Iterable[Kind]) -> list[dict[str, Any]]:
    """The entry as an audit log has it; a no-op's response is the stored object."""
    stored: dict[tuple[str, str], Write] = {}
    found = []
    for write in writes:
        if write.event:
            stored[write.kind, write.name] = write
        answer = write if write.event or write.code >= 400 else stored.get((write.kind, write.name))
        found.append(audited(write, response(write, answer), kinds))
    return found


def response(write: Write, answer: Write | None) -> dict[str, Any]:
    if write.subresource in ("binding", "eviction"):
        return {"kind": "Status", "status": "Success"}
    is_bare = (
        (write.event == "DELETED" and write.verb == "delete" and not answers(write))
        or answer is None
        or answer.object is None
    )
    if is_bare:
        return {"kind": "Status", "details": {"uid": write.uid}}
    assert answer is not None
    found = versioned(answer)
    if answer.event == "DELETED":  # the update that takes the last one off is the removal
        found["metadata"]["finalizers"] = []
    return found


def audited(write: Write, response_object: Object, kinds: Iterable[Kind]) -> dict[str, Any]:
    kind = kind_in(write, kinds)
    at = to_rfc3339_micro(time_of(write))
    node = (write.object or {}).get("spec", {}).get("nodeName")
    return {
        "stage": "ResponseComplete",
        "auditID": str(write.n),
        "verb": write.verb,
        "user": {"username": write.actor},
        "objectRef": {
            "resource": kind.plural,
            "apiGroup": kind.group,
            "namespace": write.namespace,
            "name": write.name,
            "subresource": write.subresource,
        },
        "requestObject": {"target": {"name": node}} if write.subresource == "binding" else {},
        "responseStatus": {"code": 201 if write.event == "ADDED" else write.code},
        "responseObject": response_object,
        "requestReceivedTimestamp": at,
        "stageTimestamp": at,
    }


def answers(write: Write) -> bool:
    return write.kind in ANSWERED_BY_OBJECT


def with_gap(commits: Sequence[Commit], begin: int, end: int) -> list[Commit]:
    """The commits known if no watch reported anything between two positions, followed by a list."""
    known: dict[str, Commit] = {}
    for commit in commits[:begin]:
        known[uid(commit.object)] = commit
    listed_rv, listed_us = commits[end - 1].rv, commits[end - 1].seen_us
    latest: dict[str, Commit] = {}
    for commit in commits[begin:end]:
        latest[uid(commit.object)] = commit
    after: list[Commit] = []
    for each, commit in latest.items():
        if commit.event != "DELETED":
            event = "MODIFIED" if each in known else "ADDED"
            after.append(replace(commit, event=event, seen_us=listed_us))  # type: ignore[arg-type]
        elif each in known:
            gone = replace(known[each], event="DELETED", rv=listed_rv, seen_us=listed_us)
            after.append(gone)
    after.sort(key=lambda commit: commit.rv)
    return [*commits[:begin], *after, *commits[end:]]


def uid(obj: Object) -> str:
    return str(obj["metadata"]["uid"])


def merged(
    commits: Sequence[Commit], log: Sequence[dict[str, Any]], kinds: list[Kind]
) -> list[Any]:
    """The history's entries, except for versions without a response."""
    entries = Merge(BEGAN_US, {}, kinds).entries(commits, log, ())
    return [
        (e.actor, e.verb, e.kind, e.name, e.uid, e.event, e.code, lasting(e))
        for e in entries
        if isinstance(e, Write)
    ]


def lasting(write: Write) -> Any:
    """The object, without fields in which a deletion's response differs from a watch."""
    if write.object is None:
        return None
    left_out = {"resourceVersion", *(("finalizers",) if write.event == "DELETED" else ())}
    metadata = {key: v for key, v in write.object["metadata"].items() if key not in left_out}
    found = {**write.object, "metadata": metadata}
    if write.subresource == "binding":  # of which only the fact is known
        conditions = found["status"].get("conditions") or ()
        told = {entry["type"]: entry["status"] for entry in conditions}
        found["status"] = {**found["status"], "conditions": told}
    return found


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS)
def test_what_is_recovered_is_what_was(subject: str) -> None:
    rng = random.Random(subject)
    filled = gaps = 0
    for scenario in of_subject(subject):
        references = implementations("reference", scenario.roles)
        entries = run_one(scenario, references, 1, is_judged=False).entries
        kinds = kinds_of(entries)
        writes = [each for each in entries if isinstance(each, Write) and each.kind not in LEFT_OUT]
        commits = all_told(writes, kinds)
        log = logged(writes, kinds)
        # The answer to a deletion of many objects at once has none of them.
        are_shown = not any(each.verb == "deletecollection" for each in writes)
        for _ in range(GAPS):
            begin, end = sorted(rng.sample(range(len(commits) + 1), 2))
            end = min(end, begin + LONGEST)
            gaps += are_shown
            whole = recovered(with_gap(commits, begin, end), log, kinds)
            if whole is not None:
                filled += 1
                assert merged(whole, log, kinds) == merged(commits, log, kinds), (
                    scenario.id,
                    begin,
                    end,
                )
            assert are_shown or whole is None
    assert filled > gaps // 2 or not gaps


@pytest.mark.parametrize("name", ["sound", "quota-released-on-failed"])
def test_all_of_what_a_real_api_server_logged_is_recovered(name: str) -> None:
    """Its requests overlap, and it makes up the names of pods."""
    path = LOGS / f"{name}.log.gz"
    events = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    of_team = [each for each in events if each["objectRef"].get("namespace") == "team-a"]
    kinds = [kind for kind in known_kinds() if _followed(kind)]
    whole = recovered([], of_team, kinds)
    assert whole is not None
    history = to_history(
        read_log([path]),
        name,
        operator_user=OPERATOR_USER,
    )
    lives: dict[str, list[str]] = defaultdict(list)
    for entry in history.entries:
        if isinstance(entry, Write) and entry.event and entry.namespace == "team-a":
            lives[entry.uid].append(entry.event)
    found: dict[str, list[str]] = defaultdict(list)
    for commit in whole:
        found[uid(commit.object)].append(commit.event)
    assert found == lives
    assert {commit.told_by for commit in whole} == {AUDIT_LOG}


def _followed(kind: Kind) -> bool:
    return kind.namespaced and f"{kind.plural}.{kind.group}".rstrip(".") not in NOT_FOLLOWED


def test_a_log_that_lacks_what_a_watch_has_told_fills_no_gap() -> None:
    """The log of one API server among several, or one that leaves out kubelets."""
    entries = run_one(SCENARIOS[SCENARIO], implementation("reference", "appwrapper"), 1).entries
    kinds = kinds_of(entries)
    writes = [each for each in entries if isinstance(each, Write) and each.kind not in LEFT_OUT]
    commits = [told(each, kinds) for each in writes if each.event]
    log = logged(writes, kinds)
    assert recovered(with_gap(commits, 5, 10), log, kinds) is not None
    without = [each for each in log if not each["user"]["username"].startswith("kubelet")]
    assert recovered(with_gap(commits, 5, 10), without, kinds) is None
