"""The situations that put the claims of the ledger to the test.

- `cells`: each cell of the table once.
- `retries`: retries under quota.
"""
