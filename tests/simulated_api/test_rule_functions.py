"""Kubernetes' libraries of CEL: what each function returns, and the words of its errors.

All results are those of the Go library of Kubernetes v1.36.3.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulated_api.cluster import Cluster
from tests.simulated_api.test_rules import INTEGERS, TEXT, Ruled, causes, definition, objects
from vocabulary.kinds import CUSTOM_RESOURCE_DEFINITION
from vocabulary.requests import Create

OBJECTS = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}}}


def said(expression: str, value: Any = "x", schema: dict[str, Any] | None = None) -> str:
    """The text that an expression gives for a value, by way of the message of a broken rule."""
    rule = {"rule": "false", "messageExpression": expression, "message": "without a value"}
    server = Ruled(objects(x={**(schema or TEXT), "x-kubernetes-validations": [rule]}))
    [(_, message)] = server.created({"x": value})
    return message.rpartition("Invalid value: ")[2].removeprefix(f'"{value}": ')


def error(expression: str, value: str) -> str:
    """Why an expression has no value."""
    rule = {"rule": f"{expression} == {expression}"}
    server = Ruled(objects(x={**TEXT, "x-kubernetes-validations": [rule]}))
    [(_, message)] = server.created({"x": value})
    return message.removeprefix('Invalid value: "string": ').removesuffix(
        f" evaluating rule: {rule['rule']}"
    )


def complaint(text: str) -> str:
    """Why a rule does not compile."""
    crd = definition(objects({"rule": text, "message": "m"}, x=TEXT, integers=INTEGERS))
    request = Create(CUSTOM_RESOURCE_DEFINITION, crd)
    [(_, message)] = causes(Cluster().refused(request))
    return message.partition("compilation failed: ERROR: ")[2]


@pytest.mark.parametrize(
    ("expression", "value", "result"),
    [
        ("string(isIP(self))", "1.2.3.4", "true"),
        ("string(isIP(self))", "01.2.3.4", "false"),
        ("string(isIP(self))", "::ffff:1.2.3.4", "false"),
        ("string(isIP(self))", "fe80::1%eth0", "false"),
        ("string(ip.isCanonical(self))", "2001:DB8::ABCD", "false"),
        ("string(ip(self))", "2001:DB8:0:0::ABCD", "2001:db8::abcd"),
        ("string(ip(self).family())", "::1", "6"),
        ("string(ip(self).isUnspecified())", "0.0.0.0", "true"),
        ("string(ip(self).isLoopback())", "127.0.0.9", "true"),
        ("string(ip(self).isLinkLocalMulticast())", "ff12::1", "true"),
        ("string(ip(self).isLinkLocalMulticast())", "224.0.1.1", "false"),
        ("string(ip(self).isLinkLocalUnicast())", "169.254.0.1", "true"),
        ("string(ip(self).isGlobalUnicast())", "192.168.0.1", "true"),
        ("string(ip(self).isGlobalUnicast())", "255.255.255.255", "false"),
        ("string(ip(self) == ip('0::1'))", "::1", "true"),
        ("string(isCIDR(self))", "1.2.3.4/33", "false"),
        ("string(cidr(self))", "1.2.3.4/24", "1.2.3.4/24"),
        ("string(cidr(self).masked())", "1.2.3.4/24", "1.2.3.0/24"),
        ("string(cidr(self).ip())", "::1/128", "::1"),
        ("string(cidr(self).prefixLength())", "::1/128", "128"),
        ("string(cidr(self).containsIP('1.2.3.9'))", "1.2.3.4/24", "true"),
        ("string(cidr(self).containsIP(ip('::1')))", "1.2.3.4/24", "false"),
        ("string(cidr(self).containsCIDR('1.2.3.0/25'))", "1.2.3.4/24", "true"),
        ("string(cidr(self).containsCIDR(cidr('1.2.0.0/16')))", "1.2.3.4/24", "false"),
        ("string(isSemver(self))", "v1.0", "false"),
        ("string(isSemver(self, true))", "v1.0", "true"),
        ("string(semver(self, true) == semver('1.2.0'))", "v01.02", "true"),
        (
            "string(semver(self).major() + semver(self).minor() + semver(self).patch())",
            "1.2.3",
            "6",
        ),
        ("string(semver(self).compareTo(semver('1.2.3')))", "1.2.3-alpha.1+b", "-1"),
        ("string(semver(self).isLessThan(semver('1.2.3-10')))", "1.2.3-2", "true"),
        ("string(semver(self).isGreaterThan(semver('1.2.3-10')))", "1.2.3-a", "true"),
        ("string(quantity(self).compareTo(quantity('0.2G')))", "200M", "0"),
        ("string(format.dns1123Label().validate(self).hasValue())", "a", "false"),
        ("format.dns1123Label().validate(self).value()[0]", "a.b", "must not contain dots"),
        ("string(format.dns1123LabelPrefix().validate(self).hasValue())", "a-", "false"),
        ("string(format.named('dns1035Label').value().validate(self).hasValue())", "1a", "true"),
        ("string(format.named('nothing').hasValue())", "x", "false"),
        (
            "format.uuid().validate(self).orValue(['none'])[0]",
            "x",
            "does not match the UUID format",
        ),
        ("format.byte().validate(self).optMap(it, it[0]).orValue('none')", "YQ", "invalid base64"),
        ("format.date().validate(self).value()[0]", "2021-02-30", "invalid date"),
        (
            "format.datetime().validate(self).orValue(['none'])[0]",
            "2021-01-01t23:59:59.5+01:00",
            "none",
        ),
        (
            "format.uri().validate(self).value()[0]",
            "http://a b/",
            'parse "http://a b/": invalid character " " in host name',
        ),
        ("'.validate(' + self + ')'", "x", ".validate(x)"),
        ("url(self).getEscapedPath()", "http://a/'b c'", "/%27b%20c%27"),
        ("url(self).getHostname()", "http://[::1]:80/", "::1"),
        ("url(self).getPort()", "http://[::1]:80/", "80"),
        ("string({'b': 1, 'a': 2}.transformMap(k, v, v > 1, k + ',(')['a'])", "x", "a,("),
        ("{'b': 1, 'a': 2}.transformMapEntry(k, v, {v: k})[2]", "x", "a"),
        ("{'b': 1, 'a': 1}.transformMapEntry(k, v, {v: k})[1]", "x", "without a value"),
        ("string([1, 2].transformList(i, v, i + v)[1])", "x", "3"),
        ("string({'a': 1}.exists(k, v, k == 'a' && v == 1))", "x", "true"),
        ("string([duration('1s'), duration('2s')].sum())", "x", "3s"),
        ("string([timestamp('2024-01-01T00:00:00Z')].max())", "x", "2024-01-01T00:00:00Z"),
        ("string([3, 1].sort()[0] + [1, 2].slice(1, 2)[0])", "x", "3"),
        ("optional.unwrap([optional.of(self), optional.none()])[0] == self ? 'y' : 'n'", "x", "y"),
        ("[optional.none(), optional.of(self)].unwrapOpt()[0] == self ? 'y' : 'n'", "x", "y"),
        ("string({'a': 1, 'b': 1}.exists_one(k, v, v == 1))", "x", "false"),
        ("'%d of %s'.format([2, self])", "x", "2 of x"),
        ("string(sets.intersects([1], [1, 2]))", "x", "true"),
        ("optional.of(self).or(optional.of('y')).value()", "x", "x"),
        ("string(1 < 1.5)", "x", "true"),
    ],
)
def test_functions_return_what_those_of_a_real_server_do(
    expression: str, value: str, result: str
) -> None:
    assert said(expression, value) == result


@pytest.mark.parametrize(
    ("expression", "value", "schema", "result"),
    [
        ("string(self.indexOf(2) * 10 + self.lastIndexOf(2))", [1, 2, 2], INTEGERS, "12"),
        ("string(self.indexOf(7))", [1], INTEGERS, "-1"),
        ("string(self.indexOf(self[1]))", [{"a": 1}, {"a": 2}], OBJECTS, "1"),
        ("string(self.indexOf('b') * 10 + self.lastIndexOf('b'))", "abb", TEXT, "12"),
    ],
)
def test_values_are_found_in_lists_as_in_texts(
    expression: str, value: Any, schema: dict[str, Any], result: str
) -> None:
    assert said(expression, value, schema) == result


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "unable to parse IP"),
        ("%eth0", "missing IPv6 address"),
        ("1.2.3", "IPv4 address too short"),
        ("1.2.3.4.5", "IPv4 address too long"),
        ("01.2.3.4", "IPv4 field has octet with leading zero"),
        ("1.2.3.256", "IPv4 field has value >255"),
        ("1..2.3", 'IPv4 field must have at least one digit (at ".2.3")'),
        ("1.2.3.a", 'unexpected character (at "a")'),
        ("fe80::1%", "zone must be a non-empty string"),
        ("12345::", 'each group must have 4 or less digits (at "12345::")'),
        ("g::", 'each colon-separated field must have at least one digit (at "g::")'),
        ("1:", 'colon must be followed by more characters (at ":")'),
        ("1:2", "address string too short"),
        ("1:2g", 'unexpected character, want colon (at "g")'),
        ("1::2::3", 'multiple :: in address (at ":3")'),
        ("1:2:3:4:5:6:7:8:9", 'trailing garbage after address (at "9")'),
        ("1é:2", 'unexpected character, want colon (at "é:2")'),
        ("1:2:3:4:5:6:7:8::", "the :: must expand to at least one field of zeros"),
        (
            "1:2:1.2.3.4",
            'embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
        ),
        (
            "::1:2:3:4:5:6:7:1.2.3.4",
            'too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
        ),
    ],
)
def test_no_address_says_why(text: str, reason: str) -> None:
    message = error("ip(self)", text)
    assert message == (
        f'IP Address "{text}" parse error during conversion from string: '
        f'ParseAddr("{text}"): {reason}'
    )


@pytest.mark.parametrize(
    ("expression", "value", "message"),
    [
        ("ip(self)", "::1%eth0", 'IP address "::1%eth0" with zone value is not allowed'),
        ("ip(self)", "::ffff:1.2.3.4", 'IPv4-mapped IPv6 address "::ffff:1.2.3.4" is not allowed'),
        ("cidr(self)", "1.2.3.4", "netip.ParsePrefix(\"1.2.3.4\"): no '/'"),
        ("cidr(self)", "1.2.3.4/33", 'netip.ParsePrefix("1.2.3.4/33"): prefix length out of range'),
        ("cidr(self)", "1.2.3.4/08", 'netip.ParsePrefix("1.2.3.4/08"): bad bits after slash: "08"'),
        ("cidr(self)", "x/8", 'netip.ParsePrefix("x/8"): ParseAddr("x"): unable to parse IP'),
        ("semver(self)", "", "Version string empty"),
        ("semver(self)", "1.2", "No Major.Minor.Patch elements found"),
        ("semver(self)", "v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("semver(self)", "1.02.3", 'Minor number must not contain leading zeroes "02"'),
        (
            "semver(self)",
            "1.2.3-01",
            'Numeric PreRelease version must not contain leading zeroes "01"',
        ),
        ("semver(self)", "1.2.3-", "Prerelease is empty"),
        ("semver(self)", "1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
        ("semver(self, true)", "1.2-a", "short version cannot contain PreRelease/Build meta data"),
        ("quantity(self)", "1i", "unable to parse quantity's suffix"),
        ("url(self)", "a", 'parse "a": invalid URI for request'),
        ("url(self)", "http://a:x", 'parse "http://a:x": invalid port ":x" after host'),
        ("self.find(self)", "(", "error parsing regexp: missing closing ): `(`"),
        ("int(self)", "x", "type conversion error from 'string' to 'int'"),
    ],
)
def test_errors_of_functions_are_those_of_a_real_server(
    expression: str, value: str, message: str
) -> None:
    assert error(expression, value).endswith(message)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("ip(self.x) == self.x", "applied to '(net.IP, string)'"),
        (
            "semver(self.x).isLessThan(quantity('1'))",
            "applied to 'kubernetes.Semver.(kubernetes.Quantity)'",
        ),
        ("format.uuid().validate(1).hasValue()", "applied to 'kubernetes.NamedFormat.(int)'"),
        (
            "format.uuid().validate(self.x) == 1",
            "<input>:1:32: found no matching overload for '_==_' applied to "
            "'(optional_type(list(string)), int)'\n"
            " | format.uuid().validate(self.x) == 1\n"
            " | ...............................^",
        ),
        ("string([1]) == ''", "for 'string' applied to '(list(int))'"),
        ("self.x.y", "type 'string' does not support field selection"),
        ("self.x == null", "applied to '(string, null)'"),
        ("duration('1s') > 1", "applied to '(duration, int)'"),
        ("has(self)", "invalid argument to has() macro"),
        ("authorizer.path('/x')", "undeclared reference to 'authorizer'"),
    ],
)
def test_the_checker_knows_the_types_of_kubernetes(rule: str, said: str) -> None:
    assert said in complaint(rule)


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("duration('1d') > duration('1s')", "<input>:1:10: invalid duration argument"),
        ("timestamp('2024-02-30T00:00:00Z') != null", "<input>:1:11: invalid timestamp argument"),
        ("self.x.matches('[a-z') || true", "<input>:1:16: invalid matches argument"),
        ("[1, 'a'].size() == 2", "<input>:1:5: expected type 'int' but found 'string'"),
        ("[self.integers, [self.x]] == []", "<input>:1:17: expected type 'list(int)' but found"),
        ("{'a': 1, 'b': 'x'}.size() == 2", "<input>:1:15: expected type 'int' but found 'string'"),
        ("{'a': 1, 2: 1}.size() == 2", "<input>:1:10: expected type 'string' but found 'int'"),
        ("[1, dyn(2)].size() == 2", "<input>:1:8: expected type 'int' but found 'dyn'"),
        ("[1].indexOf('a') == 1", "<input>:1:12: found no matching overload for 'indexOf'"),
        ("'%d'.format([self.x]) == ''", "<input>:1:18: error during formatting: decimal clause"),
        ("'%s %s'.format([self.x]) == ''", "<input>:1:15: index 1 out of range"),
        ("'%z'.format([self.x]) == ''", "<input>:1:12: could not parse formatting clause"),
        ("''.format([self.x]) == ''", "<input>:1:10: too many arguments supplied to"),
        ("self.x && true", "<input>:1:5: expected type 'bool' but found 'string'"),
        ("true || 1 == 1 && self.x", "<input>:1:23: expected type 'bool' but found 'string'"),
        ("[true,\n false, 1u].size() == 2", "<input>:2:9: expected type 'bool' but found 'uint'"),
    ],
)
def test_literals_are_checked_with_their_expression(rule: str, said: str) -> None:
    assert complaint(rule).startswith(said)


@pytest.mark.parametrize(
    ("schema", "rule", "factor"),
    [
        (objects(x={"type": "string"}), "self.x.contains(self.x)", "more than 100x"),
        (objects(x=TEXT), "self.x.contains(self.x)", ""),
        (
            {"type": "array", "maxItems": 5000, "items": TEXT},
            "self.all(a, self.exists(b, a == b))",
            "55.0x",
        ),
        (
            {"type": "array", "maxItems": 200, "items": TEXT},
            "self.all(a, self.exists(b, a == b))",
            "",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "integer"}},
            "self.all(k, self[k] > 1)",
            "",
        ),
    ],
)
def test_a_definition_beyond_the_limit_of_costs_is_refused(
    schema: dict[str, Any], rule: str, factor: str
) -> None:
    ruled = {**schema, "x-kubernetes-validations": [{"rule": rule, "message": "m"}]}
    crd = definition(objects(it=ruled))
    if not factor:
        Cluster().create(crd, CUSTOM_RESOURCE_DEFINITION)
        return
    (field, message), *_ = causes(Cluster().refused(Create(CUSTOM_RESOURCE_DEFINITION, crd)))
    assert field.endswith("properties[it].x-kubernetes-validations[0].rule")
    assert f"estimated rule cost exceeds budget by factor of {factor}" in message


@pytest.mark.parametrize(
    "rule",
    [
        "duration('1h30m') > duration('-1.5h')",
        "timestamp('2024-01-01T00:00:00+01:00') > timestamp('2023-01-01T00:00:00.5Z')",
        "self.x.matches(r'^\\d+$') || self.x.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
        "self.x == \"duration('x')\" || self.x != 'a' // duration('x')",
        "self.x in ['a', \"b\", 'x'] && [self.x, 'a'].size() == 2",
    ],
)
def test_good_literals_and_those_within_others_pass(rule: str) -> None:
    assert Ruled(objects(rule, x=TEXT)).created({"x": "x"}) == []


def test_a_mistake_beside_an_optional_old_value_is_shown_where_it_is_written() -> None:
    rule = {"rule": "oldSelf.hasValue() &&\n  self.x == 1", "optionalOldSelf": True, "message": "m"}
    request = Create(CUSTOM_RESOURCE_DEFINITION, definition(objects(rule, x=TEXT)))
    (_, message), (field, _) = causes(Cluster().refused(request))
    # A rule that does not compile counts as one without oldSelf.
    assert field.endswith("optionalOldSelf")
    assert message.endswith(
        "ERROR: <input>:2:10: found no matching overload for '_==_' applied to '(string, int)'\n"
        " |   self.x == 1\n"
        " | .........^"
    )
