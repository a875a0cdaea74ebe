"""Programs in real time beside a served cluster in virtual time, and faults that strike them.

- `program`: a program under test, started, killed and paused like the cluster's own processes.
- `programs`: those of one cluster.
- `faults`: faults on the way of its requests and watch events, and a `chaos.ground.Ground`.
- `recording`: the history of such a cluster.

`conformance.as_tests.cluster` puts them together.
"""
