"""The sound controller with one decision made wrong, many times over.

Each mutant is a subclass of `Rules` that overrides exactly one method. A suite that lets one
live has a hole: so mutants measure the claims, as the claims measure controllers.
"""

from __future__ import annotations

from reference_controller.appwrapper.mutants.mutant import MUTANTS, Mutant

__all__ = ["MUTANTS", "Mutant"]
