"""YAML parser errors, in terms of the file.

The parser describes its own steps ("while scanning a simple key"). Here each of its errors
becomes the mistake in the file and its fix, at the position where it can be seen: unclosed
quotes where they begin, not at the end of the file.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import yaml


class _Words(NamedTuple):
    complaint: str
    """A pattern for the problem, without the parser's context; libyaml's words or PyYAML's."""
    said: str
    """The message; `{began}` is the first line of the part being parsed."""
    where_it_began: bool = False
    """True if the error is shown there."""


_WORDS: Final = (
    _Words(
        r"could not find expected ':'",
        "is a key without its colon; write key: value, or indent a text of several lines",
        where_it_began=True,
    ),
    _Words(
        r"quoted scalar: .*unexpected (end|document)",
        "the quotes that begin here are never closed; close them",
        where_it_began=True,
    ),
    _Words(
        r"unknown escape character",
        "unknown escape sequence; double the backslash, or use single quotes",
    ),
    _Words(
        r"mapping values are not allowed",
        "no key can stand here, so no colon either; indent the keys of a mapping alike, and put a "
        "text that has a colon in it in quotes",
    ),
    _Words(
        r"cannot start any token|a tab character",
        "nothing can begin with this character; indent with spaces, not with a tab, and put a text "
        "that begins so in quotes",
    ),
    _Words(
        r"expected ',' or",
        "the bracket that was opened in line {began} is not closed before this; close it, or put "
        "the comma that is missing",
    ),
    _Words(
        r"node content",
        "a value is missing here; write it, and close each bracket that was opened, no other",
    ),
    _Words(
        r"block mapping: ",
        "does not go on with the mapping that began in line {began}; indent its keys alike, and "
        "let nothing follow quotes or brackets that are closed",
    ),
    _Words(
        r"block collection: ",
        "is no further item of the list that began in line {began}; begin each with -, indented "
        "alike",
    ),
    _Words(
        r"sequence entries are not allowed",
        "no list can begin here; put each of its items on a line of its own",
    ),
    _Words(
        r"alphabetic or numeric character",
        "a text that begins with * or & has to be in quotes; put it in quotes",
    ),
    _Words(
        r"block scalar: ",
        "a text after | or > begins on the next line; write it there, indented",
    ),
    _Words(
        r"<document start>",
        "follows the end of the YAML document; remove it, or what ended the document",
    ),
)


def in_words(error: yaml.MarkedYAMLError) -> tuple[yaml.Mark | None, str]:
    """Return the position to show, and the mistake with its fix."""
    complaint = f"{error.context or ''}: {error.problem or ''}"
    began = error.context_mark or error.problem_mark
    for words in _WORDS:
        if re.search(words.complaint, complaint):
            said = words.said.format(began="?" if began is None else began.line + 1)
            return (began if words.where_it_began else error.problem_mark or began), said
    said = f"is not YAML: {error.problem or error.context}; fix this line, or the one before it"
    return error.problem_mark or began, said
