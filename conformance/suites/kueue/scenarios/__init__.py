"""The situations that put the claims about Workloads to the test.

- `requeuing`: pods that are not ready in time.
- `kinds`: each kind of jobs waits, runs, is evicted and comes back.
"""
