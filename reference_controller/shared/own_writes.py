"""The memory of a controller's own writes.

A cache is behind each write for a while. A controller that decides on what it held before would
only run into conflicts.
"""

from __future__ import annotations

from reference_controller.runtime.controller import Key
from vocabulary.objects import Object, meta, uid_of


class OwnWrites:
    """Per key the response to the controller's last write."""

    def __init__(self) -> None:
        self._written: dict[Key, Object] = {}

    def remember(self, key: Key, written: Object) -> None:
        self._written[key] = written

    def forget(self, key: Key) -> None:
        """Forget an object that is gone."""
        self._written.pop(key, None)

    def later(self, key: Key, cached: Object) -> Object:
        """The cached object, or what was written to it since."""
        written = self._written.get(key)
        if written is None or uid_of(written) != uid_of(cached):
            return cached
        return max(cached, written, key=revision_of)


def revision_of(obj: Object) -> int:
    """The resourceVersion as a number; later writes have higher ones."""
    return int(meta(obj)["resourceVersion"])
