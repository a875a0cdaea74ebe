"""The operator's configuration in a run, and the settings that objects under test annotate.

Scenarios take minutes with operators' default durations, so runs shorten them. An operator with a
fixed configuration keeps its own; there each object under test requests short ones by
annotations, unless the scenario has it request others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.manifests.pod_templates import with_annotations
from conformance.suite import Durations, Suite
from vocabulary.kinds import kind_of
from vocabulary.objects import annotations_of


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One run's."""

    config: Mapping[str, Any]
    """The settings written to the operator's configuration; others have its defaults."""
    durations: Durations
    """The effective durations for objects without other settings in the scenario."""
    annotations: Mapping[str, str]
    """The annotations of objects under test for that."""
    kinds: frozenset[str]
    """Their kinds, in any version."""

    @staticmethod
    def of(
        suite: Suite,
        fixed: Mapping[str, Any] | None,
        short: Mapping[str, Any],
        wanted: Mapping[str, Any],
    ) -> RunSettings:
        """With durations as in `short`, and otherwise as the scenario wants it; `fixed` is how the
        operator is configured for good, None if it is configured for this run."""
        settings = suite.settings
        kinds = frozenset(str(use.kind) for use in suite.kinds)
        if fixed is None:
            config = settings.overlay(settings.overlay(settings.written, short), wanted)
            return RunSettings(config, settings.durations_at(config), {}, kinds)
        shorter = {name: short[settings.spans][name] for name in settings.annotations}
        in_force = settings.overlay(fixed, {settings.spans: shorter}) if shorter else fixed
        asked = {settings.annotations[name]: value for name, value in shorter.items()}
        return RunSettings(fixed, settings.durations_at(in_force), asked, kinds)

    def asked_for(self, obj: dict[str, Any]) -> dict[str, Any]:
        """The object with the annotations that it lacks, if it is under test."""
        if not self.annotations or str(kind_of(obj)) not in self.kinds:
            return obj
        return with_annotations(obj, {**self.annotations, **annotations_of(obj)})
