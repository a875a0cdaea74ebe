"""The one-line behaviour of pods, and what it expands to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters.behaviour import BehaviourError, expand, parse_behaviour, with_time_to_stop
from tests.simulated_controllers.lab import job, pod
from vocabulary.objects import annotations_of


@pytest.mark.parametrize(
    ("line", "singles"),
    [
        ("run forever", {}),
        ("run 5s, exit 3", {"run-for": "5s", "exit": "3"}),
        ("run 5s", {"run-for": "5s", "exit": "0"}),
        ("exit 137, reason OOMKilled", {"exit": "137", "reason": "OOMKilled"}),
        ("exit 1, 2 times, restart-after 1s",
         {"exit": "1", "exit-times": "2", "restart-after": "1s"}),
        ("ready-after 2s", {"ready-after": "2s"}),
        ("stay pending", {"hold": "pending"}),
        ("never ready", {"hold": "notready"}),
        ("init stuck", {"hold": "init"}),
        ("image missing", {"hold": "image"}),
        ("stop 60s, stop exit 0", {"term-for": "60s", "term-exit": "0"}),
        ("never stop", {"stuck-terminating": "true"}),
        ("  run   1m30s ,exit  0 ", {"run-for": "1m30s", "exit": "0"}),
    ],
)  # fmt: skip
def test_every_clause_has_its_annotation(line: str, singles: dict[str, str]) -> None:
    assert parse_behaviour(line) == {f"assay.dev/{key}": value for key, value in singles.items()}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("dance", r"'dance' is not a behaviour; use clauses such as `run 5s`"),
        ("", "'' is not a behaviour"),
        ("run soon", "needs a Go duration"),
        ("run -5s", "not negative"),
        ("exit 256", "an exit code from 0 to 255"),
        ("exit one", "an exit code"),
        ("exit 1, 0 times", "1 or more"),
        ("2 times", "add a clause `exit <code>`"),
        ("exit 1, exit 2", "sets assay.dev/exit twice"),
        ("stay pending, init stuck", "sets assay.dev/hold twice"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_what_would_be(line: str, says: str) -> None:
    with pytest.raises(BehaviourError, match=says) as refusal:
        parse_behaviour(line)
    assert repr(line) in str(refusal.value)


@given(st.text(max_size=30))
def test_any_text_is_understood_or_refused_but_nothing_else(text: str) -> None:
    try:
        singles = parse_behaviour(text)
    except BehaviourError:
        return
    assert all(key.startswith("assay.dev/") for key in singles)


def test_a_pod_is_expanded_and_what_is_annotated_singly_wins() -> None:
    obj = pod(behaviour="run 5s, exit 3")
    obj["metadata"]["annotations"]["assay.dev/exit"] = "7"
    before = dict(obj["metadata"]["annotations"])
    expanded = expand(obj)
    assert annotations_of(expanded)["assay.dev/exit"] == "7"
    assert annotations_of(expanded)["assay.dev/run-for"] == "5s"
    assert annotations_of(expanded)["assay.dev/behaviour"] == "run 5s, exit 3"
    assert obj["metadata"]["annotations"] == before


def test_pod_templates_are_found_however_deep() -> None:
    wrapped = {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "metadata": {"name": "a"},
        "spec": {"components": [{"template": job(behaviour="exit 2")}]},
    }
    template = expand(wrapped)["spec"]["components"][0]["template"]["spec"]["template"]
    assert annotations_of(template)["assay.dev/exit"] == "2"


def test_an_object_without_a_behaviour_stays_as_it_is() -> None:
    assert expand(job()) == job()


@pytest.mark.parametrize(
    ("line", "own", "seconds"),
    [
        ("stop 2m", None, 150),
        ("stop 1500ms", None, 32),
        ("stop 2m", 5, 5),
        ("stop 2m", 0, 0),
        ("run 5s, exit 3", None, None),
        ("never stop", None, None),
    ],
)
def test_a_pod_gets_the_time_to_stop_that_its_behaviour_needs_unless_it_has_its_own(
    line: str, own: int | None, seconds: int | None
) -> None:
    obj = expand(pod(behaviour=line, terminationGracePeriodSeconds=own))
    assert with_time_to_stop(obj)["spec"].get("terminationGracePeriodSeconds") == seconds


def test_a_time_to_stop_that_is_none_is_refused_by_its_name() -> None:
    obj = pod()
    obj["metadata"]["annotations"] = {"assay.dev/term-for": "soon"}
    with pytest.raises(BehaviourError, match=r"assay\.dev/term-for: .*soon"):
        with_time_to_stop(obj)
