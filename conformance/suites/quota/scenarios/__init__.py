"""The situations that put the claims of the ledger to the test.

- `cells`: each cell of the table once; `jobs` are the jobs that they are of.
- `preemption`: Workloads that give quota back for others, and queues that show it.
- `releases`: releases, and the job that they make room for.
- `retries`: retries under quota.
- `shapes`: jobs of other shapes.
- `stories`: bugs that others had.
"""
