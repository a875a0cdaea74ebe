"""The table of published examples, and the comparison of a folder of originals with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.manifests.files import load_manifests
from tests.examples.posted import UNDER_TEST, End, end_of
from vocabulary.kinds import kind_of
from vocabulary.objects import Object

OURS: Final = Path(__file__).parents[2] / "fixtures" / "examples"


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of others, ours beside it, and the end of both."""

    file: str
    digest: str
    ours: str
    end: str
    words: str = ""
    """Those by which it is refused."""
    presupposes: Mapping[str, Any] = {}


class Upstream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One project's examples, as they stood at a commit."""

    name: str
    repository: str
    tag: str
    commit: str
    folder: str
    """In its repository."""
    examples: tuple[Example, ...]

    def folder_in(self, given: Path) -> Path | None:
        """Its examples in a checkout, or in a collection of several projects' examples."""
        folders = (given / self.name, given / self.folder)
        return next((each for each in folders if (each / self.examples[0].file).exists()), None)


def table() -> tuple[Upstream, ...]:
    return msgspec.yaml.decode((OURS / "ends.yaml").read_bytes(), type=tuple[Upstream, ...])


def reached(path: Path, example: Example) -> End:
    return end_of(load_manifests(path), example.presupposes)


def differences(upstream: Upstream, folder: Path) -> Iterator[str]:
    """Deviations from the table; one line each."""
    for example in upstream.examples:
        path = folder / example.file
        if not path.exists():
            yield f"{path}: is missing; {upstream.repository} has it at {upstream.tag}"
            continue
        if sha256(path.read_bytes()).hexdigest() != example.digest:
            yield f"{path}: is not the file of {upstream.repository} at {upstream.commit}"
        originals = load_manifests(path)
        ours = OURS / upstream.name / example.ours
        if list(map(shape, originals)) != list(map(shape, load_manifests(ours))):
            yield f"{path}: {ours.name} has other kinds, fields or another order"
        end = end_of(originals, example.presupposes)
        if end.text != example.end or example.words not in end.words:
            wanted = End(example.end, example.words)
            yield f"{path}: {end}; the table has: {wanted}"
    known = {folder / example.file for example in upstream.examples}
    for path in sorted(folder.rglob("*.yaml")):
        if path not in known and any(map(_is_under_test, load_manifests(path))):
            yield f"{path}: is not in the table"


def shape(value: Any) -> Any:
    """A manifest's kinds and fields in their order, without its own names and texts."""
    if isinstance(value, Mapping):
        kinds = [value.get(key) for key in ("apiVersion", "kind")]
        return [kinds, [(key, shape(each)) for key, each in value.items()]]
    if isinstance(value, list | tuple):
        return [shape(each) for each in value]
    return type(value)


def _is_under_test(document: Object) -> bool:
    return kind_of(document).group_kind in UNDER_TEST
