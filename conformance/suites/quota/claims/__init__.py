"""The claims of the ledger.

- `holding`: nothing runs without quota, and quota is held while pods run.
- `release`: quota comes back, once, and is offered to others.
- `queues`: queues as a whole, and the Workloads that take quota from each other.
"""
