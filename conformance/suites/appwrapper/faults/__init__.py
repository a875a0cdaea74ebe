"""AppWrappers as plans see them.

- `subject`: the registration of the kind, with all of the following.
- `autopilot`: the faults of its own.
- `variation`, `varied`, `random_variation`: AppWrappers of other shapes than scenarios write.
"""
