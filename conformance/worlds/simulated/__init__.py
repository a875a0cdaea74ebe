"""The simulated world: the operator on a simulated cluster, in virtual time.

- `connection`: the wire between operator and API server, with what chaos put on it.
- `operator_process`: the operator's life, caches and requests.
- `processes`: every process of the cluster by name, for faults.
- `world`: all of it as a `World`, and the recording of its history.
"""
