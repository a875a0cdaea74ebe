"""Plans read back byte for byte, and say exactly what is wrong with one that does not."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import pytest

from chaos.campaign import random_plan
from chaos.fields import PlanError
from chaos.plan import Plan, load_plan, parse_plan, plan_from_data
from tests.chaos.examples import TERRAIN
from vocabulary.safe_yaml import YamlError

GOOD = """\
seed: 1729
scenario: appwrapper/quota-release/slow-pods
implementation: reference
scale: {nodes: 1, replicas: 2, components: [a-job, a-config]}
workload: {appwrapper: a, name: b.c, replicas: 3, completions: 5, backoff: 0, restart: OnFailure, \
behaviour: 'run 20s, exit 1', parameters: {retryLimit: '-1'}, beside: [{kind: Pod, name: p, \
is_prefix: true}, {kind: Service, name: s}]}
exhaustive: true
triggers:
  running: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
faults:
- kill: {actor: operator}
  when: {after: commit, by: operator, verb: update, kind: AppWrapper, occurrence: 2}
- taint: {node: n0, key: autopilot.ibm.com/gpuhealth, value: EVICT, effect: NoExecute}
  when: {at: 12s}
  for: 30s
- stale_reads: {}
  when: running
  until: {any: [{at: 60s}, running]}
- kill_pod: {pod: a-0}
  when: {injection: 1}
recorded: {sha256: SHA, assay: 0.9.0 at 1a2b3c4d5e6f}
""".replace("SHA", "ab" * 32)

DESCRIPTION = """\
Scenario appwrapper/quota-release/slow-pods with seed 1729 and 4 faults.
The controller under test is reference.
It has 1 node, at most 2 replicas each, no component but a-job and a-config.
AppWrapper a has the name b.c, 3 replicas, 5 completions, backoffLimit 0, restartPolicy OnFailure, \
pods that run 20s, exit 1, retryLimit="-1", a Pod p… and a Service s.
Of the faults that its steps inject, only those listed here happen.
When running: after the first write of AppWrapper a that takes status.phase to Running is committed.
1. After the 2nd update of AppWrapper by operator is committed: kill operator (SIGKILL) and \
restart it after 2s.
2. At 12s: taint node n0 with autopilot.ibm.com/gpuhealth=EVICT:NoExecute, for 30s.
3. When running: freeze the caches of operator, until at the first of these: at 60s; \
when running.
4. Where the scenario injects its first fault: kill pod a-0 with exit code 1."""


def test_the_yaml_of_a_plan_is_what_a_person_would_write_and_reads_back_equal():
    plan = parse_plan(GOOD)
    assert plan.to_yaml() == GOOD
    assert parse_plan(plan.to_yaml()) == plan


def trigger(text: str) -> object:
    return parse_plan(f"scenario: s\nfaults: [{{kill: {{}}, when: {text}}}]").faults[0].when


@pytest.mark.parametrize(
    ("short", "full"),
    [
        (
            "{object: Job/a, phase: Failed}",
            "{after: commit, kind: Job, name: a, field: {status.phase: Failed}}",
        ),
        (
            "{appwrapper: a, phase: [Running, Resetting], delay: 3s}",
            "{after: commit, kind: AppWrapper, name: a, delay: 3s, "
            "field: {status.phase: [Running, Resetting]}}",
        ),
        (
            "{object: example.com/v1/Widget/a, condition: Done, before: reply}",
            "{before: reply, kind: example.com/v1/Widget, name: a, "
            "field: {'status.conditions[Done].status': 'True'}}",
        ),
        (
            "{object: Job/a, condition: {Suspended: False}, occurrence: 2}",
            "{after: commit, kind: Job, name: a, occurrence: 2, "
            "field: {'status.conditions[Suspended].status': False}}",
        ),
        ("{object: Job/a, event: deleted}", "{after: commit, kind: Job, name: a, event: deleted}"),
    ],
)
def test_a_trigger_on_an_object_is_short_for_the_commit_that_changes_it(short: str, full: str):
    assert trigger(short) == trigger(full)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kill_pod: {pod: {appwrapper: a}}", "kill_pod: {pod: {of: AppWrapper/a}}"),
        ("suspend: {appwrapper: a}", "suspend: {object: AppWrapper/a}"),
        (
            "cordon: {node: {hosting: {appwrapper: a}}}",
            "cordon: {node: {hosting: {of: AppWrapper/a}}}",
        ),
    ],
)
def test_an_object_of_a_registered_kind_may_be_named_in_short_and_is_written_so(
    one: str, other: str
):
    assert parse_plan(with_fault(one)) == parse_plan(with_fault(other))
    assert one in parse_plan(with_fault(other)).to_yaml()
    assert "{of: Job/a}" in parse_plan(with_fault("kill_pod: {pod: {of: Job/a}}")).to_yaml()


def test_a_workload_of_which_nothing_is_changed_is_that_of_the_scenario():
    assert parse_plan("scenario: s\nworkload: {appwrapper: a}") == Plan("s")


def test_a_plan_describes_itself_in_plain_english():
    assert parse_plan(GOOD).describe() == DESCRIPTION


def test_the_digest_of_a_plan_does_not_depend_on_how_it_is_spelled():
    plain = parse_plan(
        "scenario: s\nfaults:\n- kill: {actor: operator, signal: KILL}\n  when: {at: 1m}"
    )
    other = parse_plan("faults: [{when: {at: 60s}, kill: {}}]\nseed: 0\nscenario: 's'")
    assert plain == other and plain.digest() == other.digest()
    assert plain.digest() != parse_plan("scenario: s").digest()


def test_what_was_recorded_decides_nothing_of_a_run():
    plan = parse_plan(GOOD)
    assert plan.recorded is not None
    assert replace(plan, recorded=None).digest() == plan.digest()


@pytest.mark.parametrize("digest", ["abc", "0" * 63 + "g", 7])
def test_a_digest_that_is_none_is_refused(digest: object):
    with pytest.raises(PlanError, match=r"^recorded\.sha256: expected `str`"):
        plan_from_data({"scenario": "s", "recorded": {"sha256": digest, "assay": "1"}})


def test_a_plan_without_faults_says_so():
    assert Plan("s").describe() == "Scenario s with seed 0 and no faults."
    assert parse_plan(Plan("s").to_yaml()) == Plan("s")


@pytest.mark.parametrize("seed", range(200))
def test_random_plans_read_back_equal_through_yaml(seed: int):
    plan = random_plan(TERRAIN, seed)
    assert parse_plan(plan.to_yaml()) == plan


def with_fault(fault: str, when: str = "{at: 1s}") -> str:
    return f"scenario: s\ntriggers: {{t: {{at: 1s}}}}\nfaults:\n- {fault}\n  when: {when}\n"


BAD = [
    ("[]", "plan: expected `object`, got `array`; write a mapping: key: value"),
    ("3", "plan: expected `object`, got `int`; write a mapping: key: value"),
    ("", "plan: expected `object`, got `null`; write a mapping: key: value"),
    ("seed: 1", "scenario: is missing; assay claims scenarios lists them"),
    ("scenario: ''", "scenario: expected `str` of length >= 1"),
    (
        "scenario: 3",
        "scenario: expected `str`, got `int`; write text; put it in quotes",
    ),
    (
        "scenario: s\nfault: []",
        "fault: is not a field here; known fields are scenario, seed, implementation, "
        "edition, scale, workload, manifests, exhaustive, triggers, faults, recorded, story; "
        "did you mean faults?",
    ),
    (
        "scenario: s\nseed: -1",
        "seed: expected `int` >= 0; write a whole number from 0 to 9223372036854775807",
    ),
    (
        "scenario: s\nseed: 1.5",
        "seed: expected `int`, got `float`; write a whole number from 0 to 9223372036854775807",
    ),
    (
        "scenario: s\nseed: true",
        "seed: expected `int`, got `bool`; write a whole number from 0 to 9223372036854775807",
    ),
    (
        "scenario: s\nfaults: {}",
        "faults: expected `array`, got `object`; write a list: [one, another]",
    ),
    (
        "scenario: s\nfaults: [x]",
        "faults[0]: expected `object`, got `str`; write a mapping: key: value",
    ),
    (
        "scenario: s\nfaults: [{when: {at: 1s}}]",
        "faults[0]: expected exactly one fault, found none",
    ),
    (
        with_fault("{kill: {}, cordon: {node: n0}, when: {at: 1s}}").replace(
            "  when: {at: 1s}\n", ""
        ),
        "faults[0]: expected exactly one fault, found kill, cordon",
    ),
    ("scenario: s\nfaults: [{kill: {}}]", "faults[0].when: is missing; for example {at: 12s}"),
    (
        with_fault("taint: {node: n0, key: k, effect: NoExec}"),
        "faults[0].taint.effect: invalid enum value 'NoExec'; write NoExecute or "
        "NoSchedule or PreferNoSchedule",
    ),
    (
        with_fault("taint: {node: n0, key: k, efect: NoExecute}"),
        "faults[0].taint.efect: is not a field here; known fields are node, key, value, effect; "
        "did you mean effect?",
    ),
    (with_fault("taint: {node: n0}"), "faults[0].taint: object missing required field `key`"),
    (
        with_fault("taint: {node: '', key: k}"),
        "faults[0].taint.node: expected `str` of length >= 1",
    ),
    (
        with_fault("taint: {node: 3, key: k}"),
        "faults[0].taint.node: expected `str | object`, got `int`; write text; put it in quotes",
    ),
    (
        with_fault("taint: n0"),
        "faults[0].taint: expected `object`, got `str`; write a mapping: key: value",
    ),
    (
        with_fault("kill_pod: {pod: {which: frist}}"),
        "faults[0].kill_pod.pod.which: invalid enum value 'frist'; write all or first or "
        "last or random",
    ),
    (
        with_fault("kill_pod: {pod: {of: a}}"),
        "faults[0].kill_pod.pod.of: is 'a', expected a kind and a name, such as Job/a",
    ),
    (
        with_fault("kill_pod: {pod: {of: Job/a, appwrapper: b}}"),
        "faults[0].kill_pod.pod.appwrapper: stands beside of; name one object",
    ),
    (
        with_fault("kill: {}", "{object: Job/a, kind: Pod}"),
        "faults[0].when.kind: stands beside object, which says it already",
    ),
    (
        with_fault("kill: {}", "{object: Job/a, condition: [a]}"),
        "faults[0].when.condition: expected `str | object`, got `array`; write text; put "
        "it in quotes",
    ),
    (
        with_fault("kill_pod: {pod: a, exit_code: 256}"),
        "faults[0].kill_pod.exit_code: expected `int` <= 255; write a whole number from 0 to 255",
    ),
    (
        with_fault("kill_pod: {pod: {labels: 'a in b'}}"),
        "faults[0].kill_pod.pod.labels: unable to parse requirement: found 'b' expected: '('",
    ),
    (
        with_fault("kill: {restart_after: 5}"),
        "faults[0].kill.restart_after: is 5, expected a duration with its unit, such as "
        "12s or 1m30s",
    ),
    (
        with_fault("kill: {restart_after: 3d}"),
        "faults[0].kill.restart_after: '3d' is not a Go duration; use numbers with units, "
        "for example 90s or 1m30s",
    ),
    (
        with_fault("kill: {restart_after: -1s}"),
        "faults[0].kill.restart_after: is '-1s', expected a duration from 0s to 31536000s",
    ),
    (
        with_fault("api_error: {code: 418}"),
        "faults[0].api_error.code: invalid enum value 418; write 403 or 409 or 429 or 500"
        " or 503 or 504",
    ),
    (
        with_fault("api_error: {verb: [update, watch]}"),
        "faults[0].api_error.verb[1]: invalid enum value 'watch'; write create or delete "
        "or deletecollection or get or list or patch or update",
    ),
    (
        with_fault("delete_object: {kind: TrainJob, name: x}"),
        re.compile(
            r"faults\[0\]\.delete_object\.kind: 'TrainJob' is not a known kind \(.*Job\.batch.*\); "
            r"write others in full, for example jobset.x-k8s.io/v1alpha2/JobSet"
        ),
    ),
    (
        with_fault("create_object: {object: {kind: Pod}}"),
        "faults[0].create_object.object: has no apiVersion; a whole manifest is needed",
    ),
    (
        with_fault("edit_object: {kind: Pod, name: a, patch: x}"),
        "faults[0].edit_object.patch: expected `object`, got `str`; write a mapping: key: value",
    ),
    (
        with_fault("lift: {fault: {kill: {}}}"),
        "faults[0].lift.fault: is kill, expected a fault of the connection",
    ),
    (
        with_fault("cordn: {node: n0}"),
        re.compile(
            r"faults\[0\]\.cordn: is not a fault; did you mean cordon\?; faults are api_error"
        ),
    ),
    (
        with_fault("kill: {}", "{}"),
        re.compile(r"faults\[0\]\.when: has neither of after and before"),
    ),
    (
        with_fault("kill: {}", "{after: commit, before: reply}"),
        "faults[0].when: has both of after and before, expected exactly one, with commit, reply or "
        "delivery; or {at: 12s} for a time",
    ),
    (
        with_fault("kill: {}", "{after: comit}"),
        "faults[0].when.after: invalid enum value 'comit'; write commit or delivery or reply",
    ),
    (
        with_fault("kill: {}", "{at: 12s, kind: Pod}"),
        "faults[0].when.kind: is not a field here; known fields are at",
    ),
    (
        with_fault("kill: {}", "{before: commit, event: created}"),
        "faults[0].when.event: is not known before the commit; use verb, or after: commit",
    ),
    (
        with_fault("kill: {}", "{before: delivery, by: operator}"),
        "faults[0].when.by: is not known at a delivery; say with `to` who watches",
    ),
    (
        with_fault("kill: {}", "{before: delivery, verb: update}"),
        "faults[0].when.verb: is not known at a delivery; use event",
    ),
    (
        with_fault("kill: {}", "{after: commit, to: operator}"),
        "faults[0].when.to: is who watches, at a delivery; say with `by` who writes",
    ),
    (
        with_fault("kill: {}", "{after: commit, event: created, outcome: any}"),
        "faults[0].when.outcome: contradicts event: only what is done has one",
    ),
    (
        with_fault("kill: {}", "{after: commit, occurrence: 0}"),
        "faults[0].when.occurrence: expected `int` >= 1; write a whole number from 1 to 1000000",
    ),
    (
        with_fault("kill: {}", "{after: commit, field: {status.phase: [a, b, c]}}"),
        "faults[0].when.field: expected a value of status.phase, or a list [from, to]; * "
        "is anything",
    ),
    (
        with_fault("kill: {}", "{after: commit, field: {status.phase: {a: b}}}"),
        "faults[0].when.field: expected a value of status.phase, or a list [from, to]; * "
        "is anything",
    ),
    (
        with_fault("kill: {}", "{after: commit, field: {status..phase: a}}"),
        "faults[0].when.field: 'status..phase' is not a field's path; write for example "
        "status.phase or status.conditions[Unhealthy].status",
    ),
    (
        with_fault("kill: {}", "{after: commit, field: {}}"),
        "faults[0].when.field: is empty, expected for example {status.phase: Running}",
    ),
    (
        with_fault("kill: {}", "tt"),
        "faults[0].when: names the trigger 'tt', which `triggers` does not define (defined: t); "
        "did you mean t?",
    ),
    (
        with_fault("kill: {}", "{all: []}"),
        "faults[0].when.all: has 0 parts, expected from 1 to 100",
    ),
    (
        with_fault("kill: {}", "{any: t}"),
        "faults[0].when.any: expected `array`, got `str`; write a list: [one, another]",
    ),
    (
        with_fault("kill: {}", "{all: [t], any: [t]}"),
        "faults[0].when: has any beside all; put what belongs together in one list",
    ),
    (
        with_fault("kill: {}", "{all: [t, {at: 5}]}"),
        "faults[0].when.all[1].at: is 5, expected a duration with its unit, such as 12s or 1m30s",
    ),
    (
        with_fault("kill: {}", "{all: [" * 17 + "t" + "]}" * 17),
        re.compile(r"faults\[0\]\.when(\.all\[0\]){16}\.all: is nested deeper than 16 levels"),
    ),
    (
        with_fault("kill: {}", "{at: 1s}\n  for: 3s\n  until: t"),
        "faults[0].until: stands beside for; a fault ends in one way",
    ),
    (
        with_fault("kill: {}", "{at: 1s}\n  for: soon"),
        re.compile(r"faults\[0\]\.for: 'soon' is not a Go duration"),
    ),
    (
        "scenario: s\ntriggers: {a: b, b: {all: [a]}}",
        "triggers.a: refers to itself: a → b → a; break the circle",
    ),
    (
        "scenario: s\ntriggers: {a: {at: x}}",
        re.compile(r"triggers\.a\.at: 'x' is not a Go duration"),
    ),
    (
        "scenario: s\nscale: []",
        "scale: expected `object`, got `array`; write a mapping: key: value",
    ),
    (
        "scenario: s\nscale: {nodes: 0}",
        "scale.nodes: expected `int` >= 1; write a whole number from 1 to 100",
    ),
    (
        "scenario: s\nworkload: {replicas: 1}",
        "workload: names no object to change; begin with one of appwrapper",
    ),
    (
        "scenario: s\nworkload: {appwrapper: a, parameters: {retryLimit: 1}}",
        "workload.parameters[...]: expected `str`, got `int`; write text; put it in quotes",
    ),
    (
        "scenario: s\nworkload: {appwrapper: a, beside: [{kind: Jobs, name: j}]}",
        "workload.beside[0].kind: invalid enum value 'Jobs'; write ConfigMap or "
        "Deployment or Job or Pod or Service or StatefulSet",
    ),
    ("scenario: s\nexhaustive: 1", "exhaustive: expected `bool`, got `int`; write true or false"),
    (
        with_fault("cordon: {node: n0}", "{all: [{injection: 1}]}"),
        "faults[0].when.all[0].injection: is not a field here; known fields are after, before, "
        "by, to, verb, event, kind, name, labels, subresource, field, outcome, occurrence, delay",
    ),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[repr(text[-60:]) for text, _ in BAD])
def test_what_is_not_a_plan_is_refused_with_its_path_and_what_is_allowed(text, message):
    with pytest.raises(PlanError) as caught:
        parse_plan(text)
    if isinstance(message, str):
        assert str(caught.value) == message
    else:
        assert message.match(str(caught.value))


def test_named_triggers_that_unfold_without_bound_are_refused():
    names = {f"t{n}": {"all": [f"t{n + 1}"] * 100} for n in range(20)} | {"t20": {"at": "1s"}}
    with pytest.raises(PlanError, match="unfolds to more than 10000 events and times"):
        plan_from_data({"scenario": "s", "triggers": names})


def test_too_many_faults_are_refused():
    with pytest.raises(PlanError, match="has 1001 entries, at most 1000 are read"):
        plan_from_data({"scenario": "s", "faults": [{}] * 1001})


def test_errors_of_a_file_name_the_file(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text("scenario: s\nfaults: 3\n")
    with pytest.raises(
        YamlError, match=r"plan\.yaml:2:9: faults: expected `array`, got `int`; write"
    ):
        load_plan(path)
    path.write_text("scenario: s\nscenario: t\n")
    with pytest.raises(YamlError, match=r"plan\.yaml:2:1: key 'scenario' occurs twice"):
        load_plan(path)
    with pytest.raises(YamlError, match=r"missing\.yaml: cannot be read"):
        load_plan(tmp_path / "missing.yaml")


def test_what_a_worker_finds_wrong_with_a_plan_reaches_the_process_that_asked() -> None:
    error = pickle.loads(pickle.dumps(PlanError("faults[2].when.kind", "is no kind")))  # noqa: S301 - our own
    assert (str(error), error.path) == ("faults[2].when.kind: is no kind", "faults[2].when.kind")
