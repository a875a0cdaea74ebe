"""Objects in files, created on a served cluster as `kubectl create -f` creates them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from clusters.simulated.api_server import ApiServer
from conformance.cli.crd_directory import FILE_ENDINGS, MAX_BYTES, require_definition
from conformance.cli.problems import BadInputError
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, NAMESPACE, kind_of
from vocabulary.objects import Object, meta, name_of
from vocabulary.requests import Create
from vocabulary.safe_yaml import load_all_yaml_file

_FIRST: Final = (CUSTOM_RESOURCE_DEFINITION.kind, NAMESPACE.kind)
_NO_OBJECT: Final = "Kustomization"
_LIST: Final = "List"


class Manifest(NamedTuple):
    """An object of a file."""

    place: str
    """The file, and the document if there are several."""
    object: Object


def manifests_in(path: Path) -> list[Manifest]:
    """The objects of a YAML or JSON file, or of those of a directory, in order; definitions and
    namespaces go before the others.

    Raises BadInputError and YamlError, which name the file.
    """
    if path.is_dir():
        files = sorted(each for each in path.iterdir() if each.suffix in FILE_ENDINGS)
    elif path.is_file():
        files = [path]
    else:
        raise BadInputError(f"{path}: is neither a file nor a directory; name one with manifests")
    found = [each for file in files for each in _manifests_of(file)]
    if not found:
        raise BadInputError(
            f"{path}: has no objects; name a {', '.join(FILE_ENDINGS)} file, or the directory that "
            "has some (subdirectories are not read)"
        )
    order = {kind: number for number, kind in enumerate(_FIRST)}
    return sorted(found, key=lambda each: order.get(each.object["kind"], len(order)))


def _manifests_of(path: Path) -> Iterator[Manifest]:
    documents = load_all_yaml_file(path, max_bytes=MAX_BYTES)
    for number, document in enumerate(documents, 1):
        place = str(path) if len(documents) == 1 else f"{path}: document {number}"
        if document is None:
            continue
        if not isinstance(document, dict) or not isinstance(document.get("kind"), str):
            raise BadInputError(f"{place}: is no object; give it apiVersion, kind and metadata")
        if document["kind"] == _NO_OBJECT:
            continue
        items: Sequence[Any] = [document]
        if document["kind"] == _LIST and isinstance(document.get("items"), list):
            items = document["items"]
        for item in items:
            yield _manifest(path, place, item, is_alone=len(documents) == len(items) == 1)


def _manifest(path: Path, place: str, item: Any, *, is_alone: bool) -> Manifest:
    fields = item if isinstance(item, dict) else {}
    metadata = fields.get("metadata")
    named = metadata if isinstance(metadata, dict) else {}
    given = {
        "apiVersion": fields.get("apiVersion"),
        "kind": fields.get("kind"),
        "metadata.name": named.get("name") or named.get("generateName"),
    }
    for field, value in given.items():
        if not isinstance(value, str) or not value:
            raise BadInputError(f"{place}: {field}: is missing; add it")
    if fields["kind"] == CUSTOM_RESOURCE_DEFINITION.kind:
        require_definition(path, place, fields, is_alone=is_alone)
    return Manifest(place, fields)


def create(api: ApiServer, manifest: Manifest, actor: str, namespace: str = "default") -> Object:
    """Create an object, which is returned as it is stored; BadInputError, with its place, if the
    API server refuses it. `namespace` is that of objects that name none."""
    obj = manifest.object
    if obj["kind"] == CUSTOM_RESOURCE_DEFINITION.kind:  # as clients apply what they have fetched
        obj = {key: value for key, value in obj.items() if key != "status"}
    wanted = kind_of(obj)
    if wanted.group_kind not in api.strategies:
        raise BadInputError(
            f"{manifest.place}: {wanted.api_version} {wanted.kind} is not served; load its "
            "CustomResourceDefinition first"
        )
    kind = api.served(wanted)
    where = str(meta(obj).get("namespace") or namespace) if kind.namespaced else ""
    if where:
        obj = {**obj, "metadata": {**obj["metadata"], "namespace": where}}
    try:
        created: Object = api.handle(Create(kind, obj, where, name_of(obj)), actor)
    except ApiError as error:
        raise BadInputError(f"{manifest.place}: {error.message}; correct it") from error
    return created
