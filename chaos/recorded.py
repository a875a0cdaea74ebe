"""What a plan's file remembers of the run that it was written beside: so a replay can be compared.

It decides nothing of a run. Only the simulation gives the same history twice, so only its plans
have one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeAlias

from chaos.fields import Text, refuse, write_fields

_SHA256: Final = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Sha256:
    """A SHA-256 digest, as 64 hexadecimal digits."""

    def read(self, data: Any, path: str) -> str:
        if not (isinstance(data, str) and _SHA256.fullmatch(data)):
            refuse(path, data, "the 64 hexadecimal digits of a SHA-256; or leave out recorded")
        return str(data)

    def write(self, value: Any) -> Any:
        return value


_Digest: TypeAlias = Annotated[str, Sha256()]
_Version: TypeAlias = Annotated[str, Text(empty=False)]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The history that the plan gave, and the suite that recorded it."""

    sha256: _Digest
    """`vocabulary.history.history_digest` of it."""
    assay: _Version
    """The version of Assay, with the commit if it was a checkout."""

    def to_data(self) -> dict[str, Any]:
        return write_fields(self)
