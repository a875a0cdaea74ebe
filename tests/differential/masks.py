"""Volatile values in responses, rule by rule, with their replacements.

A mask hides differences, so each is as narrow as it can be and says why it is needed. Identity
and order survive: the same uid is the same `<uid 1>` wherever it stands, and an object's
resourceVersions become `<version 1>`, `<version 2>` … in their order, so that a write which
must change nothing, or something, still shows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from vocabulary.canonical import encode

Path = tuple[str, ...]


@dataclass(frozen=True)
class Mask:
    """One rule. `what` names the values, for people; `reason` says why they cannot agree."""

    what: str
    becomes: str
    reason: str


@dataclass(frozen=True)
class FieldMask(Mask):
    """Values of fields, by the last steps of their path; no `becomes`: left out."""

    paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextMask(Mask):
    """Parts of texts, wherever they stand."""

    pattern: re.Pattern[str] = re.compile("")


@dataclass(frozen=True)
class TokenMask(Mask):
    """Texts found at fields, then replaced wherever they stand: text and replacement."""

    find: Callable[[Any], Iterator[tuple[str, str]]] = lambda obj: iter(())


_RANDOM_END: Final = re.compile("[bcdfghjklmnpqrstvwxz2456789]{5}")


def _generated_names(obj: Any) -> Iterator[tuple[str, str]]:
    metadata = obj.get("metadata")
    if isinstance(metadata, dict):
        prefix, name = metadata.get("generateName", "")[:58], metadata.get("name", "")
        if prefix and name.startswith(prefix) and _RANDOM_END.fullmatch(name[len(prefix) :]):
            yield name, f"{prefix}<suffix>"


def _template_hashes(obj: Any) -> Iterator[tuple[str, str]]:
    for key in ("currentRevision", "updateRevision"):
        if isinstance(obj.get(key), str):
            yield obj[key].rpartition("-")[2], "<hash>"
    metadata = obj.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, dict) else None
    for key in ("pod-template-hash", "controller-revision-hash"):
        if isinstance(labels, dict) and key in labels:
            yield labels[key].rpartition("-")[2], "<hash>"


FIELD_MASKS: Final = (
    FieldMask(
        "managedFields",
        "",
        "kept beside the objects by the simulation; scripts on applying compare them by themselves",
        ("metadata.managedFields",),
    ),
    FieldMask(
        "pod and node addresses",
        "<address>",
        "each fake kubelet hands out addresses of its own network",
        ("status.podIP", "status.hostIP", "podIPs.*.ip", "hostIPs.*.ip"),
    ),
    FieldMask(
        "cluster addresses of Services",
        "<address>",
        "drawn at random by the API server",
        ("spec.clusterIP", "spec.clusterIPs.*"),
    ),
    FieldMask(
        "tokens of paged lists",
        "<token>",
        "opaque by contract",
        ("metadata.continue",),
    ),
    FieldMask(
        "descriptions of table columns",
        "",
        "documentation for people; kubectl shows it nowhere",
        ("columnDefinitions.*.description",),
    ),
)
TEXT_MASKS: Final = (
    TextMask(
        "versions of kubelets",
        "<kubelet>",
        "each fake kubelet says who plays it",
        re.compile(r"kwok-\d+\.\d+\.\d+|assay-simulated"),
    ),
    TextMask(
        "timestamps",
        "<time>",
        "one side runs in real time, the other in virtual time",
        re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"),
    ),
    TextMask(
        "the difference that the refusal of a pod's update shows",
        "",
        "a listing of Go's internal structs",
        re.compile(r"(?:\n@@ .*(?:\n[ +-].*)*)+\n?"),
    ),
    TextMask(
        "structures that a refusal repeats",
        "Invalid value: <what was sent>: ",
        "printed from Go's internal structs, which have other names and all their empty fields",
        re.compile(r'Invalid value: (?:\[\{.*?\}\]|\{.*?\}|"\{.*?\}"): '),
    ),
)
TOKEN_MASKS: Final = (
    TokenMask(
        "the random end of generated names",
        "<suffix>",
        "drawn at random by whoever generates the name",
        _generated_names,
    ),
    TokenMask(
        "hashes of pod templates",
        "<hash>",
        "FNV over Go's own dump of the template's structs; only equality matters, and that "
        "is kept by the names made of it",
        _template_hashes,
    ),
)
IDENTITY: Final = Mask(
    "uids", "<uid 1>, <uid 2>, … by first appearance", "drawn at random; identity is kept"
)
ORDER: Final = Mask(
    "resourceVersions of objects",
    "<version 1>, <version 2>, … in each object's own order",
    "the revision counts the writes of the whole cluster; order and equality are kept",
)
REVISION: Final = Mask(
    "resourceVersions of lists and bookmarks, and those in messages",
    "<revision>",
    "the revision counts the writes of the whole cluster",
)
LIST_ORDER: Final = Mask(
    "the order of a list's items",
    "where names are generated: sorted as the items look when masked",
    "lists are ordered by name, and such names are random",
)
CONDITION_ORDER: Final = Mask(
    "the order of the conditions of Pods and Deployments",
    "sorted by type",
    "they are a map by type; which comes first hangs on who patched, and how writes were merged",
)
CAUSE_ORDER: Final = Mask(
    "the order of the causes for which a custom resource is refused",
    "sorted; the message names no causes",
    "a real server walks through a Go map, in another order each time",
)
AGES: Final = Mask(
    "cells of tables that show a span of time or an address",
    "<age>, <address>",
    "as for timestamps and addresses elsewhere",
)
ALL: Final[tuple[Mask, ...]] = (
    *FIELD_MASKS,
    *TEXT_MASKS,
    *TOKEN_MASKS,
    IDENTITY,
    ORDER,
    REVISION,
    LIST_ORDER,
    CONDITION_ORDER,
    CAUSE_ORDER,
    AGES,
)

_UID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_VERSION: Final = re.compile(rf"<(?P<uid>{_UID.pattern})@(?P<version>\d+)>")
_REVISION_IN_TEXT: Final = re.compile(
    r'(?<="resourceVersion":")\d+'
    r"|(?<=resource version: )\d+ \(\d+\)"
    r"|(?<=Too large resource version: \d{12}, current: )\d+"
    r"|(?<=ResourceVersion in the precondition \()\d+(?=\))"
    r"|(?<=ResourceVersion in record \()\d+(?=\))"
)
"""In rejected patches, in 410s, in 504s, and in failed preconditions."""
_ADDRESS: Final = re.compile(r"\d+\.\d+\.\d+\.\d+")
_ADDRESS_COLUMNS: Final = ("IP", "Internal-IP")
_AGE_COLUMNS: Final = ("Age", "Last Seen", "First Seen", "Duration")


def masked(
    steps: Sequence[dict[str, Any]], shown: Callable[[dict[str, Any]], dict[str, Any]]
) -> list[dict[str, Any]]:
    """The steps of one transcript, masked together: identities span all of them.

    `shown` leaves of a step what it is about; versions are ranked among those that are left.
    """
    tokens = _tokens(steps)
    found = []
    for step in steps:
        full = _fields(step, (), tokens)
        part = shown(full)
        found.append(_sorted(part) if b"<suffix>" in encode(full) else part)
    ranks = _ranks(found)
    numbers: dict[str, str] = {}
    return [_numbered(step, numbers, ranks) for step in found]


def _walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for entry in value.values():
            yield from _walk(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from _walk(entry)


def _tokens(steps: Sequence[dict[str, Any]]) -> list[tuple[re.Pattern[str], str]]:
    """The texts for random values in this transcript, longest first."""
    replacements: dict[str, str] = {}
    for obj in _walk(list(steps)):
        for mask in TOKEN_MASKS:
            replacements.update(mask.find(obj))
    ordered = sorted(replacements, key=lambda token: (-len(token), token))
    return [
        (re.compile(rf"(?<![a-z0-9]){re.escape(token)}(?![a-z0-9])"), replacements[token])
        for token in ordered
    ]


def _ranks(steps: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Values that stand for an object's versions → their rank among those of that object."""
    versions: dict[str, set[int]] = {}
    for found in _VERSION.finditer(encode(steps).decode()):
        versions.setdefault(found["uid"], set()).add(int(found["version"]))
    return {
        f"<{uid}@{version}>": f"<version {rank}>"
        for uid, numbers in versions.items()
        for rank, version in enumerate(sorted(numbers), 1)
    }


def _fields(value: Any, path: Path, tokens: Sequence[tuple[re.Pattern[str], str]]) -> Any:
    if isinstance(value, dict):
        result = {}
        for key, entry in value.items():
            here = (*path, key)
            mask = _mask_at(here, entry)
            if key == "resourceVersion" and isinstance(entry, str) and entry:
                result[key] = f"<{value['uid']}@{entry}>" if "uid" in value else "<revision>"
            elif mask is None:
                result[key] = _fields(entry, here, tokens)
            elif mask.becomes:
                result[key] = mask.becomes
        _sort_conditions(result)
        return _aged(_uncaused(result))
    if isinstance(value, list):
        result_ = []
        for entry in value:
            here = (*path, "*")
            mask = _mask_at(here, entry)
            result_.append(mask.becomes if mask else _fields(entry, here, tokens))
        return result_
    if isinstance(value, str):
        for text_mask in TEXT_MASKS:
            value = text_mask.pattern.sub(text_mask.becomes, value)
        for pattern, becomes in tokens:
            value = pattern.sub(becomes, value)
        return _REVISION_IN_TEXT.sub("<revision>", value)
    return value


def _mask_at(path: Path, value: Any) -> FieldMask | None:
    if value == "None":
        # A headless Service says None where others have an address.
        return None
    for mask in FIELD_MASKS:
        for pattern in mask.paths:
            wanted = tuple(pattern.split("."))
            if path[-len(wanted) :] == wanted:
                return mask
    return None


def _aged(obj: dict[str, Any]) -> dict[str, Any]:
    """A table without its spans of time and its addresses."""
    columns = obj.get("columnDefinitions")
    if not isinstance(columns, list) or "rows" not in obj:
        return obj
    ages = [column["name"] in _AGE_COLUMNS for column in columns]
    addresses = [column["name"] in _ADDRESS_COLUMNS for column in columns]
    rows = []
    for row in obj["rows"] or ():
        cells = [
            "<age>"
            if is_age and re.fullmatch(r"(\d+[a-z])+", str(cell))
            else "<address>"
            if is_address and _ADDRESS.fullmatch(str(cell))
            else cell
            for cell, is_age, is_address in zip(row["cells"], ages, addresses, strict=True)
        ]
        rows.append({**row, "cells": cells})
    return {**obj, "rows": rows}


def _sorted(step: dict[str, Any]) -> dict[str, Any]:
    """A step whose list, if it has one, is in an order that does not hang on random names."""
    body = step.get("body")
    if not isinstance(body, dict):
        return step
    sorted_ = {
        key: sorted(body[key], key=_look)
        for key in ("items", "rows")
        if isinstance(body.get(key), list)
    }
    return {**step, "body": {**body, **sorted_}}


def _sort_conditions(status: dict[str, Any]) -> None:
    """Sort the conditions in place, if it is the status of a Pod or a Deployment."""
    conditions = status.get("conditions")
    if isinstance(conditions, list):
        types = [str(entry.get("type")) for entry in conditions]
        if "qosClass" in status or "Progressing" in types:
            conditions.sort(key=lambda entry: str(entry.get("type")))


def _uncaused(status: dict[str, Any]) -> dict[str, Any]:
    """A custom resource's error whose causes are in another order."""
    details = status.get("details")
    if not isinstance(details, dict) or len(details.get("causes") or ()) < 2:
        return status
    group = details.get("group", "")
    if "." not in group or group.endswith(".k8s.io"):
        return status
    causes = sorted(details["causes"], key=_look)
    message = re.sub(r"is invalid: \[.*\]$", "is invalid: [<causes>]", status["message"])
    return {**status, "message": message, "details": {**details, "causes": causes}}


def _look(item: Any) -> str:
    return _UID.sub("<uid>", _VERSION.sub("<version>", encode(item).decode()))


def _numbered(value: Any, numbers: dict[str, str], ranks: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _numbered(value[key], numbers, ranks) for key in sorted(value)}
    if isinstance(value, list):
        return [_numbered(entry, numbers, ranks) for entry in value]
    if isinstance(value, str):
        if value in ranks:
            return ranks[value]
        return _UID.sub(
            lambda found: numbers.setdefault(found[0], f"<uid {len(numbers) + 1}>"), value
        )
    return value
