"""Histories from a Kubernetes audit log that was recorded without Assay.

- `events`: reads the log (audit.k8s.io/v1, JSON lines, gzip or plain), all its files at once.
- `commits`: the effect of each request on the store, from its response.
- `history`: its header and entries, and the gaps of the log.

A log has less information than Assay's own recordings: it begins in the middle, may omit requests
by its policy, and does not show when the operator was running. Gaps are removed, or reported as
missing capabilities, so that claims which need them are inconclusive; nothing is guessed.
"""
