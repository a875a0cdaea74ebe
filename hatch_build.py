"""The wheel: all rooms, of which one is installed under another name.

Source trees import `fixtures`, and so does a package of that name on PyPI. A wheel installs that
room as `assay_fixtures`, and all modules import it as that.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOMS = (
    "vocabulary",
    "reference_controller",
    "conformance",
    "chaos",
    "fixtures",
    "mlbatch_tools",
)
RENAMED = "fixtures"
_MENTIONED = re.compile(rf'\b{RENAMED}(?=\.[a-z_]| import |")')


class RoomsHook(BuildHookInterface):
    """Puts the rooms into a wheel; an editable installation has the source tree itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        self._staged = tempfile.mkdtemp(prefix="assay-wheel-")
        included = build_data["force_include"]
        for room in ROOMS:
            target = f"assay_{room}" if room == RENAMED else room
            copy = Path(self._staged, target)
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(Path(self.root, room), copy, ignore=ignored)
            for path in copy.rglob("*.py"):
                text = path.read_text("utf-8")
                path.write_text(_MENTIONED.sub(f"assay_{RENAMED}", text), "utf-8")
            included[str(copy)] = target
        # `chaos discover assay` imports the first package that is listed here.
        listed = Path(self.root, "chaos", "toolkit", "top_level.txt")
        included[str(listed)] = f"assay-{self.metadata.version}.dist-info/top_level.txt"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        del build_data, artifact_path
        if version != "editable":
            shutil.rmtree(self._staged)
