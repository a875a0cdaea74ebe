"""The small runtime that the reference controllers share; it knows none of them.

The pure part, driven by the simulation and by a real process alike, in reading order:

- `controller`: what a controller has to be: watched kinds, event → keys, reconcile.
- `caches`: what the informers have seen, with indexes that build themselves.
- `work_queue`: which key comes next; never two workers on one; backoff and timers.
- `leader_election`: which of several operators may act, by Lease.
- `operator`: these four as one state machine: `replace`, `deliver`, `poll`, `answer`.
"""
