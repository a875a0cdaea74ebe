"""The claims about Workloads.

- `requeuing`: what an eviction writes, how long it waits, and that it comes back.
- `deactivation`: the limit of requeues, deactivation and reactivation.
- `release`: when quota goes back, and which jobs have a Workload.
"""
