"""The claims about Workloads.

- `requeuing`: what an eviction writes, how long it waits, and that it comes back.
- `timeouts`: when pods were not ready in time, and how long all attempts take.
- `deactivation`: the limit of requeues, deactivation and reactivation.
- `order`: which Workload is admitted before which.
- `quota`: what fits is admitted, in which flavor, and nothing else.
- `preemption`: who gives quota back for whom.
- `queues`: queues that admit nothing, and what users read.
- `release`: when quota goes back.
- `jobs`: what has a Workload of its own, and pods that wait behind a gate.
- `upgrades`: what runs goes on when Kueue starts again.
"""
