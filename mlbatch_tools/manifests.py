"""Objects from files: YAML or JSON, several documents, lists of any kind, whole directories."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from mlbatch_tools.problems import ToolError, short
from vocabulary.objects import Object, meta
from vocabulary.regular_files import open_regular
from vocabulary.safe_yaml import load_all_yaml

MAX_BYTES: Final = 256 * 1024 * 1024
"""Of a file: all pods of a large cluster."""
STDIN: Final = Path("-")
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_NAME: Final = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.:]{0,251}[A-Za-z0-9])?")


class Found(NamedTuple):
    """An object, and the place where it was found."""

    obj: Object
    source: str
    """A file, with the object's position if the file has several: `dump.yaml[3]`."""


def read(paths: Iterable[Path]) -> list[Found]:
    """Return the objects of files and directories, items of lists one by one. Raises ToolError."""
    return [found for path in paths for file in _files(path) for found in read_file(file)]


def read_file(path: Path) -> list[Found]:
    """Return the objects of one file, `-` for standard input. Raises ToolError."""
    source = source_of(path)
    documents = [each for each in documents_in(text_of(path), source) if each is not None]
    found = [
        item
        for index, each in enumerate(documents)
        for item in items_in(each, f"{source}[{index}]" if len(documents) > 1 else source)
    ]
    if not found:
        raise ToolError(f"{source}: has no object; name a file with Kubernetes manifests")
    return found


def source_of(path: Path) -> str:
    return "standard input" if path == STDIN else str(path)


def text_of(path: Path) -> str:
    """A file's text, without a byte order mark and with newlines as line ends."""
    try:
        if path == STDIN:
            data = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with open_regular(path) as file:
                data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ToolError(
            f"{path}: cannot be read: {error.strerror}; name an existing, readable file"
        ) from error
    if len(data) > MAX_BYTES:
        raise ToolError(f"{path}: is too large: at most {MAX_BYTES} bytes are read; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ToolError(f"{path}:{line}: is not UTF-8: {error.reason}; save it as UTF-8") from error
    return text.replace("\r\n", "\n")


def documents_in(text: str, source: str) -> list[Any]:
    """Return the documents of a text that is JSON or YAML. Raises ToolError or YamlError."""
    if text.lstrip().startswith(("{", "[")) and (documents := _as_json(text, source)):
        return documents
    return load_all_yaml(text, source, max_bytes=MAX_BYTES)


def items_in(document: Any, source: str) -> list[Found]:
    """Return the objects of a document; lists of any kind are unpacked. Raises ToolError."""
    if not isinstance(document, dict | list):
        raise ToolError(f"{source}: is {type(document).__name__}, no object; write a mapping")
    if isinstance(document, dict) and not _is_list(document):
        found = Found(document, source)
        _require_identity(found)
        return [found]
    items = document if isinstance(document, list) else document["items"]
    if items is not None and not isinstance(items, list):
        raise ToolError(f"{source}: items is {short(items)}; write a list of objects")
    return [
        found
        for index, item in enumerate(items or ())
        for found in items_in(_typed(item, document), f"{source}[{index}]")
    ]


def _files(path: Path) -> list[Path]:
    if path == STDIN or not path.is_dir():
        return [path]
    files = sorted(each for each in path.rglob("*") if each.suffix in _SUFFIXES)
    if not files:
        raise ToolError(f"{path}: has no {', '.join(_SUFFIXES)} file; name one that has")
    return files


def _is_list(document: Object) -> bool:
    return str(document.get("kind", "")).endswith("List") and "items" in document


def _require_identity(found: Found) -> None:
    """Raise ToolError unless the object has a kind, and a name that is safe to print."""
    obj, source = found
    for field in ("apiVersion", "kind"):
        value = obj.get(field)
        if not isinstance(value, str) or not re.fullmatch(r"[\w./-]{1,253}", value):
            raise ToolError(f"{source}: {field} is {value!r}; write that of a Kubernetes object")
    metadata = obj.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise ToolError(f"{source}: metadata is {short(metadata)}; write a mapping with a name")
    for field in ("name", "namespace"):
        value = meta(obj).get(field)
        if value is not None and (not isinstance(value, str) or not _NAME.fullmatch(value)):
            raise ToolError(
                f"{source}: metadata.{field} is {value!r}; write letters, digits, '-' and '.'"
            )


def _typed(item: Any, of: Any) -> Any:
    """An item; lists of one kind, as the API server sends them, have items without it."""
    kind = str(of.get("kind", "")).removesuffix("List") if isinstance(of, dict) else ""
    if not isinstance(item, dict) or not kind:
        return item
    return {"apiVersion": of.get("apiVersion"), "kind": kind, **item}


def _as_json(text: str, source: str) -> list[Any]:
    """The JSON values in a text, one after the other; none if it is YAML in flow style."""
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_number)
    found: list[Any] = []
    position = _end_of_space(text, 0)
    while position < len(text):
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError:
            return []
        except (ToolError, RecursionError) as error:
            what = (
                "is nested too deep; make it flatter"
                if isinstance(error, RecursionError)
                else error
            )
            raise ToolError(f"{source}: {what}") from error
        found.append(value)
        position = _end_of_space(text, end)
    return found


def _end_of_space(text: str, position: int) -> int:
    space = _SPACE.match(text, position)
    return space.end() if space else position


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, _ in pairs if [name for name, _ in pairs].count(key) > 1)
        raise ToolError(f"key {twice!r} occurs twice in one object; keep one of them")
    return found


def _no_number(word: str) -> NoReturn:
    raise ToolError(f"{word} is not a number that JSON can hold; quote it")
