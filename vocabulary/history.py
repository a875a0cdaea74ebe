"""Histories: the recording of a run, entry by entry; immutable, ordered, a file.

A history begins with a `Header`, followed by entries in the one order that counts: the store's
order in the simulation, resourceVersion order on real clusters. Positions (`n`) order events;
times (`t`, microseconds since the run began) only measure them.

- `Write`: one mutating request and its outcome. It has the stored object, so the state of the
  cluster at any position can be derived.
- `Fault`: an action of chaos, or its revert.
- `Process`: the life of a relevant process, operators above all.
- `OutgoingCall`: an operator called another machine than the API server.
- `Mark`: a mark of the run itself, for example that the faults have stopped.

The header lists the operators under test, by their roles. An operator's role names its processes
and its writes: `jobset`, and `jobset/1` for its second replica.

On disk: JSON lines, gzip, one line per record, tagged by `type`; see `write_history`. A file
that was cut short (the run was killed) is still readable up to its last whole line. Older
formats are upgraded as they are read: the entry points `assay.histories` name a function for each.
"""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from vocabulary.canonical import encode
from vocabulary.entry_points import EntryPoints
from vocabulary.fault_effect import FaultEffect
from vocabulary.implementations import in_one_text
from vocabulary.possible_history import Code, Course, Time, Version
from vocabulary.unpacking import Lines, UnpackError

HISTORY_FORMAT: Final = 2
Upgrade: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""Takes a decoded record of an older format, and returns it as one of this format."""
_OLD_FORMATS: Final = EntryPoints("assay.histories", "history format")
MAX_HISTORY_BYTES: Final = 2 * 1024**3
"""An upper bound on what is unpacked of one file; the longest that was recorded, of 45,003 pods,
has 1 GiB, and others 1 MiB."""
MAX_RECORDS: Final = 500_000
"""An upper bound on the records of one file."""
MAX_LINE_BYTES: Final = 16 * 1024**2
"""An upper bound on one record: it holds two objects at most, and etcd stores none over 1.5 MiB."""

SUBMITTERS: Final = frozenset({"user", "federated-user", "service-account", "chaos"})
"""Actors for whose creations and updates a history keeps the submitted objects."""

Event: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", ""]


class Capabilities(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """The capabilities of a history; a claim that needs more is inconclusive, never guessed."""

    writers: bool = True
    """The writer of each write is known (simulation, audit log)."""
    options: bool = True
    """Delete options, failed and no-op requests are recorded."""
    exact_times: bool = True
    """Times come from one exact clock. If not, bounds get one second of slack either way."""
    versions: bool | msgspec.UnsetType = msgspec.UNSET
    """Every version of every object is there, from its creation on. Where it is not said, a
    history of requests has them all, and one of watch events may have begun in the middle or
    may have been interrupted."""

    @property
    def every_version(self) -> bool:
        """True if nothing can have happened between two versions of an object."""
        return self.writers if self.versions is msgspec.UNSET else bool(self.versions)


Span: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
"""A duration in microseconds."""


class OperatorFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Properties of one operator that bounds and claims depend on; None: not known."""

    detection_latency_us: Span | None = None
    """The time from a change to the operator's reaction, at most."""
    request_latency_us: Span | None = None
    """The time from a request to its effect, at most."""
    poll_us: Span | None = None
    """The interval at which the harness triggered a resync of an operator that only polls."""
    polls_every_us: Span | None = None
    """The interval of the operator's own polling; it counts where the run was `untouched`."""
    untouched: bool = False
    """True if the harness triggered no resync in this run."""
    clock_resolution_us: Span | None = None
    """The granularity of the times that the operator itself counts from."""
    fields: dict[str, Any] | None = None
    """Names and paths of its API that differ from the released ones."""
    granted: tuple[str, ...] | None = None
    """Resources that it was given rights for beyond those of its own manifests."""
    keeps: tuple[str, ...] = ()
    """Kinds, with their groups, of which objects stay when their subject is deleted."""
    volatile: tuple[str, ...] = ()
    """Fields that its owner declares to be random, as `Kind path`."""
    accepts: tuple[dict[str, str], ...] = ()
    """Findings that its owner wants, each with `claim`, `text` and `because`."""
    unsupported: dict[str, str] = {}
    """Claims about features that it does not have, each with the reason."""
    skipped: dict[str, str] = {}
    """Claims about features that it has and that this run switched off, each with the reason."""
    profile_sha256: str = ""
    """The digest of the profile that describes it."""


class OperatorUnderTest(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One operator of a run: what it was, and how it was configured."""

    suite: str
    """The suite whose norm it implements."""
    implementation: str
    parameters: dict[str, Any] = {}
    """The settings that were written into the implementation's configuration, by the names of
    its own file format; durations as Go duration strings. What is not there was left to its own
    defaults."""
    facts: OperatorFacts = OperatorFacts()


class WorldFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Properties of the cluster and the machine that bounds and claims depend on."""

    slack_us: Span | None = None
    """How much later than on an idle machine requests were served in this run, at most."""
    pods_late_us: Span | None = None
    """How long real kubelets need to start a pod, at most."""
    users: dict[str, dict[str, Any]] = {}
    """The user name and uid with which each person of the run was authenticated."""


class Counterpart(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The undisturbed run that a run is compared with: the same workload, operator and seed.

    It is in the header of each run that is compared, so that a history can be evaluated by itself.
    """

    scenario: str
    sha256: str
    """The digest of its history."""
    is_stable: bool
    """False: it did not come to rest, and no end can be compared with its own."""
    rested: Time | None = None
    """When it first came to rest; None: it never did, or its steps did not wait for it."""
    end: dict[str, dict[str, Any]]
    """Its live objects at the end by `Kind namespace/name`, in normal form."""
    subjects: tuple[str, ...] = ()
    """The objects of users that its operator worked on, as `end` names them."""
    most: dict[str, int] = {}
    """The most objects that its operator had alive at a time, by kind."""
    created: dict[str, Time] = {}
    """When its operator created the objects of a second workload, by their names in `end`."""
    volatile: dict[str, str] = {}
    """Fields that have another value with another seed, as `Kind path`, each with what the values
    look like. They are not compared."""
    unequal: tuple[str, ...] = ()
    """Further differences between the two seeds: no value that looks random."""
    course: tuple[str, ...] = ()
    """The first changes that its operator made, in words and in normal form."""


class Header(msgspec.Struct, frozen=True, kw_only=True, tag="header"):
    """The run's identity: enough to evaluate it again, and to repeat it."""

    format: int = HISTORY_FORMAT
    scenario: str
    seed: Version
    cluster: str
    clock: Literal["virtual", "wall"]
    began_us: Time
    """The point in time (since the Unix epoch) that `t` counts from."""
    kubernetes_version: str
    capabilities: Capabilities = Capabilities()
    operators: dict[str, OperatorUnderTest]
    """The operators under test by their roles."""
    facts: WorldFacts = WorldFacts()
    editions: dict[str, str] | msgspec.UnsetType = msgspec.UNSET
    """By suite, the edition that its claims are judged in; of a suite that is not named, the
    default one."""
    counterpart: Counterpart | msgspec.UnsetType = msgspec.UNSET
    """The undisturbed run that claims compare this one with; unset: none does."""

    @property
    def first(self) -> OperatorUnderTest:
        """The only operator, or the first of several by role: files keep no other order."""
        return self.operators[min(self.operators)]

    @property
    def implementation(self) -> str:
        """The implementations under test, see `vocabulary.implementations`: one name, or
        `role=name` of each role that has not its reference."""
        return in_one_text({role: it.implementation for role, it in self.operators.items()})


OPERATOR: Final = "operator"
"""Any operator under test, where a plan names an actor; `operator/1` is any one's second
replica."""


def replicas(role: str, count: int) -> tuple[str, ...]:
    """The names of an operator's replicas: `kueue`, `kueue/1`, ….

    >>> replicas("kueue", 2)
    ('kueue', 'kueue/1')
    """
    return (role, *(f"{role}/{number}" for number in range(1, count)))


def label_of(actor: str) -> str:
    """An actor's name for files, objects and Leases, where no slash may stand: `kueue-1`."""
    return actor.replace("/", "-")


def role_of(actor: str) -> str:
    """The role that an operator's process or writer belongs to: `jobset/1` is `jobset`'s.

    The names of other actors contain slashes as well (`kubelet/n0`); they are no header's roles.
    """
    return actor.partition("/")[0]


AUDIT_LOG: Final = "audit-log"
RECORDED: Final = "recorded"
"""The cluster of a history that was made of an audit log."""


class Write(msgspec.Struct, frozen=True, kw_only=True, tag="write", omit_defaults=True):
    """One mutating request and its outcome.

    `event` says what became of the store: ADDED, MODIFIED, DELETED, or "" for a request that
    failed or changed nothing. `object` is what is stored after it (for DELETED: the last
    state); for a request without effect it is None. A write seen only through a watch has
    actor "" and verb "".
    """

    n: int
    t: Time
    actor: str
    verb: str
    kind: str
    """`Pod`, `Job.batch`: see `Kind.__str__`."""
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    options: dict[str, Any] = {}
    """Delete options by their API names; `dryRun`; empty where none were given."""
    code: Code = 200
    reason: str = ""
    """The reason of a refusal, for example Conflict."""
    message: str = ""
    """The validation error, if the reason is Invalid; the missing permission, if RBAC denied the
    request."""
    event: Event = ""
    rv: Version = 0
    uid: str = ""
    object: dict[str, Any] | None = None
    submitted: dict[str, Any] | None = None
    """The object in a creation or an update, before admission. None: not known, since the actor is
    not one of `SUBMITTERS`, or since the history does not show requests."""
    told_by: Literal["", "audit-log"] = ""
    """`AUDIT_LOG`: no watch has shown what is stored after it; the response to the request did.
    Its `rv` is 0 if that response had none."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, tag="fault", omit_defaults=True):
    """Something that chaos did (`injected`), undid (`reverted`), or failed to do (`refused`)."""

    n: int
    t: Time
    action: Literal["injected", "reverted", "refused"]
    fault: dict[str, Any]
    """The fault as its plan spells it."""
    text: str
    """The same in one English sentence."""
    effect: FaultEffect = FaultEffect()
    """How it hinders operators."""


class Process(msgspec.Struct, frozen=True, kw_only=True, tag="process", omit_defaults=True):
    """A change in the life of a process: `jobset`, `jobset/1`, `job-controller`."""

    n: int
    t: Time
    process: str
    change: Literal[
        "started", "killed", "stopped", "ended", "paused", "resumed", "leading", "following"
    ]
    """`ended`: by itself."""


class OutgoingCall(msgspec.Struct, frozen=True, kw_only=True, tag="call", omit_defaults=True):
    """A process resolved a name, connected to another machine than the API server, or asked it.

    Further calls with the same answer are not recorded.
    """

    n: int
    t: Time
    process: str
    protocol: Literal["dns", "tcp", "http"]
    to: str
    """A name, an address and a port, or a method and a URL."""
    answer: str
    """Addresses, a status, or why it failed."""


AT_REST: Final = "at rest"
"""The text of a step's mark: nothing was going on there, and nothing was left to do."""
RETRIES: Final = "an operator asks again and again for what it is refused"
"""The text of the mark `stable` of a run in which nothing else is going on."""
MAY_NOT: Final = f"{OPERATOR} may not "
"""Begins the text of a step's mark that says which right the operator lacks."""


class Mark(msgspec.Struct, frozen=True, kw_only=True, tag="mark", omit_defaults=True):
    """A mark of the run. `faults-stopped` begins the progress phase; `end` closes it.

    `reconfigured`: operators of `role` that start from now on have these `parameters` in place
    of those of the header.
    """

    n: int
    t: Time
    mark: Literal["step", "reconfigured", "faults-stopped", "stable", "not-stable", "end"]
    text: str = ""
    role: str = ""
    parameters: dict[str, Any] = {}


Entry: TypeAlias = Write | Fault | Process | OutgoingCall | Mark
Record: TypeAlias = Header | Entry

_decoder: Final = msgspec.json.Decoder(Record)


class HistoryError(ValueError):
    """A history file that cannot be used; the message says where and what to do."""


def to_lines(header: Header, entries: Iterable[Entry]) -> bytes:
    """The canonical bytes of a history, uncompressed: what the digest is taken of."""
    buffer = io.BytesIO()
    buffer.write(encode(header) + b"\n")
    for entry in entries:
        buffer.write(encode(entry) + b"\n")
    return buffer.getvalue()


def history_digest(header: Header, entries: Iterable[Entry]) -> str:
    """SHA-256 over `to_lines`, in hex."""
    return hashlib.sha256(to_lines(header, entries)).hexdigest()


def write_history(path: Path, header: Header, entries: Sequence[Entry]) -> str:
    """Write a history as gzip JSON lines (no timestamp inside, so bytes repeat); its digest."""
    lines = to_lines(header, entries)
    path.write_bytes(gzip.compress(lines, compresslevel=6, mtime=0))
    return hashlib.sha256(lines).hexdigest()


class StoredHistory(NamedTuple):
    """A history as it was read from a file."""

    header: Header
    entries: list[Entry]
    is_whole: bool
    """False: the file was cut short."""
    digest: str
    """SHA-256 over the file's lines, unpacked, in hex: equals `history_digest` for a file of the
    current format that Assay wrote."""


def read_history(path: Path) -> StoredHistory:
    """Read a history of this format or an older one.

    Raises HistoryError for a file that is not a history at all, naming file and line.
    """
    header: Header | None = None
    entries: list[Entry] = []
    lines = Lines(path, max_bytes=MAX_HISTORY_BYTES, max_line_bytes=MAX_LINE_BYTES)
    damaged: HistoryError | None = None
    digest = hashlib.sha256()
    decode: Callable[[bytes], Record] = _decoder.decode
    line = b""
    for number, line in enumerate(_readable(lines, path), start=1):
        digest.update(line)
        if not line.endswith(b"\n"):
            break
        if damaged is not None:
            raise damaged
        if number > MAX_RECORDS + 1:
            raise HistoryError(f"{path}: has more than {MAX_RECORDS} records; refused")
        try:
            if number == 1 and (upgrade := _upgrade_of(_format_of(line))) is not None:
                decode = partial(_decode_old, upgrade)
            record = decode(line)
        except msgspec.ValidationError as error:  # no line that was cut short is valid JSON
            raise _unusable(path, number, error) from error
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            damaged = _unusable(path, number, error)
            damaged.__cause__ = error
            if number == 1:
                raise damaged from error
            continue  # the last line of a file that was cut short may be damaged
        if number == 1:
            header = _as_header(record, path)
            course = Course(is_log=header.cluster == RECORDED)
        elif isinstance(record, Header):
            raise HistoryError(f"{path}: line {number} is a second header; split the file there")
        elif record.n != len(entries):
            raise HistoryError(
                f"{path}: line {number}: position n is {record.n}, expected {len(entries)}; "
                "lines are missing or out of order"
            )
        else:
            try:
                _require_possible(record, course)
            except ValueError as error:
                raise HistoryError(
                    f"{path}: line {number}: {error}; no cluster can have had this history: ask "
                    "for the file as its run wrote it"
                ) from error
            entries.append(record)
    if header is None:
        raise HistoryError(
            f"{path}: was cut short in line 1, its header; nothing of it can be judged: "
            "run the scenario again"
            if line
            else f"{path}: is empty; a history begins with a header line"
        )
    is_whole = lines.is_whole and line.endswith(b"\n") and damaged is None
    return StoredHistory(header, entries, is_whole, digest.hexdigest())


def _unusable(path: Path, number: int, error: Exception) -> HistoryError:
    return HistoryError(
        f"{path}: line {number}: {error}; expected one record of a history per line"
    )


def _require_possible(record: Entry, course: Course) -> None:
    """Raise ValueError if no cluster can have this record next."""
    course.require_time(record.t)
    if isinstance(record, Write):
        course.require_write(record)


class _Format(msgspec.Struct):
    format: int = HISTORY_FORMAT


_format_decoder: Final = msgspec.json.Decoder(_Format)


def _format_of(line: bytes) -> int:
    return _format_decoder.decode(line).format


def _converted(record: dict[str, Any]) -> Record:
    found: Record = msgspec.convert(record, Record)
    return found


@cache
def _upgrade_of(number: int) -> Upgrade | None:
    """The function that upgrades records of an older format; None for other numbers."""
    if number == HISTORY_FORMAT or str(number) not in _OLD_FORMATS.names():
        return None
    found: Upgrade = _OLD_FORMATS.load(str(number))
    return found


def _decode_old(upgrade: Upgrade, line: bytes) -> Record:
    record = msgspec.json.decode(line)
    try:
        return _converted(upgrade(record))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"is no record of an older format: {error!r}") from error


def _readable(lines: Lines, path: Path) -> Iterator[bytes]:
    """The lines; HistoryError if they cannot be read."""
    try:
        yield from lines
    except UnpackError as error:
        raise HistoryError(f"{path}: {error}; fetch it again, or run the scenario again") from error
    except PermissionError as error:
        raise HistoryError(
            f"{path}: cannot be read: {error.strerror}; change its rights, or those of its folder"
        ) from error
    except OSError as error:
        raise HistoryError(
            f"{path}: cannot be read: {error.strerror}; name a .jsonl or .jsonl.gz file"
        ) from error


def _as_header(record: Record, path: Path) -> Header:
    if not isinstance(record, Header):
        raise HistoryError(f"{path}: line 1 is a {_tag(record)}, expected the header")
    if record.format != HISTORY_FORMAT:
        read = " and ".join((*_OLD_FORMATS.names(), str(HISTORY_FORMAT)))
        raise HistoryError(
            f"{path}: history format {record.format}, this version reads {read}; check it with "
            "the version of Assay that wrote it"
        )
    if not record.operators:
        raise HistoryError(f"{path}: line 1: operators is empty; name the operator under test")
    return record


def _tag(record: Record) -> str:
    return str(type(record).__struct_config__.tag)
