"""The report's YAML reads back equal, agrees with its schema, and refuses what is no report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.report.build import build_report
from conformance.report.schema import SCHEMA_PATH, report_schema, schema_text
from conformance.report.yaml_text import dump, read_report, write_report
from tests.report.sample_claims import CLAIMS
from tests.report.sample_run import sample_suite
from vocabulary.safe_yaml import YamlError, load_yaml

TEXT = write_report(
    build_report(sample_suite(), CLAIMS, version="0.1.0", git_commit="", date="2026-01-01")
)

_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.text(st.characters(exclude_categories=["Cs"])).filter(lambda key: key != "<<"),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "yes", "1", ""]), _json))
@example({"a": {"A\n": None, "B": "C\n"}})
def test_everything_that_is_written_reads_back_equal(value: dict[str, Any]) -> None:
    assert load_yaml(dump(value), "x.yaml") == value


def test_the_shipped_schema_is_the_one_of_the_types() -> None:
    assert SCHEMA_PATH.read_text(encoding="utf-8") == schema_text()


def test_a_written_report_is_valid_and_reads_back_equal(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_text(TEXT, encoding="utf-8")
    jsonschema.Draft202012Validator(report_schema()).validate(load_yaml(TEXT, "x"))
    assert write_report(read_report(path)) == TEXT


def test_the_schema_itself_is_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(report_schema())


BAD_REPORTS = {
    "an empty file": ("", "expected ConformanceReport"),
    "another kind of object": ("apiVersion: v1\nkind: Pod\n", "kind: expected ConformanceReport"),
    "a list": ("- 1\n", "expected ConformanceReport"),
    "a version from the future": (
        TEXT.replace("assay.dev/v1", "assay.dev/v9"),
        "report.yaml:1:13: apiVersion: expected assay.dev/v1",
    ),
    "an unknown field": (
        TEXT.replace("coverage:\n", "coverage:\n  luck: 3\n"),
        "coverage: object contains unknown field `luck`",
    ),
    "a wrong type": (
        TEXT.replace("Passed: 1", "Passed: many", 1),
        "profiles[0].core.statistics.Passed: expected `int`, got `str`",
    ),
    "an unknown outcome": (
        TEXT.replace("outcome: failed", "outcome: splendid", 1),
        "claims[1].outcome: invalid enum value 'splendid'",
    ),
    "a negative count": (TEXT.replace("armed: 3", "armed: -3"), "claims[1].armed: expected `int`"),
    "a number beyond 64 bits": (TEXT.replace("armed: 3", f"armed: {10**400}"), "claims[1].armed"),
    "a digest that is none": (
        TEXT.replace("historySha256: ", "historySha256: x", 1),
        "expected `str` matching regex",
    ),
    "a field twice": (TEXT.replace("kind: Conf", "kind: Pod\nkind: Conf"), "occurs twice"),
    "an alias": (TEXT.replace("gitCommit: ", "gitCommit: &a "), "anchor &a is not allowed"),
    "a bomb of aliases": (
        "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: [*c,*c,*c,*c]\n",
        "anchor &a is not allowed",
    ),
    "a python object": (
        TEXT.replace("kind: ConformanceReport", "kind: !!python/object/apply:os.system [id]"),
        "is not allowed",
    ),
    "a merge key": (TEXT + "<<: {a: 1}\n", "merge key << is not allowed"),
    "nesting without end": ("a: " + "[" * 5000, "nested deeper than 64 levels"),
    "half a file": (TEXT[: len(TEXT) // 2] + '"', "report.yaml"),
    "not a number": (TEXT.replace("wallSeconds: 0.004", "wallSeconds: .nan", 1), "JSON can hold"),
    "a missing field": (TEXT.replace("date: ", "dote: "), "unknown field `dote`"),
}


@pytest.mark.parametrize("name", BAD_REPORTS)
def test_a_broken_report_is_refused_with_file_line_and_field(name: str, tmp_path: Path) -> None:
    text, complaint = BAD_REPORTS[name]
    path = tmp_path / "report.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(YamlError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}:")
    assert complaint in str(caught.value)


def test_binary_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    path.write_bytes(b"kind: \xff\xfe\x00\x01")
    with pytest.raises(YamlError, match="is not UTF-8"):
        read_report(path)


def test_the_line_of_a_wrong_field_is_its_own(tmp_path: Path) -> None:
    path = tmp_path / "report.yaml"
    lines = TEXT.splitlines()
    number = next(i for i, line in enumerate(lines) if line.strip() == "Passed: 1")
    lines[number] = lines[number].replace("1", "[]")
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(YamlError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}:{number + 1}:15: profiles[0].core")


def test_types_and_schema_refuse_the_same(tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(report_schema())
    good = load_yaml(TEXT, "x")
    for broken in (
        {**good, "extra": 1},
        {**good, "date": 3},
        {**good, "kind": "Other"},
        {**good, "claims": [{**good["claims"][0], "armed": -1}]},
        {key: value for key, value in good.items() if key != "suite"},
    ):
        assert not validator.is_valid(broken)
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(broken, type(read_report(_written(tmp_path))))


def _written(folder: Path) -> Path:
    path = folder / "good.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path
