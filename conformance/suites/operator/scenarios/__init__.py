"""The courses of a workload that runs of any operator follow; its objects come from the plan.

- `workload`: created, resynced at rest, left alone, and created again under the same names.
- `deletion`: deleted by each policy, and while the operator is down.
- `neighbours`: created twice, so that what happens to one can be seen to leave the other alone.
- `election`: created, and created again, with two replicas.
- `webhooks`: submitted again as it was admitted; also with objects drawn from CRDs.
- `growth`: created a hundred times over.
- `steps`: what they share.
"""
