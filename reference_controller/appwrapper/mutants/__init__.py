"""The sound controller with one decision made wrong, many times over.

Each mutant is a subclass of `Rules` that overrides exactly one method, or a definition that
is installed wrong. A suite that lets one live has a hole: so mutants measure the claims, as
the claims measure controllers. They are grouped by what goes wrong:

- `quota`: ResourcesDeployed and QuotaReserved say what is not so.
- `retries`: counting, limits, phases.
- `timing`: where timers start, and how long they run.
- `memory`: what the process remembers and a restart loses.
- `parameters`: annotations, defaults, the cap.
- `health`: what counts as unhealthy, and as success.
- `pods`: which pods count as failed, as expected, and as Autopilot's to move.
- `deletion`: what is deleted how.
- `stalling`: a step of a deletion that comes late, or not at all.
- `ownership`: intents, and what is not ours.
- `injection`: pod templates and labels.
- `creation`: creations that the API server refuses.
- `submission`: flaws that are admitted, and what Kueue says of pods.
- `completion`: success, and what PodsReady says of the pods.
- `templates`: what the user wrote beside what is injected.
- `installation`: the CustomResourceDefinition.
- `slack`: what the slack queue lends.
"""

from __future__ import annotations

from reference_controller.appwrapper.mutants import (
    completion,
    creation,
    deletion,
    health,
    injection,
    installation,
    memory,
    ownership,
    parameters,
    pods,
    quota,
    retries,
    slack,
    stalling,
    submission,
    templates,
    timing,
)
from reference_controller.appwrapper.mutants.mutant import MUTANTS

__all__ = [
    "MUTANTS",
    "completion",
    "creation",
    "deletion",
    "health",
    "injection",
    "installation",
    "memory",
    "ownership",
    "parameters",
    "pods",
    "quota",
    "retries",
    "slack",
    "stalling",
    "submission",
    "templates",
    "timing",
]
