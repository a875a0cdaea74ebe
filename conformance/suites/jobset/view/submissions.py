"""The JobSets that users asked for, whether they were admitted or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.history import History
from conformance.norm import Obligation, met, undecided, violated
from conformance.norm.words import when
from conformance.suites.jobset.api import JOB_SET
from vocabulary.history import Write
from vocabulary.objects import Object, get_path

REFUSED_AS_FLAWED: Final = (400, 403, 422)
"""Responses that refuse an object for its content; others say nothing of it."""
_KIND: Final = str(JOB_SET)


@dataclass(frozen=True)
class Submission:
    """One creation of a JobSet."""

    write: Write
    job_set: Object
    """As it was submitted; as it was stored, where the history does not show requests."""

    def __str__(self) -> str:
        return f"jobset/{self.write.name}"

    @property
    def is_admitted(self) -> bool:
        return bool(self.write.event)

    @property
    def is_refused(self) -> bool:
        """True if it was refused for its content."""
        return self.write.code in REFUSED_AS_FLAWED

    @property
    def rules(self) -> list[Object]:
        """The rules of its failure policy."""
        return rules_of(get_path(self.job_set, "spec.failurePolicy"))

    @property
    def replicated_jobs(self) -> list[Object]:
        found = get_path(self.job_set, "spec.replicatedJobs")
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []

    def must_be_refused(self, flaw: str) -> Obligation:
        """The obligation that arises from a flaw."""
        if self.is_admitted:
            return violated(self.write, f"{when(self.write)}: {self} is admitted: {flaw}.")
        if self.is_refused:
            return met(self.write)
        return undecided(self.write, f"{self} was not judged: {self.write.message}")


def rules_of(policy: Any) -> list[Object]:
    """The rules of a failure policy, of which nothing is known to be well formed."""
    rules = policy.get("rules") if isinstance(policy, dict) else None
    return [rule for rule in rules if isinstance(rule, dict)] if isinstance(rules, list) else []


def texts(values: Any) -> Sequence[str]:
    """A list of texts; empty for anything else."""
    return [str(each) for each in values] if isinstance(values, list) else []


def submissions(history: History) -> Iterator[Submission]:
    """Each creation of a JobSet, first those that were admitted."""
    for track in history.by_kind.get(_KIND, ()):
        created = track.created
        yield Submission(created, created.submitted or track.first)
    for write in history.refused_submissions:
        if write.kind == _KIND and write.verb == "create":
            yield Submission(write, write.submitted or {})


def refused_changes(history: History) -> Iterator[tuple[Write, Object]]:
    """Each update of a JobSet that was refused for its content, with the JobSet as it stood."""
    for write in history.refused_submissions:
        if write.kind != _KIND or write.verb != "update" or write.code not in REFUSED_AS_FLAWED:
            continue
        track = history.find(_KIND, write.namespace, write.name, write.n)
        version = None if track is None else track.version_at(write.n)
        if version is not None and version.object is not None:
            yield write, version.object
