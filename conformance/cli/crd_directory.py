"""CustomResourceDefinitions in files, as envtest reads them from its CRDDirectoryPaths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from clusters.simulated.api_server import ApiServer
from clusters.simulated.cluster import HARNESS
from conformance.cli.problems import BadInputError
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.mistakes import mistake_of
from vocabulary.objects import Object, name_of
from vocabulary.requests import Create
from vocabulary.safe_yaml import YamlError, load_all_yaml_file
from vocabulary.typed_yaml import field_error

FILE_ENDINGS: Final = (".json", ".yaml", ".yml")
MAX_BYTES: Final = 16 * 1024 * 1024
"""The definitions of kinds with several pod templates are larger than other manifests."""


class _Rule(msgspec.Struct):
    rule: str
    message: str | None = None
    message_expression: str | None = msgspec.field(name="messageExpression", default=None)


class _Schema(msgspec.Struct):
    type: Literal["", "array", "boolean", "integer", "number", "object", "string"] | None = None
    format: str | None = None
    pattern: str | None = None
    nullable: bool | None = None
    required: list[str] | None = None
    enum: list[Any] | None = None
    minimum: float | None = None
    maximum: float | None = None
    min_length: int | None = msgspec.field(name="minLength", default=None)
    max_length: int | None = msgspec.field(name="maxLength", default=None)
    min_items: int | None = msgspec.field(name="minItems", default=None)
    max_items: int | None = msgspec.field(name="maxItems", default=None)
    min_properties: int | None = msgspec.field(name="minProperties", default=None)
    max_properties: int | None = msgspec.field(name="maxProperties", default=None)
    multiple_of: float | None = msgspec.field(name="multipleOf", default=None)
    items: _Schema | None = None
    properties: dict[str, _Schema] | None = None
    additional: _Schema | bool | None = msgspec.field(name="additionalProperties", default=None)
    all_of: list[_Schema] | None = msgspec.field(name="allOf", default=None)
    any_of: list[_Schema] | None = msgspec.field(name="anyOf", default=None)
    one_of: list[_Schema] | None = msgspec.field(name="oneOf", default=None)
    negated: _Schema | None = msgspec.field(name="not", default=None)
    rules: list[_Rule] | None = msgspec.field(name="x-kubernetes-validations", default=None)
    keys: list[str] | None = msgspec.field(name="x-kubernetes-list-map-keys", default=None)
    kind: str | None = msgspec.field(name="x-kubernetes-list-type", default=None)
    int_or_text: bool | None = msgspec.field(name="x-kubernetes-int-or-string", default=None)


class _Validation(msgspec.Struct):
    schema: _Schema | None = msgspec.field(name="openAPIV3Schema", default=None)


class _Column(msgspec.Struct):
    name: str
    type: str
    json_path: str = msgspec.field(name="jsonPath")


class _Selectable(msgspec.Struct):
    json_path: str = msgspec.field(name="jsonPath")


class _Scale(msgspec.Struct):
    spec_path: str = msgspec.field(name="specReplicasPath")
    status_path: str = msgspec.field(name="statusReplicasPath")
    selector: str | None = msgspec.field(name="labelSelectorPath", default=None)


class _Subresources(msgspec.Struct):
    status: dict[str, Any] | None = None
    scale: _Scale | None = None


class _Version(msgspec.Struct):
    name: str
    served: bool
    storage: bool
    schema: _Validation | None = None
    subresources: _Subresources | None = None
    deprecated: bool | None = None
    warning: str | None = msgspec.field(name="deprecationWarning", default=None)
    columns: list[_Column] | None = msgspec.field(name="additionalPrinterColumns", default=None)
    selectable: list[_Selectable] | None = msgspec.field(name="selectableFields", default=None)


class _Names(msgspec.Struct):
    plural: str
    kind: str
    singular: str | None = None
    list_kind: str | None = msgspec.field(name="listKind", default=None)
    short_names: list[str] | None = msgspec.field(name="shortNames", default=None)
    categories: list[str] | None = None


class _Conversion(msgspec.Struct):
    strategy: str


class _Spec(msgspec.Struct):
    group: str
    names: _Names
    scope: str
    versions: list[_Version]
    conversion: _Conversion | None = None


class _Metadata(msgspec.Struct):
    name: str
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Definition(msgspec.Struct):
    """A CustomResourceDefinition, as far as the simulated cluster reads it."""

    metadata: _Metadata
    spec: _Spec


def definitions_in(directory: Path) -> list[tuple[str, Object]]:
    """The definitions in the directory's YAML and JSON files, in order, each with its place."""
    if not directory.is_dir():
        raise BadInputError(f"--crds {directory}: is not a directory; name one with YAML files")
    files = sorted(path for path in directory.iterdir() if path.suffix in FILE_ENDINGS)
    found = [each for path in files for each in _definitions_of(path)]
    if not found:
        raise BadInputError(
            f"--crds {directory}: no {', '.join(FILE_ENDINGS)} file there has a "
            f"CustomResourceDefinition of {CUSTOM_RESOURCE_DEFINITION.api_version}; "
            "name the directory that has them (subdirectories are not read)"
        )
    places: dict[str, str] = {}
    for place, definition in found:
        name = name_of(definition)
        if name in places:
            raise BadInputError(
                f"{place}: metadata.name: {name} is defined in {places[name]}, too; remove one"
            )
        places[name] = place
    return found


def _definitions_of(path: Path) -> Iterator[tuple[str, Object]]:
    documents = load_all_yaml_file(path, max_bytes=MAX_BYTES)
    for number, document in enumerate(documents, 1):
        # Other objects may lie beside the definitions, as in kustomizations.
        if not isinstance(document, dict) or document.get("kind") != "CustomResourceDefinition":
            continue
        is_alone = len(documents) == 1
        place = str(path) if is_alone else f"{path}: document {number}"
        require_definition(path, place, document, is_alone=is_alone)
        yield place, document


def require_definition(path: Path, place: str, document: Object, *, is_alone: bool) -> None:
    """Raise BadInputError or YamlError, with the place and the field, for what is no definition.

    `is_alone`: the file has no other document, so that the field's line is known.
    """
    if document.get("apiVersion") != CUSTOM_RESOURCE_DEFINITION.api_version:
        raise BadInputError(
            f"{place}: apiVersion: is {document.get('apiVersion')!r}; convert it to "
            f"{CUSTOM_RESOURCE_DEFINITION.api_version}"
        )
    try:
        msgspec.convert(document, _Definition)
    except msgspec.ValidationError as error:
        mistake = mistake_of(error, _Definition)
        if is_alone:
            raise field_error(path, *mistake) from error
        raise YamlError(f"{place}: {mistake.field}: {mistake.what}") from error


def define(api: ApiServer, place: str, definition: Object) -> None:
    """Create a definition; BadInputError, with its place, if the API server refuses it."""
    kept = {key: value for key, value in definition.items() if key != "status"}
    try:
        api.handle(Create(CUSTOM_RESOURCE_DEFINITION, kept, "", name_of(definition)), HARNESS)
    except ApiError as error:
        raise BadInputError(f"{place}: {error.message}; correct the definition") from error
