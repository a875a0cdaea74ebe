"""A served cluster's kubelets play pods that users post: behaviours, commands, mistakes."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.settings import Declared, Settings
from tests.simulated_controllers.lab import DEFAULT, Lab, pod
from vocabulary.kinds import EVENT, POD, kind_of
from vocabulary.objects import get_path, name_of
from vocabulary.requests import Create


def posted(made: dict[str, Any], *declared: Declared) -> Lab:
    """A served cluster in which that was posted, as it is."""
    lab = Lab(settings=Settings(reads_commands=True, behaviours=declared))
    lab.handle(Create(kind_of(made), made, DEFAULT, name_of(made)))
    return lab


def running(command: list[str], **annotations: str) -> dict[str, Any]:
    made = pod()
    made["metadata"]["annotations"] = {f"assay.dev/{k}": text for k, text in annotations.items()}
    made["spec"]["containers"][0]["command"] = command
    return made


def code(lab: Lab) -> int:
    return int(get_path(lab.pod(), "status.containerStatuses.0.state.terminated.exitCode"))


def told(lab: Lab) -> list[str]:
    return [event["message"] for event in lab.all(EVENT)]


def test_a_behaviour_in_one_line_is_played() -> None:
    lab = posted(running([], behaviour="run 60s, exit 3"))
    lab.run(59)
    assert lab.phase() == "Running"
    lab.run(2)
    assert (lab.phase(), code(lab), told(lab)) == ("Failed", 3, [])


def test_a_command_is_played_where_no_behaviour_is_given() -> None:
    lab = posted(running(["sh", "-c", "sleep 15; exit 1"]))
    lab.run(14)
    assert lab.phase() == "Running"
    lab.run(2)
    assert (lab.phase(), code(lab), told(lab)) == ("Failed", 1, [])
    lab = posted(running(["sleep", "10"], behaviour="run forever"))
    lab.run(3600)
    assert (lab.phase(), told(lab)) == ("Running", [])


@pytest.mark.parametrize(
    ("image", "command", "phase"),
    [
        ("example.com/*", "*", "Failed"),
        ("*", "work --twice", "Failed"),
        ("example.com/*", "work", "Running"),
        ("other.example.com/*", "*", "Running"),
    ],
)
def test_pods_of_a_declared_image_and_command_behave_as_declared(
    image: str, command: str, phase: str
) -> None:
    made = running(["work"])
    made["spec"]["containers"][0] |= {"image": "example.com/work:2", "args": ["--twice"]}
    lab = posted(made, Declared(image, command, "run 5s, exit 3"))
    lab.run(60)
    assert (lab.phase(), bool(told(lab))) == (phase, phase == "Running")
    made["metadata"]["annotations"] = {"assay.dev/touched": "1"}
    lab = posted(made, Declared(image, command, "run 5s, exit 3"))
    lab.run(60)
    assert lab.phase() == phase, "an annotation that says nothing of behaviour changes nothing"
    made["metadata"]["annotations"] = {"assay.dev/behaviour": "run forever"}
    lab = posted(made, Declared(image, command, "run 5s, exit 3"))
    lab.run(60)
    assert lab.phase() == "Running"


def test_the_harness_reads_no_commands() -> None:
    lab = Lab()
    lab.create(running(["sleep", "10"]))
    lab.run(3600)
    assert (lab.phase(), told(lab)) == ("Running", [])


def test_any_other_command_runs_until_told_otherwise_and_an_event_says_how() -> None:
    lab = posted(running(["python3", "train.py"]))
    lab.run(3600)
    assert lab.phase() == "Running"
    assert told(lab) == [
        "the command of container 'main' is not understood: it runs until told otherwise. "
        "`kubectl annotate --overwrite pod p -n default assay.dev/exit=0` ends it; for good, "
        "write assay.dev/behaviour in the pod's template, for example `run 5s, exit 3`"
    ]
    lab.annotate("p", {"assay.dev/exit": "0"})
    lab.run(1)
    assert lab.phase() == "Succeeded"


def test_a_container_that_sleeps_can_be_told_to_exit_at_once() -> None:
    lab = posted(running(["sleep", "600"]))
    lab.run(1)
    lab.annotate("p", {"assay.dev/exit": "7"})
    lab.run(1)
    assert (lab.phase(), code(lab)) == ("Failed", 7)


@pytest.mark.parametrize(
    ("annotations", "because"),
    [
        ({"behaviour": "dance"}, "'dance' is not a behaviour"),
        ({"exit": "1", "run-for": "soon"}, "'assay.dev/run-for' needs a Go duration"),
        ({"exit": "many"}, "'assay.dev/exit' needs an exit code"),
        ({"exit": "1", "exit-times": "0"}, "'assay.dev/exit-times' needs a number of times"),
        ({"ready-after": "3d"}, "'assay.dev/ready-after' needs a Go duration"),
    ],
)
def test_a_malformed_annotation_is_told_once_and_ends_no_server(
    annotations: dict[str, str], because: str
) -> None:
    lab = posted(running(["sleep", "600"], **annotations))
    lab.run(60)
    (message,) = told(lab)
    assert because in message
    lab.delete(POD, "p")
    lab.run(60)
    assert lab.pods == []
