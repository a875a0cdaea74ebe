"""Behaviours of pods as users post them: by annotation, or else by what was declared of pods like
them, or else by what their commands do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from clusters.behaviour import (
    BEHAVIOUR,
    EXIT,
    OF_BEHAVIOUR,
    BehaviourError,
    checked,
    parse_behaviour,
)
from clusters.commands import UnknownCommandError, behaviour_of
from clusters.simulated.controllers.settings import Declared
from vocabulary.canonical import digest
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.kinds import EVENT, POD
from vocabulary.objects import Object, name_of, namespace_of, uid_of
from vocabulary.requests import Create

REASON: Final = "BehaviourUnknown"


def understood(
    given: Object, pod_spec: Object, declared: Iterable[Declared] = ()
) -> tuple[Object, str]:
    """The single annotations to play a pod by, and what of its behaviour is not understood.

    What was declared, and after it commands, count where no annotation says anything; so does the
    end of a container that runs on.
    """
    if OF_BEHAVIOUR.isdisjoint(given):
        if found := next((each for each in declared if each.covers(pod_spec)), None):
            return {**given, **parse_behaviour(found.behaviour)}, ""
        try:
            return {**given, **behaviour_of(pod_spec)}, ""
        except UnknownCommandError as error:
            return given, f"{error} is not understood"
    line, flaw = given.get(BEHAVIOUR), ""
    wishes = given
    if line is not None:
        try:
            wishes = {**parse_behaviour(line), **given}
        except BehaviourError as error:
            flaw = str(error)
    wishes, malformed = checked(wishes)
    return wishes, flaw or malformed


def event_about(pod: Object, unclear: str, now_us: Micros) -> Create:
    """The Event that tells what is not understood, and how to change it."""
    name = f"{name_of(pod)}.{digest([uid_of(pod), unclear])[:16]}"
    namespace = namespace_of(pod)
    command = f"kubectl annotate --overwrite pod {name_of(pod)} -n {namespace} {EXIT}=0"
    event: Object = {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.kind,
        "metadata": {"name": name, "namespace": namespace},
        "involvedObject": {
            "apiVersion": POD.api_version,
            "kind": POD.kind,
            "name": name_of(pod),
            "namespace": namespace,
            "uid": uid_of(pod),
        },
        "type": "Warning",
        "reason": REASON,
        "message": f"{unclear}: it runs until told otherwise. `{command}` ends it; for good, write "
        f"{BEHAVIOUR} in the pod's template, for example `run 5s, exit 3`",
        "source": {"component": "kubelet"},
        "reportingComponent": "kubelet",
        "firstTimestamp": to_rfc3339(now_us),
        "lastTimestamp": to_rfc3339(now_us),
        "count": 1,
    }
    return Create(EVENT, event, namespace, name)
