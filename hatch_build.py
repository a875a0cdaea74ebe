"""A wheel lists its packages as older tools did: `chaos discover assay` reads that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RoomsHook(BuildHookInterface):
    """Puts the list of packages into a wheel; `chaos discover` imports the first of them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        listed = Path(self.root, "chaos", "toolkit", "top_level.txt")
        told = f"assay-{self.metadata.version}.dist-info/top_level.txt"
        build_data["force_include"][str(listed)] = told
