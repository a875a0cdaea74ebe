"""Histories from elsewhere: a Kubernetes audit log, recorded without Assay, as a history.

- `events`: reads the log (audit.k8s.io/v1, JSON lines, gzip or plain), all its files at once.
- `commits`: what each request did to the store, read off its response.
- `history`: header and entries of it, and what the log cannot show.

A log knows less than Assay's own recordings: it begins in the middle, may leave out requests by
its policy, and does not say when the operator was running. What it lacks is taken out, or told
as a missing capability, so that claims which need it are inconclusive; nothing is guessed.
"""
