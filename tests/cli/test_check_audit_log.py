"""`assay check --audit-log`: an audit log from elsewhere is evaluated as far as it shows."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from conformance.audit_log.events import read_log
from conformance.audit_log.history import to_history
from tests.cli.conftest import Assay
from tests.cli.recording import CONFIG, LOGS, MUTANT, OPERATOR_USER, PERSON, record
from vocabulary.history import Write, read_history
from vocabulary.objects import get_path

SOUND = LOGS / "sound.log.gz"
WRONG = LOGS / f"{MUTANT}.log.gz"
KNOWN = ("--config", CONFIG, "--operator-user", OPERATOR_USER)

Event = dict[str, Any]


def events_of(log: Path) -> list[Event]:
    return [json.loads(line) for line in gzip.decompress(log.read_bytes()).splitlines()]


def written(path: Path, events: Iterable[Event]) -> Path:
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    return path


def verdicts(out: str) -> list[str]:
    return [line for line in out.splitlines() if line[:1] in "✓✗?"]


def phase_of(event: Event) -> Any:
    return get_path(event, "responseObject.status.phase")


def is_binding(event: Event) -> bool:
    return bool(event["objectRef"].get("subresource") == "binding")


def test_the_log_of_a_sound_operator_violates_nothing(assay: Assay) -> None:
    ended = assay("check", "--audit-log", SOUND, *KNOWN)
    assert ended.code == 0, ended
    for claim in ("AW-003", "AW-015", "AW-053", "INV-2", "MLB-053"):
        assert f"✓ passed       {claim}" in ended.out
    assert "✗" not in ended.out


def test_the_log_of_a_mutant_shows_the_promise_that_it_breaks(assay: Assay) -> None:
    ended = assay("check", "--audit-log", WRONG, *KNOWN)
    assert ended.code == 1
    assert "AW-015 quota-released-after-last-pod  FAILED" in ended.out
    assert "QuotaReserved turned True → False" in ended.out


def test_what_was_made_of_a_log_can_be_stored_and_judged_again(
    assay: Assay, tmp_path: Path
) -> None:
    kept, page = tmp_path / "kept.jsonl.gz", tmp_path / "page.html"
    first = assay("check", "--audit-log", WRONG, *KNOWN, "--save", kept, "--page", page)
    again = assay("check", kept)
    assert (first.code, again.code) == (1, 1)
    assert "AW-015" in page.read_text()
    header, entries, whole, _ = read_history(kept)
    assert whole
    assert header.kubernetes_version.startswith("v1.")
    actors = {entry.actor for entry in entries if isinstance(entry, Write)}
    assert {"appwrapper", PERSON, "scheduler", "job-controller", "garbage-collector"} <= actors


@pytest.mark.parametrize("name", ["appwrapper", "appwrapper/1", "kubelet/n0", "chaos"])
def test_a_user_with_the_name_of_another_actor_is_a_user(tmp_path: Path, name: str) -> None:
    text = gzip.decompress(SOUND.read_bytes()).decode().replace(json.dumps(PERSON), f'"{name}"')
    log = tmp_path / "renamed.log"
    log.write_text(text)
    history = to_history(read_log([log]), "log", operator_user=OPERATOR_USER)
    actors = {entry.actor for entry in history.entries if isinstance(entry, Write)}
    assert f"user:{name}" in actors and "appwrapper" in actors
    assert f"user:{name}" in history.header.facts.users


def test_a_plain_file_in_two_parts_in_any_order_is_one_log(assay: Assay, tmp_path: Path) -> None:
    events = events_of(WRONG)
    later = written(tmp_path / "b", events[40:])
    # A line of the first part is delivered again with the second.
    earlier = written(tmp_path / "a", [*events[:40], events[40]])
    ended = assay("check", "--audit-log", later, "--audit-log", earlier, *KNOWN)
    whole = assay("check", "--audit-log", WRONG, *KNOWN)
    assert (ended.code, verdicts(ended.out)) == (1, verdicts(whole.out))


def test_a_log_that_is_cut_short_never_passes(assay: Assay, tmp_path: Path) -> None:
    plain = gzip.decompress(SOUND.read_bytes())
    for cut in (plain[:-40], gzip.compress(plain)[:-40]):
        path = tmp_path / "audit.log"
        path.write_bytes(cut)
        ended = assay("check", "--audit-log", path, *KNOWN)
        assert ended.code == 3
        assert "was cut short" in ended.out


def test_a_log_of_several_that_is_cut_short_leaves_a_gap(assay: Assay, tmp_path: Path) -> None:
    events = events_of(WRONG)
    first, second = written(tmp_path / "a", events[:40]), written(tmp_path / "b", events[40:])
    first.write_text(first.read_text()[:-40])
    ended = assay("check", "--audit-log", first, "--audit-log", second, *KNOWN)
    assert ended.code == 3
    assert "note: Of several logs one was cut short" in ended.out
    assert "✗" not in ended.out


BAD_LOGS: dict[str, tuple[Callable[[list[Event]], list[Any]], str]] = {
    "of another version": (
        lambda events: [{**events[0], "apiVersion": "audit.k8s.io/v1beta1"}],
        "line 1 is Event of audit.k8s.io/v1beta1, expected Event of audit.k8s.io/v1",
    ),
    "of a webhook": (
        lambda events: [{"kind": "EventList", "items": events}],
        "line 1 is an EventList",
    ),
    "of another program": (
        lambda _: [{"level": "info", "msg": "started"}],
        "line 1 is something of no apiVersion",
    ),
    "of a cluster without AppWrappers": (
        lambda events: [e for e in events if e["objectRef"]["resource"] != "appwrappers"],
        "no write of appwrappers.workload.codeflare.dev",
    ),
    "that is no JSON": (lambda events: [*events[:1], "<nonsense>"], "line 2: "),
    "with a time that is none": (
        lambda events: [{**events[0], "requestReceivedTimestamp": "yesterday"}],
        "line 1: requestReceivedTimestamp",
    ),
}


@pytest.mark.parametrize("name", BAD_LOGS)
def test_a_log_that_cannot_be_judged_is_refused_by_name(
    assay: Assay, name: str, tmp_path: Path
) -> None:
    spoil, complaint = BAD_LOGS[name]
    path = written(tmp_path / "audit.log", [*spoil(events_of(SOUND)), {}])
    path.write_text(path.read_text().removesuffix("{}\n"))
    ended = assay("check", "--audit-log", path, *KNOWN)
    assert (ended.code, ended.out) == (2, ""), ended
    assert complaint in ended.err
    assert "audit.log" in ended.err


def test_whoever_does_not_know_the_operators_user_is_told_who_wrote_statuses(
    assay: Assay,
) -> None:
    for given, complaint in ((), "missing"), (("--operator-user", "bob"), "'bob' wrote no"):
        ended = assay("check", "--audit-log", SOUND, *given)
        assert ended.code == 2
        assert complaint in ended.err
        assert OPERATOR_USER in ended.err


WITHOUT: dict[str, tuple[Callable[[Event], Event | None], str]] = {
    "the kubelets' answers": (
        lambda e: {**e, "responseObject": None} if e["user"]["username"] == "kwok" else e,
        "writes of pods (RequestResponse) do not show what they changed",
    ),
    "the kubelets": (
        lambda e: None if e["user"]["username"] == "kwok" else e,
        "What kubelets write of pods is not in the log",
    ),
    "where pods were bound to": (
        lambda e: {**e, "requestObject": None} if is_binding(e) else e,
        "writes of pods (RequestResponse) do not show what they changed",
    ),
    "the pods": (
        lambda e: None if e["objectRef"]["resource"] == "pods" else e,
        "No write of a pod is in the log",
    ),
    "another API server's half of the statuses": (
        lambda e: None if phase_of(e) == "Resuming" else e,
        "Versions of appwrappers.workload.codeflare.dev/team-a/bad",
    ),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_what_a_policy_left_out_is_said_and_makes_claims_inconclusive(
    assay: Assay, name: str, tmp_path: Path
) -> None:
    spoil, note = WITHOUT[name]
    kept = [event for event in map(spoil, events_of(WRONG)) if event is not None]
    ended = assay("check", "--audit-log", written(tmp_path / "a", kept), *KNOWN, "--all")
    assert ended.code == 3
    assert note in ended.out
    assert "✗" not in ended.out
    assert "the history may lack versions of its objects" in ended.out


def test_a_contradiction_in_a_log_with_gaps_is_told_but_is_no_violation(
    assay: Assay, tmp_path: Path
) -> None:
    events = [event for event in events_of(WRONG) if phase_of(event) != "Resuming"]
    ended = assay("check", "--audit-log", written(tmp_path / "a", events), *KNOWN)
    assert ended.code == 3
    assert "What the log shows contradicts it, but it has gaps" in ended.out


def test_what_was_there_before_the_log_began_is_left_out(assay: Assay, tmp_path: Path) -> None:
    later = [
        event
        for event in events_of(SOUND)
        if not (event["verb"] == "create" and event["objectRef"].get("name") == "bad")
    ]
    ended = assay("check", "--audit-log", written(tmp_path / "a", later), *KNOWN)
    assert ended.code == 0, ended.out
    assert "1 AppWrapper.workload.codeflare.dev were there before the log began" in ended.out
    assert "AW-015" not in ended.out


def test_dry_runs_and_denied_requests_changed_nothing(assay: Assay, tmp_path: Path) -> None:
    events = events_of(SOUND)
    gone = {
        **next(e for e in events if e["verb"] == "patch"),
        "auditID": "dry",
        "requestURI": "/api/v1/namespaces/team-a/pods/x?dryRun=All",
    }
    denied = {**gone, "auditID": "denied", "requestURI": "/", "responseStatus": {"code": 403}}
    ended = assay("check", "--audit-log", written(tmp_path / "a", [*events, gone, denied]), *KNOWN)
    assert ended.out == assay("check", "--audit-log", SOUND, *KNOWN).out


def test_a_user_whose_id_no_label_can_hold_and_who_is_refused_for_it_is_told(
    assay: Assay, tmp_path: Path
) -> None:
    def submits(event: Event) -> bool:
        return event["verb"] == "create" and event["objectRef"]["resource"] == "appwrappers"

    events = events_of(SOUND)
    submitted = next(filter(submits, events))
    uid = "aws-iam-authenticator:111122223333:AIDACKCEVSQ6C2EXAMPLE"
    refused = {
        **submitted,
        "auditID": "refused",
        "user": {**submitted["user"], "username": "jane", "uid": uid},
        "responseStatus": {
            "code": 422,
            "reason": "Invalid",
            "message": 'AppWrapper.workload.codeflare.dev "good" is invalid: metadata.labels: '
            f'Invalid value: "{uid}": a valid label must be an empty string or consist of …',
        },
        "responseObject": {"kind": "Status", "apiVersion": "v1", "metadata": {}, "code": 422},
    }
    log = written(tmp_path / "a", [*(e for e in events if not submits(e)), refused])
    config = tmp_path / "operator.yaml"
    config.write_text(CONFIG.read_text().replace("webhooksEnabled: false", "webhooksEnabled: true"))
    known = ("--config", config, "--operator-user", OPERATOR_USER)
    ended = assay("check", "--audit-log", log, *known)
    assert ended.code == 1, ended
    assert f"was refused since a label was to hold his uid '{uid}' as it is" in ended.out


def test_the_deletion_of_a_collection_makes_no_binding_come_after_it(tmp_path: Path) -> None:
    """It is answered by a list, which has a version and names no object."""
    events = events_of(SOUND)
    emptied = {
        **events[-1],
        "auditID": "emptied",
        "verb": "deletecollection",
        "objectRef": {"resource": "pods", "namespace": "team-a", "apiVersion": "v1"},
        "responseObject": {"metadata": {"resourceVersion": "99999"}, "items": []},
    }

    def told(log: Path) -> list[tuple[str, str, str]]:
        history = to_history(
            read_log([log]),
            "log",
            operator_user=OPERATOR_USER,
        )
        writes = [entry for entry in history.entries if isinstance(entry, Write)]
        return [(w.verb, w.name, w.event) for w in writes if w.verb != "deletecollection"]

    assert told(written(tmp_path / "a", [*events, emptied])) == told(SOUND)


def test_without_a_configuration_the_defaults_are_assumed_and_that_is_said(assay: Assay) -> None:
    ended = assay("check", "--audit-log", SOUND, "--operator-user", OPERATOR_USER)
    assert "note: no --config" in ended.out
    # It waited 2 s where the norm's default is a minute.
    assert "✗" in ended.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "give one of the two"),
        (("run.jsonl", "--audit-log", SOUND), "give one of the two"),
        (("run.jsonl", "--operator-user", "x"), "belong to --audit-log"),
        (("--audit-log", SOUND, "--detection-latency", "soon"), "--detection-latency"),
        (("--audit-log", SOUND, "--detection-latency", "-5s"), "-5s is before it happened; write"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    assay: Assay, arguments: tuple[object, ...], complaint: str
) -> None:
    ended = assay("check", *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err


@pytest.mark.parametrize(
    "text",
    ["[]", "faultTolerance: []", "faultTolerance: {resetPause: soon}", "appwrapper: 3"],
)
def test_a_configuration_that_is_none_is_refused(assay: Assay, text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    user = ("--operator-user", OPERATOR_USER)
    ended = assay("check", "--audit-log", SOUND, *user, "--config", path)
    assert ended.code == 2
    assert str(path) in ended.err


@pytest.mark.control_plane
def test_a_log_that_is_recorded_now_reads_as_the_stored_one(assay: Assay, tmp_path: Path) -> None:
    log = written(tmp_path / "audit.log", record(tmp_path / "plane"))
    ended = assay("check", "--audit-log", log, *KNOWN)
    assert ended.code == 0, ended.out
    assert "✓ passed       AW-015" in ended.out
