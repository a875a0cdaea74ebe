"""Reads audit logs: JSON lines of audit.k8s.io/v1 events, plain or gzip, one file or several.

Only what changes something is kept: completed create, update, patch and delete requests. So a
log of gigabytes, most of which are reads and leases, takes little memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from vocabulary.clock import Micros, parse_rfc3339
from vocabulary.unpacking import Lines, UnpackError

API_VERSION: Final = "audit.k8s.io/v1"
WRITES: Final = frozenset({"create", "update", "patch", "delete", "deletecollection"})
MAX_LINE_BYTES: Final = 16 * 1024**2
"""Two objects and some fields; etcd stores no object over 1.5 MiB."""
MAX_LOG_BYTES: Final = 16 * 1024**3
"""The limit for one file, uncompressed."""
MAX_EVENTS: Final = 300_000
"""Writes that are kept, some 10 KB each in memory; more need a log of fewer namespaces, or of less
time."""


_FETCH_AGAIN: Final = "fetch the file again from where it was recorded"


class AuditLogError(ValueError):
    """A file that is no audit log, or one that cannot be judged; says what to do."""


class User(msgspec.Struct, frozen=True):
    """The user of a request, as authenticated by the API server."""

    username: str = ""
    uid: str = ""


class Reference(msgspec.Struct, frozen=True, rename="camel"):
    """The object of a request."""

    resource: str = ""
    api_group: str = ""
    namespace: str = ""
    name: str = ""
    subresource: str = ""


class Status(msgspec.Struct, frozen=True):
    """How a request ended."""

    code: int = 200
    reason: str = ""
    message: str = ""


class Event(msgspec.Struct, frozen=True, rename="camel"):
    """One line of the log; fields that nothing here needs are not read."""

    kind: str = ""
    api_version: str = ""
    level: str = ""
    audit_id: str = msgspec.field(name="auditID", default="")
    stage: str = ""
    request_uri: str = msgspec.field(name="requestURI", default="")
    verb: str = ""
    user: User = User()
    user_agent: str = ""
    object_ref: Reference | None = None
    response_status: Status | None = None
    request_object: dict[str, Any] | None = None
    response_object: dict[str, Any] | None = None
    request_received_timestamp: str = ""
    stage_timestamp: str = ""

    @property
    def reference(self) -> Reference:
        """The object of the request; always present in events that were kept."""
        assert self.object_ref is not None
        return self.object_ref

    @property
    def resource(self) -> str:
        """`pods`, `jobs.batch`."""
        found = self.reference
        return f"{found.resource}.{found.api_group}" if found.api_group else found.resource

    @property
    def code(self) -> int:
        return 200 if self.response_status is None else self.response_status.code

    @property
    def received_us(self) -> Micros:
        """When it came in: the earliest that it can have been carried out."""
        return parse_rfc3339(self.request_received_timestamp)

    @property
    def answered_us(self) -> Micros:
        """When it was answered: whatever it did has been done by then."""
        return parse_rfc3339(self.stage_timestamp)


class Log(NamedTuple):
    """The writes of all files, in the order in which they came in."""

    events: tuple[Event, ...]
    truncated: tuple[Path, ...]
    """Files whose last line is not whole."""


_decoder: Final = msgspec.json.Decoder(Event)


def read_log(paths: Iterable[Path]) -> Log:
    """Read the files, of one API server or of several; AuditLogError names file and line."""
    kept: dict[tuple[str, str], Event] = {}
    truncated: list[Path] = []
    for path in paths:
        for event in _events(path, truncated):
            # Rotation and log shippers may deliver a line twice.
            kept.setdefault((event.audit_id, event.stage), event)
            if len(kept) > MAX_EVENTS:
                raise AuditLogError(
                    f"{path}: more than {MAX_EVENTS} writes; cut out the time, or the namespaces, "
                    "that are to be judged"
                )
    events = sorted(kept.values(), key=lambda event: event.request_received_timestamp)
    return Log(tuple(events), tuple(truncated))


def _events(path: Path, truncated: list[Path]) -> Iterator[Event]:
    lines = Lines(path, max_bytes=MAX_LOG_BYTES, max_line_bytes=MAX_LINE_BYTES)
    number = 0
    for number, line in enumerate(_readable(lines, path), start=1):
        if not line.strip():
            continue
        try:
            event = _decoder.decode(line)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            if not line.endswith(b"\n") and (number > 1 or not lines.is_whole):
                break
            raise AuditLogError(
                f"{path}: line {number}: {error}; expected one audit event per line: "
                "is this the file of --audit-log-path?"
            ) from error
        _check(event, path, number)
        if _is_kept(event, path, number):
            yield event
    else:
        if not number and lines.is_whole:
            raise AuditLogError(
                f"{path}: is empty; expected one audit event per line: {_FETCH_AGAIN}"
            )
        if lines.is_whole:
            return
    if number < 2:
        raise AuditLogError(f"{path}: was cut short in its first line; {_FETCH_AGAIN}")
    truncated.append(path)


def _readable(lines: Lines, path: Path) -> Iterator[bytes]:
    """The lines; AuditLogError if they cannot be read."""
    try:
        yield from lines
    except UnpackError as error:
        raise AuditLogError(f"{path}: {error}; {_FETCH_AGAIN}") from error
    except OSError as error:
        raise AuditLogError(
            f"{path}: cannot be read: {error.strerror or error}; name the file of --audit-log-path"
        ) from error


def _check(event: Event, path: Path, number: int) -> None:
    if event.kind == "EventList":
        raise AuditLogError(
            f"{path}: line {number} is an EventList, as webhooks get it; "
            "make one event per line of it: jq -c '.items[]'"
        )
    if (event.api_version, event.kind) != (API_VERSION, "Event"):
        raise AuditLogError(
            f"{path}: line {number} is {event.kind or 'something'} of "
            f"{event.api_version or 'no apiVersion'}, expected Event of {API_VERSION}; "
            "is this the file of --audit-log-path?"
        )


def _is_kept(event: Event, path: Path, number: int) -> bool:
    if event.stage != "ResponseComplete" or event.verb not in WRITES:
        return False
    # A dry run changes nothing.
    if event.object_ref is None or not event.object_ref.resource or "dryRun=" in event.request_uri:
        return False
    try:
        parse_rfc3339(event.request_received_timestamp)
    except ValueError as error:
        raise AuditLogError(
            f"{path}: line {number}: requestReceivedTimestamp: {error}; expected RFC 3339"
        ) from error
    return True
