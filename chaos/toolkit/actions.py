"""Actions on anything: every fault, objects, the operator.

Annotations are evaluated here, since discovery shows parameter types only if they are.
"""
# ruff: noqa: ARG001, UP006, UP035  # signatures are chaostoolkit's; it knows Dict, not dict

from typing import Any, Dict, List, Literal

from chaoslib.exceptions import ActivityFailed
from chaoslib.types import Configuration, Secrets

from chaos.choice import named_kind
from chaos.faults import DeleteObject, EditObject, Kill, Pause, Restart, Resume
from chaos.toolkit.stage import POLL_US, stage_of
from vocabulary.clock import SECOND
from vocabulary.clock import seconds as span_of
from vocabulary.history import OPERATOR
from vocabulary.objects import get_path, name_of
from vocabulary.requests import create

__all__ = [
    "delete_object",
    "edit_object",
    "inject_fault",
    "kill_operator",
    "pause_operator",
    "restart_operator",
    "resume",
    "resume_operator",
    "revert_faults",
    "submit",
    "suspend",
    "wait",
    "wait_for_phase",
]


def inject_fault(
    fault: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Inject any fault that a plan can hold, spelled as there, for example
    `{"kill_pod": {"pod": {"of": "JobSet/a", "which": "random"}, "exit_code": 137}}`.

    What was done is returned in English; `revert_faults` undoes it.
    """
    return stage_of(configuration, ns).inject_data(fault)


def revert_faults(
    ns: str = "", configuration: Configuration = None, secrets: Secrets = None
) -> List[str]:
    """
    Undo every fault that was injected into the namespace, the latest first.
    Put this into an experiment's rollbacks.
    """
    return stage_of(configuration, ns).revert()


def wait(seconds: float, configuration: Configuration = None, secrets: Secrets = None) -> None:
    """
    Let time pass: real time on a cluster, virtual time in the simulation.
    """
    stage_of(configuration).wait(span_of(seconds))


def submit(
    manifest: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    Create an object from its manifest, as a user does; its name is returned.
    """
    stage = stage_of(configuration, ns)
    stored = stage.call(create(stage.prepare(manifest)))
    return name_of(stored)


def wait_for_phase(
    object: str,
    phase: str,
    timeout: int = 300,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> str:
    """
    Wait until an object such as `JobSet/a` is in a phase, or in one of several
    (`"Failed|Succeeded"`).
    Fails if it is not there after `timeout` seconds.
    """
    stage = stage_of(configuration, ns)
    wanted = phase.split("|")
    waited_us = 0
    while True:
        found = str(get_path(stage.named(object), "status.phase", ""))
        if found in wanted:
            return found
        if waited_us >= timeout * SECOND:
            raise ActivityFailed(
                f"{object} is in phase {found!r} after {timeout}s, expected {phase}"
            )
        stage.wait(POLL_US)
        waited_us += POLL_US


def kill_operator(
    restart_after: float = 2,
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Kill the operator (SIGKILL). It comes back after `restart_after` seconds in the
    simulation, and when its Deployment brings it back elsewhere; negative: it stays down.
    """
    span_us = span_of(restart_after) if restart_after >= 0 else None
    return stage_of(configuration).inject(Kill(OPERATOR, restart_after=span_us))


def restart_operator(
    downtime: float = 2, configuration: Configuration = None, secrets: Secrets = None
) -> List[str]:
    """
    Stop the operator gracefully and start it again, as a rollout does.
    """
    return stage_of(configuration).inject(Restart(OPERATOR, span_of(downtime)))


def pause_operator(configuration: Configuration = None, secrets: Secrets = None) -> List[str]:
    """
    Stop the operator in its tracks (SIGSTOP); `resume_operator` lets it go on.
    """
    return stage_of(configuration).inject(Pause(OPERATOR))


def resume_operator(configuration: Configuration = None, secrets: Secrets = None) -> List[str]:
    """
    Let a paused operator go on.
    """
    return stage_of(configuration).inject(Resume(OPERATOR))


def delete_object(
    kind: str,
    name: str,
    propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    finalizer: str = "",
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Delete an object of any kind as a user does. With a `finalizer`, that is put on it first,
    so it stays, terminating, until the faults are reverted.
    """
    _require_kind(kind)
    fault = DeleteObject(kind, name, propagation, finalizer=finalizer)
    return stage_of(configuration, ns).inject(fault)


def edit_object(
    kind: str,
    name: str,
    patch: Dict[str, Any],
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Apply a merge patch to an object as a user does.
    """
    _require_kind(kind)
    return stage_of(configuration, ns).inject(EditObject(kind, name, patch))


def suspend(
    object: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Suspend an object such as `JobSet/a`, as Kueue does to preempt it.
    """
    return stage_of(configuration, ns).inject_data({"suspend": {"object": object}})


def resume(
    object: str,
    ns: str = "",
    configuration: Configuration = None,
    secrets: Secrets = None,
) -> List[str]:
    """
    Let a suspended object go on.
    """
    return stage_of(configuration, ns).inject_data(
        {"suspend": {"object": object, "suspended": False}}
    )


def _require_kind(kind: str) -> None:
    try:
        named_kind(kind)
    except ValueError as error:
        raise ActivityFailed(str(error)) from error
