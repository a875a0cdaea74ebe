"""MLBatch: what its guide promises of AppWrappers and of the queues that they wait in.

It has no operator of its own: AppWrapper's and Kueue's are under test, configured as the guide's
administrator does. What the guide says of an AppWrapper alone is judged in AppWrapper's runs, too.

- `claims`: the guide's sentences, each with its checker; `claims/scheduling.py` asks of AppWrappers
  what Kueue promises of any job.
- `scenarios`: two teams and what becomes of their AppWrappers. Read `scenarios/sharing.py` first.
- `handle`: a team, as scenarios use it.
"""

from typing import Any, Final

from conformance.suite import Suite

TEAM: Final = "mlbatch-team-namespace"
"""A label of the namespaces of teams, in which all jobs wait."""
_CONFIG: Final[dict[str, Any]] = {
    "kueue": {
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {"matchLabels": {TEAM: "true"}},
        # MLBatch has it off: what is not ready in time is AppWrapper's to retry.
        "waitForPodsReady": {"timeout": "1h"},
    },
    "appwrapper": {"defaultQueueName": "default-queue"},
}

SUITE: Final = Suite(
    name="mlbatch",
    title="MLBatch guide",
    prefixes=("MLB",),
    package=__name__,
    roles=("kueue", "appwrapper"),
    by_edition={"": _CONFIG},
    judged_with=("appwrapper",),
)
