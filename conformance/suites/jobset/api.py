"""The names of the API under test, as claims, scenarios and faults use them."""

from __future__ import annotations

from typing import Final

from vocabulary.kinds import Kind

JOB_SET: Final = Kind("jobset.x-k8s.io", "v1alpha2", "JobSet", "jobsets")
DOMAIN: Final = "jobset.sigs.k8s.io"
CONTROLLER_NAME: Final = f"{DOMAIN}/jobset-controller"
"""The value of `spec.managedBy` that means the same as none."""
NAME_LABEL: Final = f"{DOMAIN}/jobset-name"
REPLICATED_JOB_LABEL: Final = f"{DOMAIN}/replicatedjob-name"
INDEX_LABEL: Final = f"{DOMAIN}/job-index"
RESTART_ATTEMPT: Final = f"{DOMAIN}/restart-attempt"
RESTART: Final = f"{DOMAIN}/restart"
"""The annotation by which the norm marks Jobs whose restart does not count."""
EXCLUSIVE_TOPOLOGY: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"

KEP: Final = "kep"
"""The edition that is the norm, to the letter."""
KEP_V0_12: Final = "kep-v0.12"
"""The edition of the text that v0.12.0 ships: it has RestartJob and how that is counted."""
RELEASED: Final = "released"
"""The edition of what released controllers promise instead."""
WITH_JOB_RESTARTS: Final = frozenset({KEP_V0_12, RELEASED})
"""The editions that define RestartJob, RestartJobAndIgnoreMaxRestarts, and their counters."""

FAIL_JOB_SET: Final = "FailJobSet"
RESTART_JOB_SET: Final = "RestartJobSet"
RESTART_UNCOUNTED: Final = "RestartJobSetAndIgnoreMaxRestarts"
RESTART_REPLICATED_JOB: Final = "RestartReplicatedJob"
RESTART_JOB: Final = "RestartJob"
RESTART_JOB_UNCOUNTED: Final = "RestartJobAndIgnoreMaxRestarts"
"""An action of released controllers, which the norm does not have."""
FAIL_JOB: Final = "FailJob"
