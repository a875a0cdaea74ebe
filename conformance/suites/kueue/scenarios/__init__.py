"""The situations that put the claims about Workloads to the test.

- `requeuing`: pods that are not ready in time.
"""
