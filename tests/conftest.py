"""What all tests share: Hypothesis never judges by a clock, since machines are noisy."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("assay", deadline=None, print_blob=True)
settings.load_profile("assay")
