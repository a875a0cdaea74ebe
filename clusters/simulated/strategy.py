"""Strategies: the API server's behavior specific to a kind.

Kubernetes calls this the kind's strategy: defaults, what is cleared before a write, which
fields can be changed, whether deletion is graceful. The base class is a kind without any
special rules; `builtin` and `custom_resources` hold the others.

Objects arrive as dicts whose top level and `metadata` are the strategy's own; what lies
deeper is shared with stored snapshots and must be derived, never changed in place.
"""
# ruff: noqa: ARG002 - a hook is given all that some kind may want to look at

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

from clusters.simulated.access.users import User
from clusters.simulated.field_errors import FieldError
from clusters.simulated.names import NameCheck, dns_subdomain
from clusters.simulated.patches.strategic_merge_patch import merge_key
from vocabulary.clock import Micros
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path, name_of, namespace_of
from vocabulary.requests import PropagationPolicy

FieldOf: TypeAlias = Callable[[Object], str]
FieldPath: TypeAlias = tuple[str, ...]


ALL_VERBS: Final = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
)


class ScalePaths(NamedTuple):
    """Where a kind keeps what `/scale` shows; an empty selector path says it has none."""

    spec_replicas: str = "spec.replicas"
    status_replicas: str = "status.replicas"
    selector: str = "spec.selector"


METADATA_FIELDS: Final[Mapping[str, FieldOf]] = {
    "metadata.name": name_of,
    "metadata.namespace": namespace_of,
}


_FINALIZERS: Final = ("metadata", "finalizers")
_APPLY_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
"""The keys of lists that a strategic merge patch merges by fewer."""
_WITHOUT_KEYS: Final = (("imagePullSecrets",),)
"""Lists of ServiceAccounts that pods have, too, with keys there."""
_ATOMIC: Final = frozenset(
    {
        "configMapKeyRef",
        "fieldRef",
        "imagePullSecrets",
        "involvedObject",
        "labelSelector",
        "namespaceSelector",
        "nodeSelector",
        "ownerReferences",
        "preference",
        "related",
        "resourceFieldRef",
        "roleRef",
        "secretKeyRef",
        "secrets",
        "selector",
        "targetRef",
    }
)
"""Objects, and entries of lists, that the Go types of built-in kinds mark as atomic."""
_ALWAYS_THERE: Final = frozenset(
    {
        ("metadata",),
        ("spec",),
        ("status",),
        ("rules",),
        ("endpoints",),
        ("ports",),
        ("spec", "containers"),
        ("spec", "strategy"),
        ("spec", "updateStrategy"),
        ("spec", "template"),
        ("spec", "template", "metadata"),
        ("spec", "template", "spec"),
        ("spec", "template", "spec", "containers"),
        ("status", "loadBalancer"),
    }
)


def path_field(path: str, absent: Any = "") -> FieldOf:
    """The text of the field at a dotted path, or of what it means that there is none."""

    def field_of(obj: Object) -> str:
        value = get_path(obj, path, absent)
        return str(value).lower() if isinstance(value, bool) else str(value)

    return field_of


class Strategy:
    """A kind without special rules, stored as it comes."""

    verbs: ClassVar[tuple[str, ...]] = ALL_VERBS
    """The verbs that are served; without `get`, nothing of the kind is stored."""
    subresources: frozenset[str] = frozenset()
    """The kind's subresources: the names in SUBRESOURCES."""
    has_generation: bool = False
    """True if metadata.generation counts the changes of the desired state."""
    creates_on_update: bool = False
    """True if a PUT of an object that does not exist creates it."""
    unconditional_update: bool = True
    """True if an update may omit metadata.resourceVersion."""
    default_policy: ClassVar[PropagationPolicy | None] = "Background"
    """A deletion's default policy; None if garbage collection has no finalizer for the kind."""
    strategic_merge: ClassVar[bool] = True
    """True if strategic merge patches are supported."""
    is_built_in: ClassVar[bool] = True
    """True if the kind is compiled into the server: it fills in a missing apiVersion and kind,
    and rejects finalizers without a domain."""
    returns_deleted: bool = False
    """True if a deletion returns the object, otherwise a `Status` (seen over HTTP only)."""
    notes_requester: ClassVar[bool] = False
    """True if an object tells who has created it."""
    scale_paths: ScalePaths | None = None
    short_names: Sequence[str] = ()
    categories: Sequence[str] = ()
    selectable: Mapping[str, FieldOf] = METADATA_FIELDS
    """The fields that a field selector may name."""
    published: Mapping[str, Object] = {}
    """By version, the schema that OpenAPI documents show; none for what has no schema."""
    lists_selectable: ClassVar[bool] = True
    """True if the error for a field selector lists the selectable fields; a quirk of servers."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.versions: tuple[str, ...] = (kind.version,)
        """The served versions; objects are stored in `kind.version`."""

    @property
    def has_other_versions(self) -> bool:
        """True if objects are served in other versions than the stored one."""
        return False

    def to_version(self, obj: Object, api_version: str) -> dict[str, Any]:
        """The object in another version."""
        return {**obj, "apiVersion": api_version}

    def to_stored(self, obj: dict[str, Any]) -> dict[str, Any]:
        """A written object in the stored version."""
        return self.to_version(obj, self.kind.api_version)

    @property
    def has_status(self) -> bool:
        """True if the status is written through a subresource of its own."""
        return "status" in self.subresources

    def subresources_in(self, version: str) -> frozenset[str]:
        """The subresources of a served version."""
        return self.subresources

    def unconverted(self, obj: Object) -> str:
        """The error of converting a decoded object of a built-in kind to Go's internal type."""
        return ""

    def deprecation(self, version: str) -> Sequence[str]:
        """The warning for requests of a deprecated version."""
        return ()

    @property
    def singular(self) -> str:
        """The resource's name in the singular."""
        return self.kind.kind.lower()

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        """Fill in the defaults of the kind's version.

        Runs on every write; parts that are the old object's very own need no second look.
        """

    def shaped(self, obj: Object) -> Object:
        """The object without what its schema has not, and with its defaults."""
        return obj

    def note_requester(self, obj: dict[str, Any], user: User) -> None:
        """Write down who creates the object; called if `notes_requester`."""

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        """Set and clear what a creator cannot decide."""
        if "status" in self.subresources:
            obj.pop("status", None)

    @property
    def check_name(self) -> NameCheck:
        """The syntax of this kind's names."""
        return dns_subdomain

    def validate(self, obj: Object) -> list[FieldError]:
        """Validate a new object."""
        return []

    def prepare_for_update(self, new: dict[str, Any], old: Object) -> None:
        """Undo what an update of the main resource cannot change."""
        if "status" in self.subresources:
            if "status" in old:
                new["status"] = old["status"]
            else:
                new.pop("status", None)

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        """Undo what an update through `/status` cannot change."""
        if "spec" in old:
            new["spec"] = old["spec"]
        else:
            new.pop("spec", None)

    def desires_other(self, new: Object, old: Object) -> bool:
        """True if the update changes the desired state, so that the generation counts it."""
        return new.get("spec") != old.get("spec")

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        """Validate an update of the main resource."""
        return []

    def validate_finalize(self, new: Object) -> list[FieldError]:
        """Return the errors of an object as an update through `/finalize` leaves it."""
        return []

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        """Validate an update through `/status`."""
        return []

    def grace_seconds(self, obj: Object, requested: int | None) -> int | None:
        """How long the object may take to stop; None for kinds that are not deleted gracefully."""
        return None

    def list_keys(self, path: FieldPath) -> tuple[str, ...] | None:
        """The keys that identify the entries of the list at a path; None if there are none.

        Server-side apply merges these lists by entry; `path` holds the names of fields only.
        A set has no keys: its entries are their own.
        """
        name, parent = path[-1], path[-2] if len(path) > 1 else ""
        if path == _FINALIZERS:
            return ()
        if name in _APPLY_KEYS:
            return _APPLY_KEYS[name]
        if path in _WITHOUT_KEYS:
            return None
        key = merge_key(name, parent, self.kind.kind)
        if name == "ports" and key:
            return key, "protocol"
        return (key,) if key else None

    def is_atomic(self, path: FieldPath) -> bool:
        """True if server-side apply replaces the object, or list entry, at the path as a whole."""
        return path[-1] in _ATOMIC and path[:2] != ("metadata", "labels")

    def is_always_there(self, path: FieldPath) -> bool:
        """True if the field exists in each object of the Go type, so that no write adds it."""
        return path in _ALWAYS_THERE

    def begin_deletion(self, marked: dict[str, Any], now_us: Micros) -> bool:
        """For a kind that is emptied before it goes: what the first deletion says on the object.

        True if the deletion ends with that for now.
        """
        return False

    def is_final(self, obj: Object) -> bool:
        """True if nothing but metadata.finalizers can keep a terminating object."""
        return True
