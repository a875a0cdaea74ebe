"""Every decision that could be made wrongly, one small pure method each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from reference_controller import rules
from reference_controller.streams.names import Phase
from vocabulary.kinds import Kind
from vocabulary.objects import Object
from vocabulary.requests import PropagationPolicy


class Design(NamedTuple):
    """A way to recover an interrupted submission. The defaults are the one that works."""

    way: Literal["replace", "complete", "pods"] = "replace"
    """The Job is replaced, or completed as it is, or completed once its pods are deleted."""
    policy: PropagationPolicy = "Foreground"
    is_sure: bool = True
    """The new Job waits until the API server has nothing left of the old one's tree."""
    replaces_early: bool = False
    """The new Job is created once the deletion of the old one has begun."""
    on_taken: Literal["retry", "abort", "adopt", "replace"] = "retry"
    """The treatment of a part whose name another object has."""
    labels_pods: bool = False
    """Pods that are deleted for the recovery are labelled, and not restarted for that."""
    marks_elements: bool = False
    """ProcessingElements of the interrupted attempt are reset before pods are made from them."""
    guards_pods: bool = True
    """No pods are made for a Job whose submission was interrupted."""
    recompiles: bool = False
    """A Job that is completed is compiled as the cluster and its bundle are now."""
    updates: Literal["content-first", "elements-first"] | None = None
    """The order in which what is left gets what the new compilation has changed; None: it does
    not."""
    awaits_content: bool = True
    """Pods are made once their ConfigMaps have what their ProcessingElements are to run."""


class Rules(rules.Rules):
    """The right decisions."""

    # Whether a Job was submitted

    def is_submitted(self, phase: str) -> bool:
        """True for that phase alone: any other value, or none, was not transited to it."""
        return phase == Phase.SUBMITTED

    def is_fresh(self, has_id: bool) -> bool:
        """True if the submission did not begin: nothing depends on the Job yet."""
        return not has_id

    def is_interrupted(
        self, is_driven: bool, is_whole: bool, created_s: int, started_s: int
    ) -> bool:
        """True if another process has begun to submit the Job, though all of it may be there. The
        time of its creation, and of the start of this process, say nothing within a second."""
        del is_whole, created_s, started_s
        return not is_driven

    def begins_at_once(self, uid: str, attempt: str) -> bool:
        """True if an interrupted Job is recovered, though nothing happens to it any more, and
        whichever attempt it is."""
        del uid, attempt
        return True

    def first_phase(self) -> str:
        return Phase.SUBMISSION

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

    def creates(self, uid: str, kind: Kind, name: str) -> bool:
        """True if a part of a Job that is missing is created, though it may have been before."""
        del uid, kind, name
        return True

    # Pods

    def may_launch(self, is_submitted: bool, is_driven: bool) -> bool:
        """True if pods are made for a Job: not for one that was interrupted."""
        return is_submitted or is_driven

    def launches(self, count: int) -> bool:
        """True if a ProcessingElement has yet to be launched."""
        return count == 0

    def is_current(self, content: str | None, wanted: str) -> bool:
        """True if there is a ConfigMap with what the ProcessingElement is to run."""
        return content == wanted

    def has_host_pools(self, found: int, wanted: int) -> bool:
        return found >= wanted

    def restarts_deleted(self, setting: bool) -> bool:
        return setting

    def is_lost(self, is_gone: bool) -> bool:
        """True if the pod of a launch is gone, as the API server says: the cache may be behind."""
        return is_gone

    def restarts_failed(self, setting: bool | None) -> bool:
        """True unless its user does not want so."""
        return setting is not False

    def may_restore(self, is_owner_alive: bool) -> bool:
        """True if what is missing is made again: not below an owner that is being deleted."""
        return is_owner_alive

    def restores(self, kind: Kind) -> bool:
        """True if a part of a submitted Job that is gone is created again."""
        del kind
        return True

    # Recovery

    def design(self) -> Design:
        return Design()

    def precondition(self, uid: str) -> str | None:
        """The uid that the Job must have to be deleted."""
        return uid

    def keeps_record(self) -> bool:
        """True if the intent to replace a Job is stored before it is deleted."""
        return True

    def waits_for(self, left: int) -> bool:
        """True while anything is left of the interrupted attempt, as the API server says."""
        return left > 0

    def is_cancelled(self, was_asked: bool) -> bool:
        """True if a Job that is going, or gone, was deleted by its user: the operator has not asked
        for that yet."""
        return not was_asked

    def brings_back(self, is_submitted: bool) -> bool:
        """True if a Job that is being deleted without a record is replaced: its user may have
        deleted it in the foreground, too."""
        del is_submitted
        return False

    def successor(self, clean: Object, interrupted: Object | None) -> Object:
        """The Job that is created in place of an interrupted one."""
        del interrupted
        return clean
