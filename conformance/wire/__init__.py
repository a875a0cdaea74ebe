"""Mistakes on the wire: the writes of an operator, made wrong by rules, on their way to the server.

They need no source, so they measure how strong claims are on any operator (`assay mutants --wire`).
A tour:

- `rules` are the ways in which a write can be wrong, and `Mistake` is one of them with its target.
- `paths` finds what a write changes in an object, and changes it there.
- `interposed` stands between an operator and the API server: it makes a mistake in each write of
  its target, or notes which mistakes a write could have.
- `drawn` draws mistakes by a seed, evenly over the rules.
"""
