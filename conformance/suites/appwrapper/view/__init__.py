"""A history as checkers of AppWrappers see it.

`history.AppWrapperHistory` is the entry point; everything else can be reached from it. A tour:

- `workload_index`: what is looked up for each AppWrapper: pods, owners, configurations.
- `profile`: the fields of an implementation's API that the claims refer to.
- `snapshots`: the versions of an AppWrapper: phase, conditions, counter; spans and edges.
- `pod_sets`: the workloads of an AppWrapper's components; the expected number of pods.
- `parameters`: the retry loop's effective parameters, with their annotations and maximum.
- `autopilot`: tagged nodes, and the pods that they concern.
- `health`: the workload's actual health, at every position.
- `attempts`, `deletions`: the spans in which it was run, and removed.
- `attempt_ends`: the reasons for which an attempt ended in Resetting or Failed, as far as visible.
- `stripped`: AppWrappers that their controller could not hold, since their finalizer was removed.
- `late_pods`: pods created when nothing of their owner is visible any more.
- `concurrent_operators`: conflicts of two operators that act at once.
- `appwrapper`: all of this for one AppWrapper.

Nothing here reads a controller's private status fields: everything that a claim needs is read from
objects, phases and conditions, and the order in which they were written.
"""

from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.profile import RELEASED, Profile

__all__ = ["RELEASED", "AppWrapperHistory", "AppWrapperRun", "Profile"]
