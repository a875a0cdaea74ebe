"""A history as checkers of AppWrappers see it.

`history.AppWrapperHistory` holds it all; from it everything else can be reached. A tour:

- `profile`: which fields of an implementation's API hold what the claims speak of.
- `snapshots`: the versions of an AppWrapper: phase, conditions, counter; spans and edges.
- `pod_sets`: what the components of an AppWrapper stand for; how many pods are expected.
- `parameters`: the retry loop's parameters in force, with their annotations and maximum.
- `autopilot`: which nodes are tagged, and which pods that concerns.
- `health`: how healthy the workload really was, at every position.
- `attempts`, `deletions`: the stretches in which it was run, and removed.
- `departures`: why an attempt ended in Resetting or Failed, as far as the store can tell.
- `last_look`: what an operator cannot have seen before it wrote.
- `stripped`: AppWrappers that nobody could hold, their finalizer being gone.
- `belated`: pods that come when nothing of their owner is left to be seen.
- `rivals`: when two operators at once got in each other's way.
- `appwrapper`: all of this for one AppWrapper.

Nothing here reads what a controller keeps for itself in its status: what a claim needs is
read off objects, phases and conditions, and the order in which they were written.
"""

from conformance.suites.appwrapper.view.appwrapper import AppWrapperRun
from conformance.suites.appwrapper.view.history import AppWrapperHistory
from conformance.suites.appwrapper.view.profile import RELEASED, Profile

__all__ = ["RELEASED", "AppWrapperHistory", "AppWrapperRun", "Profile"]
