"""Faults, random plans and experiments that concern AppWrappers alone.

- `faults`: its faults, and the registration of its kind.
- `variation`, `random_variation`: AppWrappers of other shapes than scenarios write.
- `activities`: its actions and probes for the Chaos Toolkit.
"""

import chaos.appwrapper.faults  # noqa: F401  # registers the kind and its faults
