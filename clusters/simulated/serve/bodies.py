"""Bodies of requests: of a given length, or in chunks."""

from __future__ import annotations

from email.message import Message
from typing import Final, Protocol

from clusters.simulated.serve.requests import MAX_BODY_BYTES, require_small
from clusters.simulated.serve.routing import PlainTextError
from vocabulary.errors import ApiError

_MAX_DRAINED_BYTES: Final = 64 * 1024 * 1024
"""A client that sends more has its connection closed."""
_MAX_DRAINED_OF_STRANGERS_BYTES: Final = 64 * 1024
_READ_BYTES: Final = 64 * 1024
_MAX_LINE_BYTES: Final = 4096
"""The maximum length of a chunk's first line, and of a trailer."""
_MAX_TRAILERS: Final = 100
_MAX_DIGITS: Final = 16
_HEXADECIMAL: Final = frozenset(b"0123456789abcdefABCDEF")


class TransferEncodingError(PlainTextError):
    """The body is encoded in a way that no server of Go's reads."""

    code = 501
    text = "Unsupported transfer encoding"


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...

    def readline(self, size: int, /) -> bytes: ...


class Body:
    """The body of one request, which is not read yet."""

    def __init__(self, headers: Message, stream: _Stream) -> None:
        """400 for a malformed length, 501 for an encoding other than `chunked`."""
        self._stream = stream
        encodings = headers.get_all("Transfer-Encoding") or []
        self._is_chunked = bool(encodings)
        self._length = 0
        if encodings:
            if [one.strip().lower() for one in encodings] != ["chunked"]:
                raise TransferEncodingError
            return
        given = headers.get_all("Content-Length") or ["0"]
        if len(given) > 1 or not (given[0].isascii() and given[0].isdigit()) or len(given[0]) > 18:
            raise ApiError(400, "BadRequest", "Content-Length must be one integer")
        self._length = int(given[0])

    @property
    def is_empty(self) -> bool:
        return not (self._is_chunked or self._length)

    def drop(self) -> None:
        """Read what a client sends that is not let in: it reads the response only afterwards."""
        self._drain(min(self._length, _MAX_DRAINED_OF_STRANGERS_BYTES))

    def read(self) -> bytes:
        """The whole body; 413 if it is too large, 400 or 500 if it is malformed."""
        if self._is_chunked:
            return self._chunks()
        if self._length > MAX_BODY_BYTES:
            self._drain(min(self._length, _MAX_DRAINED_BYTES))
        require_small(self._length)
        body = self._stream.read(self._length) if self._length else b""
        if len(body) < self._length:
            raise ApiError(400, "BadRequest", "the body is shorter than its Content-Length")
        return body

    def _chunks(self) -> bytes:
        body = bytearray()
        while size := self._size_of_chunk():
            if len(body) + size > MAX_BODY_BYTES:
                self._drain(min(size, _MAX_DRAINED_BYTES))
            require_small(len(body) + size)
            body += self._exactly(size)
            if self._exactly(2) != b"\r\n":
                raise _malformed("malformed chunked encoding")
        for _ in range(_MAX_TRAILERS):
            if self._line() == b"":
                return bytes(body)
        raise _malformed("trailer header without chunked transfer encoding")

    def _size_of_chunk(self) -> int:
        digits = self._line().partition(b";")[0].rstrip()
        if not digits:
            raise _malformed("empty hex number for chunk length")
        if not _HEXADECIMAL.issuperset(digits):
            raise _malformed("invalid byte in chunk length")
        if len(digits) > _MAX_DIGITS:
            raise _malformed("http chunk length too large")
        return int(digits, 16)

    def _line(self) -> bytes:
        line = self._stream.readline(_MAX_LINE_BYTES)
        if line.endswith(b"\r\n"):
            return line[:-2]
        if line.endswith(b"\n"):
            raise _malformed("chunked line ends with bare LF")
        because = "header line too long" if len(line) == _MAX_LINE_BYTES else "unexpected EOF"
        raise _malformed(because)

    def _exactly(self, size: int) -> bytes:
        data = self._stream.read(size)
        if len(data) < size:
            raise _malformed("unexpected EOF")
        return data

    def _drain(self, length: int) -> None:
        while length > 0:
            read = self._stream.read(min(length, _READ_BYTES))
            if not read:
                return
            length -= len(read)


def _malformed(because: str) -> ApiError:
    """A real server's answer to chunks that Go cannot read."""
    return ApiError(500, "", because)
