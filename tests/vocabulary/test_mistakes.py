"""All errors in data are reported at once, in the words of msgspec, which stops at the first."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import pytest
from msgspec import Meta

from vocabulary.mistakes import mistake_of, mistakes_in


class Inner(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Something to hold."""

    how_many: Annotated[int, Meta(ge=1)]
    word: Literal["one", "two"] = "one"


class Outer(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Something that holds it, in each way that profiles do."""

    name: str
    inner: Inner | None = None
    several: tuple[Inner, ...] = ()
    texts: dict[str, str] = {}


SINGLE: dict[str, tuple[Any, str]] = {
    "no mapping": ([], ""),
    "a wrong type": ({"name": 1}, "name"),
    "an unknown field": ({"name": "", "nme": ""}, ""),
    "a missing field": ({}, ""),
    "a field of what may be absent": ({"name": "", "inner": {"howMany": 0}}, "inner.howMany"),
    "a missing field of an item": ({"name": "", "several": [{}]}, "several[0]"),
    "no list": ({"name": "", "several": "abc"}, "several"),
    "a word that is none": (
        {"name": "", "inner": {"howMany": 1, "word": "x"}},
        "inner.word",
    ),
    "a value of a mapping": ({"name": "", "texts": {"a": 1}}, "texts[...]"),
}


@pytest.mark.parametrize("data", SINGLE)
def test_a_single_mistake_is_told_as_msgspec_tells_it(data: str) -> None:
    value, field = SINGLE[data]
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert(value, Outer)
    (mistake,) = mistakes_in(value, Outer)
    assert mistake == mistake_of(error.value, Outer)
    assert mistake.field == field


def test_each_of_many_mistakes_is_told_with_its_field() -> None:
    value = {
        "inner": {"howMany": 0, "word": "x", "wrod": 1},
        "several": [{"howMany": 1}, {"howMany": "1"}, {}],
    }
    assert [mistake.field for mistake in mistakes_in(value, Outer)] == [
        "inner.howMany",
        "inner.word",
        "inner",
        "several[1].howMany",
        "several[2]",
        "",
    ]


def test_a_field_that_is_misspelled_is_not_missing_besides() -> None:
    (mistake,) = mistakes_in({"name": "", "several": [{"howMny": 1}]}, Outer)
    assert mistake.what == "object contains unknown field `howMny`; did you mean howMany?"
    assert mistake.at == "several[0].howMny"


def test_what_is_right_has_no_mistakes() -> None:
    assert list(mistakes_in({"name": "", "several": [{"howMany": 1}]}, Outer)) == []
