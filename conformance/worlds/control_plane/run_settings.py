"""The operator's configuration in a run, and the settings that AppWrappers annotate.

Scenarios take minutes with operators' default durations, so runs shorten them. An operator with a
fixed configuration keeps its own; there each AppWrapper requests short ones by
annotations, unless the scenario has it request others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from conformance.appwrapper import PARAMETER_PREFIX
from conformance.parameters import DEFAULT_CONFIG, SUITE_CONFIG, Durations, overlay
from conformance.pod_templates import with_annotations
from vocabulary.kinds import APPWRAPPER, kind_of
from vocabulary.objects import annotations_of

ANNOTATIONS: Final = {
    "admissionGracePeriod": "admissionGracePeriodDuration",
    "warmupGracePeriod": "warmupGracePeriodDuration",
    "failureGracePeriod": "failureGracePeriodDuration",
    "resetPause": "retryPausePeriodDuration",
    "deletionGracePeriod": "forcefulDeletionGracePeriodDuration",
    "successTTLCeiling": "successTTLDuration",
}
"""The operator's durations that an annotation changes for one AppWrapper."""
SPANS: Final = "faultTolerance"


@dataclass(frozen=True, slots=True)
class RunSettings:
    """One run's."""

    config: Mapping[str, Any]
    """The settings written to the operator's configuration, in the shape of
    `conformance.parameters.DEFAULT_CONFIG`; others have the operator's defaults."""
    durations: Durations
    """The effective durations for AppWrappers without other settings in the scenario."""
    annotations: Mapping[str, str]
    """The annotations of AppWrappers for that."""

    @staticmethod
    def of(
        fixed: Mapping[str, Any] | None, short: Mapping[str, Any], wanted: Mapping[str, Any]
    ) -> RunSettings:
        """With durations as in `short`, and otherwise as the scenario wants it; `fixed` is how the
        operator is configured for good, None if it is configured for this run."""
        if fixed is None:
            config = overlay(overlay(SUITE_CONFIG, short), wanted)
            return RunSettings(config, Durations.of(overlay(DEFAULT_CONFIG, config)), {})
        shorter = {name: short[SPANS][name] for name in ANNOTATIONS}
        in_force = overlay(overlay(DEFAULT_CONFIG, fixed), {SPANS: shorter})
        asked = {PARAMETER_PREFIX + ANNOTATIONS[name]: value for name, value in shorter.items()}
        return RunSettings(fixed, Durations.of(in_force), asked)

    def asked_for(self, obj: dict[str, Any]) -> dict[str, Any]:
        """The object with the annotations that it lacks, if it is an AppWrapper."""
        if not self.annotations or kind_of(obj) != APPWRAPPER:
            return obj
        return with_annotations(obj, {**self.annotations, **annotations_of(obj)})
