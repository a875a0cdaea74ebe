"""Leased from an existing cluster for a run or a suite, and given back as it was.

- `nodes`: borrowed nodes, with their labels, taints and marks of who has them.
- `operator`: an operator that is installed there; `deployments` scales it and watches its pods.
- `reference`: the reference's own Deployment, fitted to one run.
"""
