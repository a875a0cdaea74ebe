"""The ways in which a write can be wrong, and the mistakes that they make of a target."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from conformance.wire.paths import ABSENT, Path, from_text, in_text

LEFT_OUT: Final = "left-out"
SENT_TWICE: Final = "sent-twice"
RENAMED: Final = "renamed"
TO_NAMESAKE: Final = "to-namesake"
TOO_LATE: Final = "too-late"
OTHER_PROPAGATION: Final = "other-propagation"
OPTION_LEFT_OUT: Final = "option-left-out"
OF_REQUESTS: Final = {
    LEFT_OUT: "the write is left out; the operator is answered as if it had been carried out",
    SENT_TWICE: "the creation is sent twice, the second time under another name",
    RENAMED: "the object is created under another name",
    TO_NAMESAKE: "the write goes to another object of the kind; a creation to another namespace",
    TOO_LATE: "the write is carried out after the next write of the same process",
    OTHER_PROPAGATION: "the deletion has another propagation policy",
}
"""The rules for whole writes, each with what it does."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT")
_OF_ASSAY: Final = "assay.dev/"
"""Begins the keys by which scenarios tell the simulated cluster what pods do."""
_WHOLE: Final = ("metadata", "spec", "status", "template")
"""Fields of which only parts are left out: an object without them is none."""
_TEMPLATES: Final = ("template", "podTemplate")


class UnknownMistakeError(ValueError):
    """A text that names no mistake; the message says how one is spelled."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A rule, and the writes that it makes wrong: all of a verb, a kind and a subresource, and of
    their bodies a path."""

    rule: str
    target: str
    """`create:Job.batch`, `patch:JobSet.jobset.x-k8s.io/status`."""
    path: Path = ()

    def __str__(self) -> str:
        where = f":{in_text(self.path)}" if self.path else ""
        return f"{self.rule}:{self.target}{where}"

    @property
    def meaning(self) -> str:
        return OF_REQUESTS.get(self.rule) or OF_FIELDS[self.rule]

    @property
    def mirrors_template(self) -> bool:
        """True for a field inside of a pod template, which mostly comes from the user's object."""
        return any(
            word in self.path and "spec" in self.path[self.path.index(word) :]
            for word in _TEMPLATES
        )


def mistake(text: str) -> Mistake:
    """The mistake of a text, as it prints itself. Raises UnknownMistakeError."""
    rule, _, rest = text.partition(":")
    verb, _, rest = rest.partition(":")
    kind, _, path = rest.partition(":")
    is_known = rule in OF_REQUESTS if not path else rule in OF_FIELDS and path.startswith("/")
    if not (is_known and verb and kind):
        raise UnknownMistakeError(
            f"{text!r} is no mistake on the wire; write RULE:VERB:KIND, or RULE:VERB:KIND:/PATH, "
            f"with one of these rules: {', '.join(OF_REQUESTS)}; or, with a path, "
            f"{', '.join(OF_FIELDS)}"
        )
    return Mistake(rule, f"{verb}:{kind}", from_text(path) if path else ())


def _less_last(asked: Any, _stored: Any) -> Any:
    return asked[:-1]


def _one_more(asked: Any, _stored: Any) -> Any:
    return asked + 1


def _as_before(_asked: Any, stored: Any) -> Any:
    return stored


def _flipped(asked: Any, _stored: Any) -> Any:
    if isinstance(asked, bool):
        return not asked
    return "False" if asked == "True" else "True"


def _other_text(asked: Any, _stored: Any) -> Any:
    return str(int(asked) + 1) if asked.isdigit() else f"{asked}-x"


CHANGES: Final = {
    "off-by-one": _one_more,
    "field-left-out": _as_before,
    "flipped": _flipped,
    "label-changed": _other_text,
    "text-changed": _other_text,
    "last-element-lost": _less_last,
    "owner-lost": _as_before,
    "finalizer-not-added": _as_before,
    "finalizer-not-removed": _as_before,
}
OF_FIELDS: Final = {
    OPTION_LEFT_OUT: "the deletion does not name an option",
    "off-by-one": "a number is one more",
    "field-left-out": "a field is not written",
    "flipped": "a boolean, or a condition's status, is the opposite",
    "label-changed": "a label or annotation has another value",
    "text-changed": "a text has another value",
    "last-element-lost": "a list lacks its last element",
    "owner-lost": "the owner references are not written",
    "finalizer-not-added": "a finalizer is not added",
    "finalizer-not-removed": "a finalizer is not removed",
}
"""The rules for fields, each with what it does."""


def rules_at(path: Path, asked: Any, stored: Any) -> Iterator[str]:
    """The rules for a field that a write changes to a value from the stored one."""
    last = path[-1]
    is_type = last == "type" and path[-3:-2] == ("conditions",)
    if is_type or any(key.startswith(_OF_ASSAY) for key in path):
        return
    if path[:2] == ("metadata", "ownerReferences"):
        if len(path) == 2 and asked is not ABSENT:
            yield "owner-lost"
        return
    if path[:2] == ("metadata", "finalizers"):
        if len(path) == 2:
            before = {*(() if stored is ABSENT else stored or ())}
            after = {*(() if asked is ABSENT else asked or ())}
            if after - before:
                yield "finalizer-not-added"
            if before - after:
                yield "finalizer-not-removed"
        return
    is_status = last == "status" and asked in ("True", "False", "Unknown")
    if isinstance(asked, bool) or is_status:
        yield "flipped"
    elif isinstance(asked, int):
        yield "off-by-one"
    elif isinstance(asked, str) and path[-2:-1] in (("labels",), ("annotations",)):
        yield "label-changed"
    elif isinstance(asked, str) and asked and last != "message" and not _TIME.match(asked):
        yield "text-changed"
    elif isinstance(asked, Sequence) and asked and not isinstance(asked, str):
        yield "last-element-lost"
    if last not in _WHOLE:
        yield "field-left-out"
