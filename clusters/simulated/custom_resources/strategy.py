"""The strategy of custom resources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from clusters.simulated.custom_resources.flaws import ABSENT, Flaw, field_errors
from clusters.simulated.custom_resources.schema import CompiledSchema
from clusters.simulated.field_errors import FieldError, value_invalid
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, FieldPath, ScalePaths, Strategy
from vocabulary.kinds import Kind
from vocabulary.objects import Object


class CustomResourceStrategy(Strategy):
    """A custom resource; without a schema for the cases that do not test one.

    `schemas` holds the compiled schema of each served version, `lacking` the subresources of the
    stored version that another one has not, `deprecations` the warnings of deprecated versions.
    `was_changed` says that objects may be stored which the schemas have not checked.
    """

    verbs: ClassVar = (
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "create",
        "update",
        "watch",
    )
    has_generation = True
    unconditional_update = False
    strategic_merge: ClassVar = False
    lists_selectable: ClassVar = False
    is_built_in: ClassVar = False

    def __init__(
        self,
        kind: Kind,
        schemas: Mapping[str, CompiledSchema] | None = None,
        *,
        subresources: frozenset[str] = frozenset({"status"}),
        scale_paths: ScalePaths | None = None,
        short_names: Sequence[str] = (),
        categories: Sequence[str] = (),
        selectable: Mapping[str, FieldOf] = METADATA_FIELDS,
        columns: Mapping[str, Sequence[Object]] | None = None,
        published: Mapping[str, Object] | None = None,
        singular: str = "",
        lacking: Mapping[str, frozenset[str]] | None = None,
        deprecations: Mapping[str, str] | None = None,
        was_changed: bool = False,
    ) -> None:
        super().__init__(kind)
        self.schemas = schemas or {}
        self.versions = tuple(self.schemas) or (kind.version,)
        self.subresources = subresources
        self.scale_paths = scale_paths
        self.short_names = short_names
        self.categories = categories
        self.selectable = selectable
        self.columns = columns or {}
        self.published = published or {}
        self._singular = singular
        self._lacking = lacking or {}
        self._deprecations = deprecations or {}
        self._was_changed = was_changed
        self._has_other_versions = self.versions != (kind.version,)
        self.convert: Callable[[Object, str], dict[str, Any]] | None = None
        """None: versions differ by nothing but their names."""

    @property
    def has_other_versions(self) -> bool:
        return self._has_other_versions

    def to_version(self, obj: Object, api_version: str) -> dict[str, Any]:
        if self.convert is None or obj["apiVersion"] == api_version:
            return super().to_version(obj, api_version)
        return self.convert(obj, api_version)

    def to_stored(self, obj: dict[str, Any]) -> dict[str, Any]:
        if self.convert is not None:
            # The webhook knows what the schema of the written version fills in.
            self.default(obj, None)
        return super().to_stored(obj)

    def subresources_in(self, version: str) -> frozenset[str]:
        return self.subresources - self._lacking.get(version, frozenset())

    def deprecation(self, version: str) -> Sequence[str]:
        found = self._deprecations.get(version)
        return (found,) if found else ()

    @property
    def singular(self) -> str:
        return self._singular or super().singular

    def shaped(self, obj: Object) -> Object:
        schema = self._schema(obj)
        return obj if schema is None else schema.shape(obj, None)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        schema = self._schema(obj)
        if schema is not None:
            shaped = schema.shape(obj, old)
            if shaped is not obj:
                obj.clear()
                obj.update(shaped)

    def validate(self, obj: Object) -> list[FieldError]:
        errors = self._validate_type(obj)
        schema = self._schema(obj)
        if schema is not None and not errors:
            errors = self._errors(schema, schema.check(obj, ABSENT), "", obj, ABSENT)
        return errors

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self._validate_type(new)
        schema = self._schema(new)
        if schema is not None and not errors:
            errors = self._errors(schema, schema.check(new, old), "", new, old)
        return errors

    def _errors(
        self, schema: CompiledSchema, flaws: Sequence[Flaw], root: str, new: Object, old: Any
    ) -> list[FieldError]:
        """The flaws of a part of an object, and what the rules of the whole say of it."""
        errors, are_blocking = field_errors(flaws, root, rules=schema.rules is not None)
        if schema.rules is None or are_blocking:
            return errors
        return [*errors, *schema.rules.broken(new, old, always=self._was_changed)]

    def prepare_for_status_update(self, new: dict[str, Any], old: Object) -> None:
        """Only the status changes; not even labels do."""
        status = new.get("status")
        new.clear()
        new.update(old)
        new["metadata"] = {**old["metadata"]}
        if status is None:
            new.pop("status", None)
        else:
            new["status"] = status

    def validate_status_update(self, new: Object, old: Object) -> list[FieldError]:
        schema = self._schema(new)
        if schema is None:
            return []
        flaws: Sequence[Flaw] = ()
        if "status" in new:
            flaws = schema.check_status(new["status"], old.get("status", ABSENT))
        return self._errors(schema, flaws, "status", new, old)

    def desires_other(self, new: Object, old: Object) -> bool:
        """All but metadata counts; a status that has a subresource of its own is the old one."""
        return any(
            new.get(field) != old.get(field)
            for field in new.keys() | old.keys()
            if field != "metadata"
        )

    def list_keys(self, path: FieldPath) -> tuple[str, ...] | None:
        if path[0] == "metadata":
            return super().list_keys(path)
        node = self._schema_at(path)
        if node.get("x-kubernetes-list-type") == "set":
            return ()
        if node.get("x-kubernetes-list-type") != "map":
            return None
        return tuple(node.get("x-kubernetes-list-map-keys") or ())

    def is_atomic(self, path: FieldPath) -> bool:
        if path[0] == "metadata":
            return super().is_atomic(path)
        return self._schema_at(path).get("x-kubernetes-map-type") == "atomic"

    def is_always_there(self, path: FieldPath) -> bool:
        return path == ("metadata",)

    def _schema_at(self, path: FieldPath) -> Object:
        schema = self.schemas.get(self.kind.version)
        node: Object = schema.source if schema is not None else {}
        for field in path:
            node = node.get("items") or node
            properties: Object = node.get("properties") or {}
            node = properties.get(field) or node.get("additionalProperties") or {}
            if not isinstance(node, Mapping):
                return {}
        return node

    def _schema(self, obj: Object) -> CompiledSchema | None:
        return self.schemas.get(str(obj.get("apiVersion", "")).rpartition("/")[2])

    def _validate_type(self, obj: Object) -> list[FieldError]:
        errors = []
        if obj.get("kind") != self.kind.kind:
            errors.append(value_invalid("kind", obj.get("kind", ""), f"must be {self.kind.kind}"))
        group, _, version = str(obj.get("apiVersion", "")).rpartition("/")
        if group != self.kind.group or version not in self.versions:
            errors.append(
                value_invalid(
                    "apiVersion", obj.get("apiVersion", ""), f"must be {self.kind.api_version}"
                )
            )
        return errors
