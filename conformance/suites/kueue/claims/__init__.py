"""The claims about Workloads.

- `requeuing`: what an eviction writes, how long it waits, and that it comes back.
- `deactivation`: the limit of requeues, deactivation and reactivation.
- `release`: when quota goes back.
- `jobs`: what has a Workload of its own, and pods that wait behind a gate.
"""
