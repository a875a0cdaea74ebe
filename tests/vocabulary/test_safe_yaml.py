"""Untrusted YAML is read as plain data within limits, or rejected with its position."""

from __future__ import annotations

import re

import pytest
import yaml

from vocabulary import safe_yaml
from vocabulary.safe_yaml import (
    MAX_BYTES,
    MAX_DEPTH,
    YamlError,
    load_all_yaml,
    load_all_yaml_file,
    load_yaml,
    load_yaml_file,
    require_loadable_file,
)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("a: 1", {"a": 1}),
        ("a: [x, 1.5, ~, yes, 'yes', \"1\"]", {"a": ["x", 1.5, None, True, "yes", "1"]}),
        ("a: 2026-01-01", {"a": "2026-01-01"}),
        ("a: 2026-01-01T00:00:00Z", {"a": "2026-01-01T00:00:00Z"}),
        ("a: =", {"a": "="}),
        ("a: 1:30:00", {"a": "1:30:00"}),
        ("a: 1:30.5", {"a": "1:30.5"}),
        pytest.param("a: 1" + ":1" * 20_000, {"a": "1" + ":1" * 20_000}, id="base 60"),
        ("'<<': 1", {"<<": 1}),
        ("\ufeffa: 1", {"a": 1}),
        ("'1': a", {"1": "a"}),
        ("a: !!str 1", {"a": "1"}),
        ("a: |\n  b\n  c\n", {"a": "b\nc\n"}),
        ("- {a: {}}\n- []\n", [{"a": {}}, []]),
        ("a: 0o8", {"a": "0o8"}),
        ("[" * MAX_DEPTH + "]" * MAX_DEPTH, eval("[" * MAX_DEPTH + "]" * MAX_DEPTH)),  # noqa: S307
    ],
)
def test_plain_data_is_read(text, data):
    assert load_yaml(text, "f.yaml") == data


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1", "f.yaml:1:4: anchor &x is not allowed; write the value out"),
        ("a: b\nc: *x", "f.yaml:2:4: alias *x is not allowed; write the value out"),
        ("<<: {a: 1}", "f.yaml:1:1: merge key << is not allowed; write the fields out"),
        ("a: 1\nb: 2\na: 3", "f.yaml:3:1: key 'a' occurs twice in one mapping; keep one of them"),
        ("1: 2", "f.yaml:1:1: key 1 is not text; put it in quotes"),
        ("on: 2", "f.yaml:1:1: key True is not text; put it in quotes"),
        ("? [a]\n: 1", "f.yaml:1:3: key ['a'] is not text; put it in quotes"),
        (
            "a: !!python/object:os.system x",
            "f.yaml:1:4: tag tag:yaml.org,2002:python/object:os.system is not allowed; "
            "leave it out",
        ),
        (
            "a: !x {b: c}",
            "f.yaml:1:4: tag !x is not allowed; leave it out",
        ),
        (
            "a: !!binary aGk=",
            "f.yaml:1:4: tag tag:yaml.org,2002:binary is not allowed; leave it out",
        ),
        (
            "a: !!set {b}",
            "f.yaml:1:4: tag tag:yaml.org,2002:set is not allowed; leave it out",
        ),
        ("a: .inf", "f.yaml:1:4: .inf is not a number that JSON can hold; quote it"),
        ("a: .nan", "f.yaml:1:4: .nan is not a number that JSON can hold; quote it"),
        ("a: !!int ''", "f.yaml:1:4: '' cannot be read as !!int; quote it"),
        ("a: !!int 1:2", "f.yaml:1:4: '1:2' cannot be read as !!int; quote it"),
        ("a: !!float ''", "f.yaml:1:4: '' cannot be read as !!float; quote it"),
        (
            "a: 0x" + "f" * 5000,
            "f.yaml:1:4: '0x" + "f" * 38 + "…' cannot be read as !!int; quote it",
        ),
        ("a: !!int foo", "f.yaml:1:4: 'foo' cannot be read as !!int; quote it"),
        ("a: " + "1" * 5000, "f.yaml:1:4: '" + "1" * 40 + "…' cannot be read as !!int; quote it"),
        (
            "a: 1\n---\nb: 2",
            "f.yaml: holds 2 YAML documents, expected one; give each a file of its own",
        ),
        (
            "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
            "f.yaml:1:65: nested deeper than 64 levels; make it flatter",
        ),
        (b"a: \xff", "f.yaml:1:4: is not UTF-8: invalid start byte; save the file as UTF-8"),
        (b"a: 1\nb: \xff", "f.yaml:2:4: is not UTF-8: invalid start byte; save the file as UTF-8"),
        (
            b"a" * (MAX_BYTES + 1),
            "f.yaml: is too large: at most 1048576 bytes are read; "
            "check that this is the right file",
        ),
        (
            "---\n" * 1001,
            "f.yaml:1001:1: more than 1000 YAML documents; split the file",
        ),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_not_plain_data_within_limits_is_refused_with_its_place(text, message):
    with pytest.raises(YamlError) as caught:
        load_yaml(text, "f.yaml")
    assert str(caught.value) == message


@pytest.fixture(params=["libyaml", "PyYAML"])
def either_loader(request, monkeypatch):
    """libyaml's loader, and the one that stands in where it is not built in."""
    if request.param == "PyYAML":
        monkeypatch.setattr(safe_yaml, "_Loader", yaml.SafeLoader)


@pytest.mark.parametrize(
    ("text", "place", "told"),
    [
        ("seed: 1\nscenario\nfaults: []\n", "3:1", "a simple key from line 2"),
        ("a: 1\nb: 'c\nd: 2\n", "4:1", "a quoted scalar from line 2"),
        ("a: b: c\n", "1:5", "mapping values are not allowed"),
        ("a:\n\t- b: {}\n", "2:1", "cannot start any token"),
        ("a: [1, 2\nb: 3\n", "2:2", "a flow sequence from line 1"),
        ("a:\n  b: 1\n c: 2\n", "3:2", "a block mapping from line 1"),
        ("- a\nb: 1\n", "2:1", "a block collection from line 1"),
        ("!e!x a", "1:1", "is not YAML: found undefined tag handle"),
        ("a: 1\n\u00e9: \x00", "2:4", "the character #x0000 is not allowed in YAML"),
    ],
    ids=repr,
)
def test_what_is_no_yaml_is_told_as_the_parser_says_it_with_its_place(
    either_loader, text, place, told
):
    with pytest.raises(YamlError) as caught:
        load_yaml(text, "f.yaml")
    assert str(caught.value).startswith(f"f.yaml:{place}")
    assert told in str(caught.value)
    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


class _LowLimit(yaml.SafeLoader):
    """Looks ahead, as every version does, and gives up early, as newer ones do."""

    def fetch_flow_collection_start(self, token):
        if self.flow_level == MAX_DEPTH + 10:
            raise yaml.scanner.ScannerError("while nesting", None, "too much", self.get_mark())
        super().fetch_flow_collection_start(token)


@pytest.mark.parametrize(
    ("text", "place"),
    [("[" * 5000, "1:65"), ("\na: " + "[{" * 5000, "2:67"), ('{"a":[' * 5000, "1:193")],
)
def test_the_own_limit_on_nesting_does_not_depend_on_that_of_the_parser(text, place, monkeypatch):
    told = f"f.yaml:{place}: nested deeper than 64 levels; make it flatter"
    for loader in (safe_yaml._Loader, yaml.SafeLoader, _LowLimit):
        monkeypatch.setattr(safe_yaml, "_Loader", loader)
        with pytest.raises(YamlError) as caught:
            load_yaml(text, "f.yaml")
        assert str(caught.value) == told


def test_a_thousand_laughs_cost_nothing():
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"
    with pytest.raises(YamlError, match="anchor &a is not allowed"):
        load_yaml(bomb, "f.yaml")


def test_all_documents_of_a_text_are_read_in_order():
    assert load_all_yaml("a: 1\n---\n---\nb: 2\n", "f.yaml") == [{"a": 1}, None, {"b": 2}]


def test_files_are_named_in_errors_and_read_up_to_the_limit(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n---\nb: 2\n")
    assert load_all_yaml_file(path) == [{"a": 1}, {"b": 2}]
    path.write_text("a: 1\n")
    assert load_yaml_file(path) == {"a": 1}
    path.write_bytes(b"#" * 200)
    with pytest.raises(YamlError, match=r"x\.yaml: is too large: at most 100 bytes are read"):
        load_yaml_file(path, max_bytes=100)
    with pytest.raises(YamlError, match=r"missing\.yaml: cannot be read: No such file"):
        load_yaml_file(tmp_path / "missing.yaml")


def test_a_file_for_another_loader_may_have_anchors_but_neither_depth_nor_base_60(tmp_path):
    path = tmp_path / "kubeconfig"
    path.write_text("a: &x {b: 1}\nc: *x\nd: 'q:1'\ne: https://a:6443\n")
    require_loadable_file(path)
    for text, message in (
        ("a: " + "[" * 3000 + "]" * 3000, "1:67: nested deeper than 64 levels; make it flatter"),
        ("a: " + "{a: " * 3000 + "}" * 3000, "nested deeper than 64 levels; make it flatter"),
        ("a: 1:2:3", "1:4: '1:2:3' is a number in base 60; quote it"),
    ):
        path.write_text(text)
        with pytest.raises(YamlError, match=re.escape(message)):
            require_loadable_file(path)
