"""Situations of the guide: teams that share a cluster, and what becomes of their AppWrappers.

- `sharing`: quota that is borrowed and reclaimed, and the order in which it is given out.
"""
