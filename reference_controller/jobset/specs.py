"""The specs of JobSets as their controller works on them: with defaults, and without flaws.

A cluster may have no webhooks, or may have had none when a JobSet was created. What admission would
have filled in is filled in here, and what it would have refused is not run.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference_controller.jobset.admission import all_flaws, defaulted, in_words
from reference_controller.jobset.job_set import status_of
from reference_controller.jobset.known_fields import unknown_fields
from reference_controller.jobset.rules import Rules
from reference_controller.runtime.controller import Key
from vocabulary.objects import Object, meta


@dataclass(frozen=True, slots=True)
class _Spec:
    """The spec of one generation."""

    uid: str
    generation: int
    completed: Object | None
    """With its defaults; None if it has them."""
    flaws: str


class Specs:
    """The last spec by JobSet. It may be forgotten."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._known: dict[Key, _Spec] = {}

    def completed(self, key: Key, job_set: Object) -> Object:
        """The JobSet with its defaults."""
        spec = self._of(key, job_set).completed
        return job_set if spec is None else {**job_set, "spec": spec}

    def flaws(self, key: Key, job_set: Object) -> str:
        """The reasons why the JobSet cannot be run, if any."""
        return self._of(key, job_set).flaws

    def forget(self, key: Key) -> None:
        """Forget a JobSet that is gone."""
        self._known.pop(key, None)

    def _of(self, key: Key, job_set: Object) -> _Spec:
        metadata = meta(job_set)
        uid, generation = metadata["uid"], metadata["generation"]
        known = self._known.get(key)
        if known is None or known.uid != uid or known.generation != generation:
            given = job_set.get("spec")
            spec = defaulted(given, self._rules)
            known = _Spec(
                uid,
                generation,
                completed=None if spec == given else spec,
                flaws=self._flaws({**job_set, "spec": spec}),
            )
            self._known[key] = known
        return known

    def _flaws(self, job_set: Object) -> str:
        causes = [*all_flaws(job_set, self._rules)]
        if not status_of(job_set):
            # One that runs was admitted, perhaps by another release.
            causes += unknown_fields(job_set)
        return in_words(causes)
