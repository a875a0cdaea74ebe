"""`metadata`: what the server fills in, what it keeps, and what it refuses.

The rules are the same for all kinds. Checks of labels, annotations, owners and finalizers
run only where an update changes them: what is stored has passed them before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from clusters.simulated.field_errors import (
    IMMUTABLE,
    FieldError,
    forbidden,
    required,
    too_long,
    value_invalid,
)
from clusters.simulated.names import (
    NameCheck,
    dns_label,
    label_value,
    path_segment,
    qualified_name,
)
from vocabulary.objects import Object

ORPHAN: Final = "orphan"
FOREGROUND: Final = "foregroundDeletion"
MAX_ANNOTATIONS_BYTES: Final = 256 * 1024
MAX_GENERATED_PREFIX: Final = 58
"""A generated name is a prefix of at most this many characters and five random ones."""

_SYSTEM_FIELDS: Final = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
    "selfLink",
    "managedFields",
)
_FIXED_FIELDS: Final = (
    "name",
    "namespace",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_STANDARD_FINALIZERS: Final = frozenset({"kubernetes", ORPHAN, FOREGROUND})
_EMPTY: Final[Mapping[str, str]] = {}


def for_create(metadata: Object, namespace: str) -> dict[str, Any]:
    """A new object's metadata without what only the server may say."""
    fresh = {
        key: value
        for key, value in metadata.items()
        if key not in _SYSTEM_FIELDS and value not in (None, {}, [])
    }
    if namespace:
        fresh["namespace"] = namespace
    else:
        fresh.pop("namespace", None)
    return fresh


def for_update(metadata: Object, old: Object) -> dict[str, Any]:
    """An updated object's metadata: what an update cannot say or take back is the old one's."""
    kept = dict(metadata)
    for field in ("labels", "annotations", "finalizers", "ownerReferences"):
        if field in kept and not kept[field]:
            del kept[field]
    kept.pop("managedFields", None)
    kept.pop("selfLink", None)
    kept["resourceVersion"] = old["resourceVersion"]
    kept["creationTimestamp"] = old["creationTimestamp"]
    kept["uid"] = kept.get("uid") or old["uid"]
    if "namespace" in old:
        kept.setdefault("namespace", old["namespace"])
    else:
        # A kind without namespaces: a real server ignores that it was given one.
        kept.pop("namespace", None)
    if "generation" in old:
        kept["generation"] = old["generation"]
    else:
        kept.pop("generation", None)
    if "deletionTimestamp" in old:
        kept["deletionTimestamp"] = old["deletionTimestamp"]
    if "deletionGracePeriodSeconds" in old:
        kept.setdefault("deletionGracePeriodSeconds", old["deletionGracePeriodSeconds"])
    return kept


def validate_new(metadata: Object, namespaced: bool, check_name: NameCheck) -> list[FieldError]:
    """Validate a new object's metadata."""
    errors: list[FieldError] = []
    errors += _validate_prefix(metadata.get("generateName") or "", check_name)
    name = metadata.get("name", "")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    else:
        complaints = check_name(name) or path_segment(name)
        errors += [value_invalid("metadata.name", name, text) for text in complaints]
    if namespaced:
        namespace = metadata.get("namespace", "")
        if not namespace:
            errors.append(required("metadata.namespace"))
        else:
            errors += [
                value_invalid("metadata.namespace", namespace, text)
                for text in dns_label(namespace)
            ]
    generation = metadata.get("generation") or 0
    if generation < 0:
        because = "must be greater than or equal to 0"
        errors.append(value_invalid("metadata.generation", generation, because))
    return errors + _validate_contents(metadata, _EMPTY) + _validate_finalizers(metadata, _EMPTY)


def _validate_prefix(prefix: str, check_name: NameCheck) -> list[FieldError]:
    if not prefix:
        return []
    # A prefix may end in a dash, the name that comes of it may not.
    masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
    return [value_invalid("metadata.generateName", prefix, text) for text in check_name(masked)]


def validate_changed(
    metadata: Object, old: Object, check_name: NameCheck, *, qualified_finalizers: bool
) -> list[FieldError]:
    """Validate an updated object's metadata; built-in kinds require qualified finalizers.

    A real server validates an update twice, once for all kinds and once for this one, and
    reports errors twice.
    """
    if metadata == old:
        return []
    fixed = _validate_fixed(metadata, old)
    contents = _validate_contents(metadata, old)
    finalizers = _validate_finalizers(metadata, old)
    qualified: list[FieldError] = []
    if qualified_finalizers and metadata.get("finalizers") is not old.get("finalizers"):
        qualified = validate_finalizers_qualified(metadata)
    prefix = metadata.get("generateName") or ""
    if prefix != old.get("generateName"):
        fixed += _validate_prefix(prefix, check_name)
    twice = [*contents, *finalizers, *fixed, *contents, *fixed, *contents, *finalizers]
    return [*twice, *qualified, *qualified]


def _validate_fixed(metadata: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    finalizers, before = metadata.get("finalizers"), old.get("finalizers")
    if "deletionTimestamp" in old and finalizers and finalizers != before:
        added = sorted(set(finalizers) - set(before or ()))
        if added:
            shown = ", ".join(json.dumps(name) for name in added)
            errors.append(
                forbidden(
                    "metadata.finalizers",
                    "no new finalizers can be added if the object is being deleted, found new "
                    f"finalizers []string{{{shown}}}",
                )
            )
    return errors + [
        value_invalid(f"metadata.{field}", metadata.get(field), IMMUTABLE)
        for field in _FIXED_FIELDS
        if metadata.get(field) != old.get(field)
    ]


def _validate_contents(metadata: Object, old: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    labels = metadata.get("labels")
    if labels and labels is not old.get("labels"):
        errors += validate_labels(labels, "metadata.labels")
    annotations = metadata.get("annotations")
    if annotations and annotations is not old.get("annotations"):
        errors += validate_annotations(annotations, "metadata.annotations")
    owners = metadata.get("ownerReferences")
    if owners and owners is not old.get("ownerReferences"):
        errors += _validate_owners(owners)
    return errors


def validate_labels(labels: Mapping[str, str], field: str) -> list[FieldError]:
    """Validate the keys and values of labels."""
    errors: list[FieldError] = []
    for key, value in labels.items():
        errors += [value_invalid(field, key, text) for text in qualified_name(key)]
        errors += [value_invalid(field, value, text) for text in label_value(value)]
    return errors


def validate_annotations(annotations: Mapping[str, str], field: str) -> list[FieldError]:
    """Validate annotations: the syntax of their keys, their total size."""
    errors: list[FieldError] = []
    size_bytes = 0
    for key, value in annotations.items():
        errors += [value_invalid(field, key, text) for text in qualified_name(key.lower())]
        size_bytes += len(key) + len(value)
    if size_bytes > MAX_ANNOTATIONS_BYTES:
        errors.append(too_long(field, MAX_ANNOTATIONS_BYTES))
    return errors


def _validate_owners(owners: Sequence[Object]) -> list[FieldError]:
    errors: list[FieldError] = []
    controller = ""
    for owner in owners:
        path = "metadata.ownerReferences"
        version = str(owner.get("apiVersion", ""))
        if not version.rpartition("/")[2] or version.count("/") > 1:
            errors.append(
                value_invalid(
                    f"{path}.apiVersion", owner.get("apiVersion", ""), "version must not be empty"
                )
            )
        errors += [
            value_invalid(f"{path}.{field}", owner.get(field, ""), "must not be empty")
            for field in ("kind", "name", "uid")
            if not owner.get(field)
        ]
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            errors.append(
                value_invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner")
            )
        if owner.get("controller"):
            this = f"{owner.get('kind')}/{owner.get('name')}"
            if controller:
                errors.append(
                    value_invalid(
                        path,
                        owners,
                        "Only one reference can have Controller set to true. Found "
                        f'"true" in references for {controller} and {this}',
                    )
                )
            controller = controller or this
    return errors


def _validate_finalizers(metadata: Object, old: Object) -> list[FieldError]:
    finalizers: Sequence[str] | None = metadata.get("finalizers")
    if not finalizers or finalizers is old.get("finalizers"):
        return []
    errors = [
        value_invalid("metadata.finalizers", finalizer, text)
        for finalizer in finalizers
        for text in qualified_name(finalizer)
    ]
    if ORPHAN in finalizers and FOREGROUND in finalizers:
        errors.append(
            value_invalid(
                "metadata.finalizers",
                list(finalizers),
                f"finalizer {ORPHAN} and {FOREGROUND} cannot be both set",
            )
        )
    return errors


def validate_finalizers_qualified(metadata: Object) -> list[FieldError]:
    """Finalizers of built-in kinds have a domain, but for the standard ones."""
    return [
        error
        for position, finalizer in enumerate(metadata.get("finalizers") or ())
        for error in validate_finalizer_qualified(finalizer, f"metadata.finalizers[{position}]")
    ]


def validate_finalizer_qualified(finalizer: str, path: str) -> list[FieldError]:
    if "/" in finalizer or finalizer in _STANDARD_FINALIZERS:
        return []
    because = "name is neither a standard finalizer name nor is it fully qualified"
    return [value_invalid(path, finalizer, because)]
