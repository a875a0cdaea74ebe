"""Situations of the guide: teams that share a cluster, and what becomes of their AppWrappers.

- `sharing`: quota that is borrowed and reclaimed, and the order in which it is given out.
- `lifecycle`: one AppWrapper, and what its user reads of it.
- `kinds`: each kind that users wrap, and those that they create themselves.
- `slack`: the queue from which teams borrow what nodes can offer.
"""
