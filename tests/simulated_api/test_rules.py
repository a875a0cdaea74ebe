"""`x-kubernetes-validations` in CEL: which definitions are refused, and which objects."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from tests.simulated_api.cluster import Cluster
from vocabulary.errors import ApiError
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from vocabulary.requests import Create, Update

RULED = Kind("test.assay.dev", "v1", "Ruled", "ruleds")
TEXT = {"type": "string", "maxLength": 40}
INTEGER = {"type": "integer"}
INTEGERS = {"type": "array", "maxItems": 9, "items": INTEGER}


def definition(spec: dict[str, Any], *root_rules: dict[str, Any]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {
            "spec": spec,
            "status": {"type": "object", "properties": {"seen": INTEGER}},
        },
    }
    if root_rules:
        schema["x-kubernetes-validations"] = list(root_rules)
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "ruleds.test.assay.dev"},
        "spec": {
            "group": "test.assay.dev",
            "scope": "Namespaced",
            "names": {"plural": "ruleds", "kind": "Ruled"},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
            ],
        },
    }


def objects(*rules: dict[str, Any] | str, **properties: Any) -> dict[str, Any]:
    """The schema of objects with these properties and rules."""
    told = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    schema = {"type": "object", "properties": properties}
    return {**schema, "x-kubernetes-validations": told} if told else schema


def ruled(spec: Any, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "test.assay.dev/v1",
        "kind": "Ruled",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": spec,
        **more,
    }


def causes(error: ApiError) -> list[tuple[str, str]]:
    assert error.code == 422, error
    return [(cause["field"], cause["message"]) for cause in (error.details or {})["causes"]]


class Ruled:
    """A server with one definition."""

    def __init__(self, spec: dict[str, Any], *root_rules: dict[str, Any]) -> None:
        self.cluster = Cluster()
        self.cluster.create(definition(spec, *root_rules), CUSTOM_RESOURCE_DEFINITION)

    def change_definition(self, spec: dict[str, Any]) -> None:
        name = "ruleds.test.assay.dev"
        stored = self.cluster.get(CUSTOM_RESOURCE_DEFINITION, name)
        assert stored is not None
        new = {**stored, "spec": definition(spec)["spec"]}
        self.cluster.user(Update(CUSTOM_RESOURCE_DEFINITION, new))

    def created(self, spec: Any) -> list[tuple[str, str]]:
        """Create it; why it is refused."""
        return self._tried(Create(RULED, ruled(spec)))

    def updated(self, spec: Any) -> list[tuple[str, str]]:
        stored = self.cluster.get(RULED, "a")
        assert stored is not None
        return self._tried(Update(RULED, {**stored, "spec": spec}))

    def reported(self, status: Any) -> list[tuple[str, str]]:
        stored = self.cluster.get(RULED, "a")
        assert stored is not None
        return self._tried(Update(RULED, {**stored, "status": status}, subresource="status"))

    def _tried(self, request: Any) -> list[tuple[str, str]]:
        try:
            self.cluster.user(request)
        except ApiError as error:
            return causes(error)
        return []


def refused_definition(spec: dict[str, Any]) -> list[tuple[str, str]]:
    request = Create(CUSTOM_RESOURCE_DEFINITION, definition(spec))
    return causes(Cluster().refused(request))


def test_the_library_is_loaded_with_the_first_rule() -> None:
    code = (
        "import sys\n"
        "from tests.simulated_api.test_rules import INTEGER, Ruled, objects\n"
        "library = 'cel_expr_python'\n"
        "Ruled(objects(size=INTEGER)).created({'size': 1})\n"
        "before = library in sys.modules\n"
        "Ruled(objects('self.size > 1', size=INTEGER))\n"
        "print(before, library in sys.modules)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False True\n"


def test_a_rule_refuses_objects_with_its_message_and_passes_others() -> None:
    rule = {"rule": "self.least <= self.most", "message": "  least is more than most "}
    server = Ruled(objects(rule, least=INTEGER, most=INTEGER))
    said = [("spec", "Invalid value: least is more than most")]
    assert server.created({"least": 2, "most": 1}) == said
    assert server.created({"least": 1, "most": 1}) == []
    assert server.updated({"least": 3, "most": 1}) == said


def test_a_rule_without_a_message_is_its_own_and_scalars_are_shown() -> None:
    server = Ruled(objects(size={**INTEGER, "x-kubernetes-validations": [{"rule": " self > 1 "}]}))
    assert server.created({"size": 1}) == [("spec.size", "Invalid value: 1: failed rule: self > 1")]


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("FieldValueForbidden", "Forbidden: no"),
        ("FieldValueRequired", "Required value: no"),
        ("FieldValueDuplicate", 'Duplicate value: "x"'),
        ("FieldValueInvalid", 'Invalid value: "x": no'),
    ],
)
def test_a_reason_words_the_refusal(reason: str, said: str) -> None:
    rule = {"rule": "self == 'y'", "message": "no", "reason": reason}
    server = Ruled(objects(name={**TEXT, "x-kubernetes-validations": [rule]}))
    assert server.created({"name": "x"}) == [("spec.name", said)]


def test_a_message_expression_says_what_is_wrong_and_its_failure_leaves_the_message() -> None:
    expression = "'at most %d, not %d'.format([self.most, self.items[0]])"
    rule = {"rule": "self.size <= self.most", "message": "too many"}
    items = {"type": "array", "items": INTEGER}
    server = Ruled(
        objects({**rule, "messageExpression": expression}, size=INTEGER, most=INTEGER, items=items)
    )
    spec = {"size": 3, "most": 2}
    assert server.created({**spec, "items": [7]}) == [("spec", "Invalid value: at most 2, not 7")]
    assert server.created({**spec, "items": []}) == [("spec", "Invalid value: too many")]


def test_a_transition_rule_waits_for_an_old_value_and_also_judges_an_unchanged_one() -> None:
    server = Ruled(objects("self.size > oldSelf.size", size=INTEGER, other=TEXT))
    said = [("spec", "Invalid value: failed rule: self.size > oldSelf.size")]
    assert server.created({"size": 1}) == []
    assert server.updated({"size": 1, "other": "x"}) == said
    assert server.updated({"size": 1}) == said
    assert server.updated({"size": 2}) == []


def test_a_value_that_may_not_change_may_be_set_and_removed() -> None:
    fixed = {**TEXT, "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed"}]}
    server = Ruled(objects(name=fixed, other=TEXT))
    assert server.created({}) == []
    assert server.updated({"name": "a"}) == []
    assert server.updated({"name": "a", "other": "x"}) == []
    assert server.updated({"name": "b"}) == [("spec.name", 'Invalid value: "b": fixed')]
    assert server.updated({}) == []


def test_the_first_value_is_judged_too_with_an_optional_old_one() -> None:
    rule = {
        "rule": "oldSelf.hasValue() ? self >= oldSelf.value() : self == 0",
        "optionalOldSelf": True,
        "message": "begins with 0 and grows",
    }
    server = Ruled(objects(size={**INTEGER, "x-kubernetes-validations": [rule]}))
    assert server.created({"size": 1}) == [
        ("spec.size", "Invalid value: 1: begins with 0 and grows")
    ]
    assert server.created({"size": 0}) == []
    assert server.updated({"size": 3}) == []
    assert server.updated({"size": 2}) != []


def test_a_broken_rule_is_no_error_where_an_update_leaves_the_value_as_it_was() -> None:
    part = objects(size=INTEGER)
    server = Ruled(objects(part=part, other=TEXT))
    assert server.created({"part": {"size": 1}}) == []
    server.change_definition(objects(part=objects("self.size > 1", size=INTEGER), other=TEXT))
    assert server.updated({"part": {"size": 1}, "other": "x"}) == []
    assert server.updated({"part": {"size": 0}, "other": "x"}) != []


def test_a_rule_without_a_value_for_a_stored_object_is_an_error_even_if_nothing_changed() -> None:
    server = Ruled(objects(part=objects(size=INTEGER), other=TEXT))
    assert server.created({"part": {}}) == []
    server.change_definition(objects(part=objects("self.size > 1", size=INTEGER), other=TEXT))
    assert server.updated({"part": {}, "other": "x"}) == [
        (
            "spec.part",
            'Invalid value: "object": no such key: size evaluating rule: self.size > 1',
        )
    ]


def test_entries_of_a_keyed_list_are_compared_with_those_of_the_same_key() -> None:
    entries = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
        "items": {
            **objects({"rule": "self.size == oldSelf.size", "message": "fixed"}, size=INTEGER),
            "required": ["name"],
        },
    }
    entries["items"]["properties"]["name"] = TEXT
    server = Ruled(objects(entries=entries))
    a, b = {"name": "a", "size": 1}, {"name": "b", "size": 2}
    assert server.created({"entries": [a, b]}) == []
    assert server.updated({"entries": [b, a]}) == []
    assert server.updated({"entries": [{"name": "c", "size": 9}, a]}) == []
    assert server.updated({"entries": [{**a, "size": 5}]}) == [
        ("spec.entries[0]", "Invalid value: fixed")
    ]


def test_the_order_of_sets_and_keyed_lists_does_not_matter_and_that_of_others_does() -> None:
    def server(**kind: Any) -> Ruled:
        items = {"type": "array", "items": objects(name=TEXT), **kind}
        return Ruled({**objects("self == oldSelf", items=items)})

    a, b = {"name": "a"}, {"name": "b"}
    keyed = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
    for kind, is_kept in (({}, False), ({"x-kubernetes-list-type": "set"}, True), (keyed, True)):
        ruled_by = server(**kind)
        assert ruled_by.created({"items": [a, b]}) == []
        assert (ruled_by.updated({"items": [b, a]}) == []) is is_kept
        assert ruled_by.updated({"items": [a]}) != []


def test_values_of_maps_are_named_by_their_keys_and_compared_with_those_before() -> None:
    value = {**INTEGER, "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
    server = Ruled(objects(counts={"type": "object", "additionalProperties": value}))
    assert server.created({"counts": {"a.b": 2, "c": 1}}) == []
    assert server.updated({"counts": {"a.b": 1, "c": 1, "d": 0}}) == [
        ("spec.counts[a.b]", "Invalid value: 1: failed rule: self >= oldSelf")
    ]


def test_rules_of_the_whole_object_see_spec_status_and_its_name_also_when_a_status_is_written() -> (
    None
):
    rule = {"rule": "!has(self.status) || self.status.seen <= self.spec.size", "message": "seen"}
    name = {"rule": "self.metadata.name.startsWith('a')", "message": "name"}
    server = Ruled(objects(size=INTEGER), rule, name)
    assert server.created({"size": 2}) == []
    assert server.reported({"seen": 3}) == [("<nil>", "Invalid value: seen")]
    assert server.reported({"seen": 2}) == []
    assert server.updated({"size": 1}) == [("<nil>", "Invalid value: seen")]
    other = {**ruled({"size": 1}), "metadata": {"name": "b", "namespace": "default"}}
    assert causes(server.cluster.refused(Create(RULED, other))) == [
        ("<nil>", "Invalid value: name")
    ]


def test_rules_are_not_evaluated_where_the_structure_is_wrong() -> None:
    server = Ruled({**objects("self.size > 1", size=INTEGER), "required": ["size"]})
    fields = [field for field, _ in server.created({})]
    assert fields == ["spec.size", "<nil>"]


@pytest.mark.parametrize(
    ("rule", "schema", "good", "bad"),
    [
        ("self.x < 1.5", {"type": "number"}, 1, 2),
        ("type(self.x) == int ? self.x > 1 : self.x == '50%'", "int-or-string", "50%", "5%"),
        ("type(self.x) == int ? self.x > 1 : self.x == '50%'", "int-or-string", 2, 1),
        ("self.x > duration('1h')", {**TEXT, "format": "duration"}, "90m", "1m"),
        (
            "self.x > timestamp('2024-01-01T00:00:00Z')",
            {**TEXT, "format": "date-time"},
            "2024-01-01T01:00:00+00:30",
            "2024-01-01T01:00:00+02:00",
        ),
        ("self.x.size() == 2", {**TEXT, "format": "byte"}, "YWI=", "YQ=="),
        ("self.x.size() == 2", TEXT, "äö", "ä"),
        ("self.x.all(e, e > 0)", INTEGERS, [1, 2], [1, 0]),
        ("self.x.exists_one(e, e > 0)", INTEGERS, [1, 0], [1, 2]),
        ("self.x.filter(e, e > 0).size() == 1", INTEGERS, [1], [0]),
        ("self.x.map(e, e * 2) == [4]", INTEGERS, [2], [1]),
        ("self.x.isSorted() && self.x.sum() == 3", INTEGERS, [3], [2]),
        (
            "self.x.max() == 3 && self.x.min() == 1",
            {"type": "array", "items": INTEGER},
            [1, 3],
            [3],
        ),
        ("quantity(self.x).isGreaterThan(quantity('500m'))", TEXT, "1Ki", "0.5"),
        ("quantity(self.x).add(quantity('1')).sub(1) == quantity('1k')", TEXT, "1000", "1"),
        ("isQuantity(self.x) && quantity(self.x).asInteger() == 2", TEXT, "2000m", "x"),
        ("isURL(self.x) && url(self.x).getHost() == 'a:8'", TEXT, "http://a:8/b", "a b"),
        ("self.x.find('[0-9]+') == '12'", TEXT, "a12b3", "a1"),
        ("self.x.findAll('[0-9]+', 1) == ['1']", TEXT, "a1b3", "a"),
        ("self.x.matches('^a+$')", TEXT, "aa", "ab"),
        ("self.x.lowerAscii().split('-') == ['a', 'b']", TEXT, "A-b", "A"),
        ("sets.contains(['a', 'b'], self.x)", {"type": "array", "items": TEXT}, ["b"], ["c"]),
        ("has(self.x) && self.x", {"type": "boolean"}, True, False),
    ],
)
def test_expressions_see_values_as_their_schema_says(
    rule: str, schema: Any, good: Any, bad: Any
) -> None:
    if schema == "int-or-string":
        schema = {"x-kubernetes-int-or-string": True}
    server = Ruled(objects(rule, x=schema))
    assert server.created({"x": bad}) == [("spec", f"Invalid value: failed rule: {rule}")]
    assert server.created({"x": good}) == []


def test_fields_with_names_that_are_no_identifiers_are_escaped() -> None:
    rule = "self.namespace == self.__namespace__ && self.a__dash__b == 'x' && self.c__dot__d == 1"
    properties = {"namespace": TEXT, "a-b": TEXT, "c.d": INTEGER}
    server = Ruled(objects(rule, **properties))
    assert server.created({"namespace": "n", "a-b": "x", "c.d": 2}) != []
    assert server.created({"namespace": "n", "a-b": "x", "c.d": 1}) == []


@pytest.mark.parametrize(
    ("rule", "spec", "said"),
    [
        ("self.a > 0", {}, "no such key: a evaluating rule: self.a > 0"),
        ("self.list[3] > 0", {"list": [1]}, "index out of bounds: 3 evaluating rule: "),
        ("1 / self.a > 0", {"a": 0}, "division by zero evaluating rule: 1 / self.a > 0"),
        ("self.any > 1", {"any": "x"}, "'no such overload': call arguments did not match"),
        (
            "sign(quantity(self.text)) == 1",
            {"text": "x"},
            "evaluating rule: sign(quantity(self.text))",
        ),
        ("self.text.matches(self.text)", {"text": "("}, "evaluating rule: self.text.matches"),
    ],
)
def test_an_expression_without_a_value_refuses_the_object(
    rule: str, spec: dict[str, Any], said: str
) -> None:
    server = Ruled(
        objects(
            rule,
            a=INTEGER,
            list={"type": "array", "items": INTEGER},
            any={"x-kubernetes-int-or-string": True},
            text=TEXT,
        )
    )
    ((field, message),) = server.created(spec)
    assert field == "spec"
    assert message.startswith('Invalid value: "object": ')
    assert said in message


RULE_PATH = "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]"


@pytest.mark.parametrize(
    ("rule", "field", "said"),
    [
        ({"rule": "self.absent == 1"}, "rule", "<input>:1:5: undefined field 'absent'"),
        (
            {"rule": "self.size == 'x'"},
            "rule",
            "found no matching overload for '_==_' applied to '(int, string)'",
        ),
        (
            {"rule": "'a'.replace(self.size, {'a': 1}) == ''"},
            "rule",
            "for 'replace' applied to 'string.(int, map(string, int))'",
        ),
        ({"rule": "size(self.size) == 1"}, "rule", "for 'size' applied to '(int)'"),
        ({"rule": "self.size >"}, "rule", "Syntax error: mismatched input '<EOF>'"),
        ({"rule": "self.size"}, "rule", "cel expression must evaluate to a bool"),
        ({"rule": "self.fill()"}, "rule", "undeclared reference to 'fill'"),
        ({"rule": " "}, "rule", "Required value: rule is not specified"),
        ({"rule": "true", "message": " "}, "message", "must be non-empty if specified"),
        ({"rule": "true", "message": "a\nb"}, "message", "must not contain line breaks"),
        ({"rule": "true\n"}, "rule", ""),
        ({"rule": "true\n&& true"}, "message", "must be specified if rule contains line breaks"),
        ({"rule": "true", "reason": "No"}, "reason", 'Unsupported value: "No"'),
        (
            {"rule": "true", "messageExpression": "1"},
            "messageExpression",
            "messageExpression must evaluate to a string",
        ),
        (
            {"rule": "true", "messageExpression": "self.absent"},
            "messageExpression",
            "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'absent'",
        ),
        ({"rule": "true", "optionalOldSelf": True}, "optionalOldSelf", "if oldSelf is not used"),
        ({"rule": "true", "fieldPath": ".none"}, "fieldPath", "must be a valid path"),
        ({"rule": "true", "fieldPath": "size"}, "fieldPath", "must be a valid path"),
        ({"rule": "true", "fieldPath": ".size.a"}, "fieldPath", "must be a valid path"),
    ],
)
def test_a_definition_with_a_wrong_rule_is_refused(
    rule: dict[str, Any], field: str, said: str
) -> None:
    spec = objects(rule, size=INTEGER)
    if not said:
        assert Ruled(spec).created({}) == []
        return
    ((where, message),) = refused_definition(spec)
    assert where == f"{RULE_PATH}.{field}"
    assert said in message


def test_the_old_value_cannot_be_asked_for_where_entries_have_no_keys() -> None:
    item = {**INTEGER, "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]}
    ((where, message),) = refused_definition(objects(sizes={"type": "array", "items": item}))
    path = "spec.validation.openAPIV3Schema.properties[spec].properties[sizes]"
    assert where == f"{path}.items.x-kubernetes-validations[0].rule"
    assert message.endswith(f"on the uncorrelatable portion of the schema within {path}")


def test_a_path_that_is_blank_is_refused_twice_and_with_a_line_break_too() -> None:
    for path, complaint in ((" ", "must be non-empty if specified"), (".a\n", "line breaks")):
        found = refused_definition(objects({"rule": "true", "fieldPath": path}, size=INTEGER))
        assert {field for field, _ in found} == {f"{RULE_PATH}.fieldPath"}
        assert [complaint in found[0][1], "must be a valid path" in found[1][1]] == [True, True]


def test_rules_below_all_of_and_the_like_are_refused() -> None:
    ruled_part = {"x-kubernetes-validations": [{"rule": "true"}]}
    for quantified, where in (
        ({"allOf": [{}, ruled_part]}, "allOf[1]"),
        ({"anyOf": [{"properties": {"size": ruled_part}}]}, "anyOf[0].properties[size]"),
        ({"oneOf": [{"not": ruled_part}]}, "oneOf[0].not"),
        ({"not": {"items": ruled_part}}, "not.items"),
    ):
        [(field, message)] = refused_definition({**objects(size=INTEGER), **quantified})
        assert field.endswith(f"properties[spec].{where}.x-kubernetes-validations")
        assert message == "Forbidden: must be empty to be structural"


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (".a", "spec.part.a"),
        (".b['c.d']", "spec.part.b.c.d"),
        (".m['k'].x", "spec.part.m[k].x"),
        (".m.k", "spec.part.m[k]"),
    ],
)
def test_a_refusal_names_the_field_to_which_its_rule_points(path: str, field: str) -> None:
    entries = {"type": "object", "additionalProperties": objects(x=TEXT)}
    rule = {"rule": "false", "message": "no", "fieldPath": path, "reason": "FieldValueRequired"}
    part = objects(rule, a=INTEGER, b=objects(**{"c.d": TEXT}), m=entries)
    assert Ruled(objects(part=part)).created({"part": {}}) == [(field, "Required value: no")]


def test_a_rule_of_the_whole_object_may_point_to_a_field() -> None:
    server = Ruled(objects(size=INTEGER), {"rule": "false", "fieldPath": ".spec.size"})
    assert server.created({}) == [("spec.size", "Invalid value: failed rule: false")]
