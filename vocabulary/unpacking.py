"""Lines of a plain or compressed file, within limits on its uncompressed size.

A megabyte of gzip can unpack to a gigabyte. Files that Assay reads are less repetitive: the
measured histories and audit logs unpack to 40 times their size at most.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from vocabulary.regular_files import open_regular

MAX_RATIO: Final = 200
"""The maximum uncompressed size, as a multiple of a file's own."""
ALWAYS_ALLOWED_BYTES: Final = 16 * 1024**2
"""The uncompressed size that every file may have, regardless of the ratio."""
_CHUNK_BYTES: Final = 256 * 1024
_GZIP: Final = b"\x1f\x8b"


class UnpackError(ValueError):
    """A damaged file, or one beyond the limits; the message does not name the file."""


class Lines:
    """The lines of a file, plain or gzip, each with its line feed if it has one; iterate once.

    Raises OSError and `UnpackError`.
    """

    def __init__(self, path: Path, *, max_bytes: int, max_line_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._max_line_bytes = max_line_bytes
        self.is_whole = True
        """After the iteration: False if the compressed stream was cut short."""

    def __iter__(self) -> Iterator[bytes]:
        number, rest = 1, b""
        with open_regular(self._path) as file:
            for chunk in self._chunks(file):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    self._require_short(line, number)
                    number += 1
                    yield line + b"\n"
                self._require_short(rest, number)
        if rest:
            yield rest

    def _chunks(self, file: BinaryIO) -> Iterator[bytes]:
        total = 0
        packed = file.read(_CHUNK_BYTES)
        if not packed.startswith(_GZIP):
            while packed:
                total += len(packed)
                self._require_bounded(total, total)
                yield packed
                packed = file.read(_CHUNK_BYTES)
            return
        read = len(packed)
        member = zlib.decompressobj(wbits=31)
        while True:
            # Not GzipFile: at the end of a file that was cut short it drops what it has read.
            try:
                chunk = member.decompress(packed, _CHUNK_BYTES)
            except zlib.error as error:
                raise UnpackError(f"is not a readable gzip file: {error}") from error
            total += len(chunk)
            self._require_bounded(total, read)
            if chunk:
                yield chunk
            packed = member.unused_data if member.eof else member.unconsumed_tail
            if not packed:
                packed = file.read(_CHUNK_BYTES)
                read += len(packed)
            if member.eof and packed:
                member = zlib.decompressobj(wbits=31)
            elif member.eof:
                return
            elif not packed and not chunk:
                self.is_whole = False
                return

    def _require_short(self, line: bytes, number: int) -> None:
        if len(line) > self._max_line_bytes:
            raise UnpackError(f"line {number} has over {self._max_line_bytes} bytes; rejected")

    def _require_bounded(self, total: int, read: int) -> None:
        if total > self._max_bytes:
            raise UnpackError(f"unpacks to more than {self._max_bytes} bytes; rejected")
        if total > max(ALWAYS_ALLOWED_BYTES, read * MAX_RATIO):
            raise UnpackError(
                f"unpacks to more than {MAX_RATIO} times its size, unlike any recording; rejected"
            )
