"""Every decision that could be made wrongly, one small pure method each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from reference_controller import rules
from reference_controller.streams.names import Phase
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import PropagationPolicy


class Deletion(NamedTuple):
    """How an interrupted Job is deleted."""

    policy: PropagationPolicy
    uid: str | None
    """The one that is meant; None: whichever has the name."""


class Rules(rules.Rules):
    """The right decisions."""

    # Whether a Job was submitted

    def is_submitted(self, phase: str) -> bool:
        """True for that phase alone: any other value, or none, was not transited to it."""
        return phase == Phase.SUBMITTED

    def is_fresh(self, has_id: bool) -> bool:
        """True if the submission did not begin: nothing depends on the Job yet."""
        return not has_id

    def is_interrupted(self, is_driven: bool) -> bool:
        """True if another process has begun to submit the Job: this one begins anew."""
        return not is_driven

    def next_id(self, known: Sequence[int], last: int) -> int:
        """A Job's id, higher than all there are and than the last of this process."""
        return max((*known, last)) + 1

    # The submission

    def reference(self, kind: Kind, reference: Object) -> Object | None:
        """The reference of a part to its owner; None: it has none."""
        del kind
        return reference

    def counts(self, kind: Kind, is_owned: bool, is_terminating: bool) -> bool:
        """True if an object of the Job's name is one that its submission has made."""
        del kind
        return is_owned and not is_terminating

    def is_complete(self, kind: Kind, found: int, wanted: int) -> bool:
        del kind
        return found >= wanted

    def replaces_lost(self, is_missing: bool) -> bool:
        """True if a part that was created, and is gone, is created again."""
        return is_missing

    # Pods

    def may_launch(self, is_submitted: bool, is_driven: bool) -> bool:
        """True if pods are made for a Job: not for one that was interrupted."""
        return is_submitted or is_driven

    def is_current(self, content: str, wanted: str) -> bool:
        """True if a ConfigMap has what the ProcessingElement is to run."""
        return content == wanted

    def restarts_deleted(self, setting: bool) -> bool:
        return setting

    def restarts_failed(self, setting: bool | None) -> bool:
        """True unless its user does not want so."""
        return setting is not False

    def may_restore(self, is_owner_alive: bool) -> bool:
        """True if what is missing is made again: not below an owner that is being deleted."""
        return is_owner_alive

    # Recovery

    def deletion(self, uid: str) -> Deletion:
        """The owner stays until its dependents are gone, and is no other of its name."""
        return Deletion("Foreground", uid)

    def may_replace(self, is_gone: bool) -> bool:
        """True if the interrupted Job has left its name."""
        return is_gone

    def waits_for(self, left: int) -> bool:
        """True while anything is left of the interrupted attempt, as the API server says."""
        return left > 0

    def is_cancelled(self, is_known: bool, was_asked: bool) -> bool:
        """True if the Job is going, or gone, though this process knows that it did not ask yet:
        its user deleted it."""
        return is_known and not was_asked

    def successor(self, clean: Object, interrupted: Object | None) -> Object:
        """The Job that is created in place of an interrupted one."""
        del interrupted
        return clean
