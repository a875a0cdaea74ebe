"""The situations that put the claims about Workloads to the test.

- `order`: which Workload of a queue comes first.
- `quota`: quota that is there, borrowed, lent and lacking; flavors.
- `preemption`: Workloads that give quota back for others.
- `queues`: queues that are stopped, select namespaces, or wait for pods to be ready.
- `timeouts`: pods that lose their readiness, and what each attempt may take.
- `requeuing`: pods that are not ready in time.
- `kinds`: each kind of jobs waits, runs, is evicted and comes back.
- `drawn`: queues and jobs drawn at random, all at once.
"""
