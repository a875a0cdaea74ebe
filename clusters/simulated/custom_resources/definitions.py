"""CustomResourceDefinitions: their own rules as objects, and the kinds that they define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from clusters.simulated.custom_resources.conversion import Exchange, WebhookConversion
from clusters.simulated.custom_resources.json_path import parse_json_path
from clusters.simulated.custom_resources.schema import compile_schema, compiled_before, rules_of
from clusters.simulated.custom_resources.strategy import CustomResourceStrategy
from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    not_supported,
    required,
    value_invalid,
)
from clusters.simulated.strategy import METADATA_FIELDS, FieldOf, ScalePaths, Strategy
from clusters.simulated.version_order import maturity
from vocabulary.clock import Micros, to_rfc3339
from vocabulary.kinds import Kind
from vocabulary.objects import Object, get_path
from vocabulary.patterns import PatternError, compile_pattern

CLEANUP_FINALIZER: Final = "customresourcecleanup.apiextensions.k8s.io"
"""Keeps a definition until the last of its objects is gone."""
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = (
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
)


class DefinitionStrategy(Strategy):
    """A CustomResourceDefinition as an object of its own."""

    subresources = frozenset({"status"})
    has_generation = True
    unconditional_update = False
    short_names = ("crd", "crds")
    categories = ("api-extensions",)

    def default(self, obj: dict[str, Any], old: Object | None) -> None:
        spec = obj.get("spec")
        if not isinstance(spec, Mapping) or (old is not None and spec is old.get("spec")):
            return
        names = dict(spec.get("names") or {})
        if names.get("kind"):
            names.setdefault("listKind", f"{names['kind']}List")
            names.setdefault("singular", str(names["kind"]).lower())
        obj["spec"] = {"conversion": {"strategy": "None"}, **spec, "names": names}

    def prepare_for_create(self, obj: dict[str, Any], now_us: Micros) -> None:
        """Names are accepted and served at once; a real server takes a moment for that."""
        since = to_rfc3339(now_us)
        stored = [
            version.get("name")
            for version in get_path(obj, "spec.versions", ())
            if version.get("storage")
        ]
        obj["status"] = {
            "conditions": [
                {
                    "lastTransitionTime": since,
                    "message": "no conflicts found",
                    "reason": "NoConflicts",
                    "status": "True",
                    "type": "NamesAccepted",
                },
                {
                    "lastTransitionTime": since,
                    "message": "the initial names have been accepted",
                    "reason": "InitialNamesAccepted",
                    "status": "True",
                    "type": "Established",
                },
            ],
            "acceptedNames": get_path(obj, "spec.names", {}),
            "storedVersions": stored,
        }

    def begin_deletion(self, marked: dict[str, Any], now_us: Micros) -> bool:
        metadata, status = marked["metadata"], marked.get("status") or {}
        metadata["finalizers"] = [*(metadata.get("finalizers") or ()), CLEANUP_FINALIZER]
        condition = {
            "lastTransitionTime": to_rfc3339(now_us),
            "message": "CustomResourceDefinition marked for deletion; CustomResource deletion "
            "will begin soon",
            "reason": "InstanceDeletionPending",
            "status": "True",
            "type": "Terminating",
        }
        marked["status"] = {
            **status,
            "conditions": [*(status.get("conditions") or ()), condition],
        }
        return True

    def validate(self, obj: Object) -> list[FieldError]:
        spec: Object = obj.get("spec") or {}
        names: Object = spec.get("names") or {}
        errors: list[FieldError] = []
        group, plural = spec.get("group", ""), names.get("plural", "")
        name = obj["metadata"].get("name", "")
        if name != f"{plural}.{group}":
            errors.append(
                value_invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
            )
        errors += [
            required(field)
            for field, value in (
                ("spec.group", group),
                ("spec.scope", spec.get("scope")),
                ("spec.names.plural", plural),
                ("spec.names.kind", names.get("kind")),
            )
            if not value
        ]
        if spec.get("scope") not in (None, "", "Namespaced", "Cluster"):
            errors.append(not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced")))
        return errors + _validate_versions(spec.get("versions") or ())

    def validate_update(self, new: Object, old: Object) -> list[FieldError]:
        errors = self.validate(new)
        errors += [
            value_invalid(f"spec.{field}", get_path(new, f"spec.{field}"), IMMUTABLE)
            for field in ("group", "scope", "names.kind", "names.plural")
            if get_path(new, f"spec.{field}") != get_path(old, f"spec.{field}")
        ]
        return errors


def _validate_versions(versions: Any) -> list[FieldError]:
    storage = [version.get("name") for version in versions if version.get("storage")]
    errors: list[FieldError] = []
    if len(storage) != 1:
        errors.append(
            value_invalid(
                "spec.versions", versions, "must have exactly one version marked as storage version"
            )
        )
    schemas = [version.get("schema") for version in versions]
    columns = [version.get("additionalPrinterColumns") or () for version in versions]
    for position, version in enumerate(versions):
        path = f"spec.versions[{position}]"
        where = f"{path}.schema.openAPIV3Schema"
        top = path
        if all(schema == schemas[0] for schema in schemas):
            # A real server keeps one schema then, and looks at it once.
            where, top = "spec.validation.openAPIV3Schema", "spec"
        if not version.get("name"):
            errors.append(required(f"{path}.name"))
        schema = get_path(version, "schema.openAPIV3Schema")
        if not schema:
            errors.append(required(f"{path}.schema.openAPIV3Schema"))
        if compiled_before(schema) is None:
            rules = rules_of(schema)
            found = [
                *_type_errors(schema, where),
                *_pattern_errors(schema, where),
                *(rules.refusals(where) if rules is not None else ()),
            ]
            errors += [error for error in found if error not in errors]
        errors += [
            required(f"{top}.selectableFields[{index}].jsonPath")
            for index, field in enumerate(version.get("selectableFields") or ())
            if not field.get("jsonPath")
        ]
        scale = get_path(version, "subresources.scale")
        if scale is not None:
            errors += [
                required(f"{top}.subresources.scale.{name}")
                for name in ("specReplicasPath", "statusReplicasPath")
                if not scale.get(name)
            ]
        errors += [each for each in _column_errors(version, path, columns) if each not in errors]
    return errors


def _column_errors(version: Object, path: str, columns: Sequence[Any]) -> Iterator[FieldError]:
    """Those of printer columns. A path that cannot be read is none: its column is not shown."""
    own = version.get("additionalPrinterColumns") or ()
    # As with schemas.
    where = "spec" if all(each == own for each in columns) else path
    for index, column in enumerate(own):
        field = f"{where}.additionalPrinterColumns[{index}]"
        if not column.get("name"):
            yield required(f"{field}.name")
        for name, known in (("type", _COLUMN_TYPES), ("format", _COLUMN_FORMATS)):
            value, because = column.get(name) or "", f"must be one of {','.join(known)}"
            if value and value not in known:
                yield value_invalid(f"{field}.{name}", value, because)
            elif not value and name == "type":
                yield required(f"{field}.{name}", because)
        found = column.get("jsonPath") or ""
        if not found:
            yield required(f"{field}.JSONPath")
        elif not found.startswith("."):
            because = "must be a simple json path starting with ."
            yield value_invalid(f"{field}.JSONPath", found, because)


def _type_errors(schema: Any, path: str) -> Iterator[FieldError]:
    """Those of types that no value has."""
    if not isinstance(schema, Mapping):
        return
    if schema.get("type", "object") not in _TYPES:
        yield not_supported(f"{path}.type", schema["type"], _TYPES)
    for name, inner in (schema.get("properties") or {}).items():
        yield from _type_errors(inner, f"{path}.properties[{name}]")
    for name in ("additionalProperties", "items", "not"):
        yield from _type_errors(schema.get(name), f"{path}.{name}")
    for name in ("allOf", "anyOf", "oneOf"):
        for index, inner in enumerate(schema.get(name) or ()):
            yield from _type_errors(inner, f"{path}.{name}[{index}]")


def _pattern_errors(schema: Any, path: str) -> Iterator[FieldError]:
    """Those of all patterns in a schema, which no object could be checked against."""
    if isinstance(schema, Sequence) and not isinstance(schema, str):
        for index, item in enumerate(schema):
            yield from _pattern_errors(item, f"{path}[{index}]")
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        if key == "pattern" and isinstance(value, str):
            try:
                compile_pattern(value)
            except PatternError as error:
                because = f"must be a valid regular expression, but isn't: {error}"
                yield value_invalid(f"{path}.pattern", value, because)
        else:
            yield from _pattern_errors(value, f"{path}.{key}")


def defined_kind(definition: Object) -> Kind:
    """The kind that a definition defines, in its storage version."""
    spec = definition["spec"]
    storage = next(version["name"] for version in spec["versions"] if version.get("storage"))
    return Kind(
        spec["group"],
        storage,
        spec["names"]["kind"],
        spec["names"]["plural"],
        spec["scope"] == "Namespaced",
    )


def _deprecations(spec: Object, served: Sequence[Object]) -> dict[str, str]:
    """The warnings of deprecated versions."""
    group, kind = spec["group"], spec["names"]["kind"]
    current = (version["name"] for version in served if not version.get("deprecated"))
    best = min(current, key=maturity, default="")
    instead = f"; use {group}/{best} {kind}" if best else ""
    return {
        version["name"]: version.get("deprecationWarning")
        or f"{group}/{version['name']} {kind} is deprecated{instead}"
        for version in served
        if version.get("deprecated")
    }


def defined_strategy(definition: Object, exchange: Exchange) -> CustomResourceStrategy:
    """How objects of the defined kind are served, in all its served versions; `exchange` calls its
    webhook for conversions, if it has one."""
    spec = definition["spec"]
    served = [version for version in spec["versions"] if version.get("served")]
    storage = next(version for version in spec["versions"] if version.get("storage"))
    subresources: Object = storage.get("subresources") or {}
    scale = subresources.get("scale")
    names = frozenset(name for name in ("status", "scale") if name in subresources)
    strategy = CustomResourceStrategy(
        defined_kind(definition),
        {
            version["name"]: compile_schema(version["schema"]["openAPIV3Schema"])
            for version in served
        },
        subresources=names,
        lacking={
            version["name"]: names - (version.get("subresources") or {}).keys()
            for version in served
        },
        deprecations=_deprecations(spec, served),
        scale_paths=_scale_paths(scale) if scale else None,
        short_names=tuple(spec["names"].get("shortNames") or ()),
        singular=spec["names"].get("singular") or "",
        categories=tuple(spec["names"].get("categories") or ()),
        selectable={
            **METADATA_FIELDS,
            **{
                field["jsonPath"].removeprefix("."): _selectable(field["jsonPath"])
                for field in storage.get("selectableFields") or ()
            },
        },
        columns={
            version["name"]: tuple(version.get("additionalPrinterColumns") or ())
            for version in served
        },
        published={version["name"]: version["schema"]["openAPIV3Schema"] for version in served},
        was_changed=len(served) > 1 or get_path(definition, "metadata.generation", 1) > 1,
    )
    if get_path(spec, "conversion.strategy") == "Webhook":
        strategy.convert = WebhookConversion(definition, exchange)
    return strategy


def _scale_paths(scale: Object) -> ScalePaths:
    return ScalePaths(
        scale["specReplicasPath"].removeprefix("."),
        scale["statusReplicasPath"].removeprefix("."),
        (scale.get("labelSelectorPath") or "").removeprefix("."),
    )


def _selectable(path: str) -> FieldOf:
    find = parse_json_path(path)

    def field_of(obj: Object) -> str:
        found = find(obj)
        if not found:
            return ""
        return str(found[0]).lower() if isinstance(found[0], bool) else str(found[0])

    return field_of
