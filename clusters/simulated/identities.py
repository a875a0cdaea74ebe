"""Random identities of new objects: uids and generated names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from clusters.simulated.loop import Loop
from clusters.simulated.object_meta import MAX_GENERATED_PREFIX
from clusters.simulated.store import Key, Store
from vocabulary.errors import ApiError
from vocabulary.kinds import Kind

_SUFFIX_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"
_MAX_NAME_ATTEMPTS: Final = 8
_UUID_RANDOM: Final = ~(0xF000_C000 << 48) & (1 << 128) - 1
_UUID_VERSION_4: Final = 0x4000_8000 << 48


class Identities:
    """Draws them from a cluster's random streams."""

    def __init__(self, loop: Loop, store: Store) -> None:
        self._store = store
        self._loop = loop
        self._uids = loop.rng("uid")
        self._unused: list[str] = []

    def uid(self) -> str:
        """A uid for a new object."""
        return self._unused.pop() if self._unused else _uuid(self._uids.getrandbits(128))

    @contextmanager
    def return_if_refused(self, uid: str) -> Iterator[None]:
        """Return the uid of an object that is refused; the next object gets it."""
        try:
            yield
        except ApiError:
            self._unused.append(uid)
            raise

    def token_id(self) -> str:
        """An id for a new token; objects have the same uids with and without tokens."""
        return _uuid(self._loop.rng("token").getrandbits(128))

    def name(self, kind: Kind, namespace: str, prefix: str) -> str:
        """A free name; the last attempt's name if all of them are taken."""
        name, stream = "", self._loop.rng("generateName")
        for _ in range(_MAX_NAME_ATTEMPTS):
            suffix = "".join(stream.choices(_SUFFIX_ALPHABET, k=5))
            name = f"{prefix[:MAX_GENERATED_PREFIX]}{suffix}"
            if self._store.get(Key(kind.group_kind, namespace, name)) is None:
                break
        return name


def _uuid(bits: int) -> str:
    """A random UUID, version 4, as text; `uuid.UUID` takes five times as long."""
    digits = f"{bits & _UUID_RANDOM | _UUID_VERSION_4:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
