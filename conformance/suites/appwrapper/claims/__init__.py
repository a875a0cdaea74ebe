"""The claims of the AppWrapper fault tolerance document, by subject.

- `detection`, `startup`, `noticing`: what makes a workload unhealthy, and that it is noticed.
- `grace_periods`: who is given time to repair it.
- `retry`, `retry_pause`, `retry_quota`, `retry_limit`: the retry loop.
- `external_deletion`: components that another client deletes.
- `deletion`, `forceful_clock`, `quota_release`: how resources go, and quota after them.
- `failed`, `success`, `suspension`: what each way out of the loop demands.
- `labels`, `affinity`, `migration`: what is injected, and what Autopilot asks for.
- `parameters`, `timed`: that each parameter does what the table says.
- `invariants`, `ownership`, `progress`: what must hold at every position.
"""
