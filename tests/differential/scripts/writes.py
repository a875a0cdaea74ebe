"""Creating, replacing and patching: names, versions, conflicts."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.script import script
from tests.differential.scripts.manifests import config_map
from vocabulary.kinds import CONFIG_MAP


@script("A new object gets its uid, creation time and version from the server.", ["4.5"])
def create_sets_identity(c: Dialogue) -> None:
    c.create(
        config_map(
            "a",
            {"k": "v"},
            uid="11111111-1111-1111-1111-111111111111",
            creationTimestamp="2001-01-01T00:00:00Z",
            generation=7,
            deletionTimestamp="2001-01-01T00:00:00Z",
            deletionGracePeriodSeconds=5,
        )
    )
    c.get(CONFIG_MAP, "a")


@script("Nobody can create an object with a resourceVersion.", ["4.5"])
def create_with_version(c: Dialogue) -> None:
    c.create(config_map("a", resourceVersion="1"))
    c.create(config_map("a", resourceVersion="0"))
    c.get(CONFIG_MAP, "a")
