"""Semantic versions: each its text without build metadata, which no comparison sees."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from cel_expr_python import cel

from clusters.simulated.custom_resources.rules.library.declaring import (
    BOOL,
    INT,
    STRING,
    Overload,
    Types,
    function,
    method,
    succeeds,
)

_DIGITS: Final = re.compile(r"[0-9]*")
_IDENTIFIER: Final = re.compile(r"[0-9A-Za-z-]*")
_MAX_UINT64: Final = 2**64 - 1
_Precedence: TypeAlias = tuple[list[int], bool, list[tuple[bool, int, str]]]


def functions(types: Types) -> list[cel.FunctionDecl]:
    """The library `kubernetes.Semver`, but for what it shares with that of quantities."""
    it, signatures = types.semver, ([STRING], [STRING, BOOL])
    return [
        function("semver", *(Overload(it, each, _semver, is_member=False) for each in signatures)),
        function(
            "isSemver",
            *(Overload(BOOL, each, succeeds(_semver), is_member=False) for each in signatures),
        ),
        *(
            method(name, INT, [it], lambda text, place=place: _wrapped(_numbers(text)[place]))
            for place, name in enumerate(("major", "minor", "patch"))
        ),
    ]


def compared(one: str, other: str) -> int:
    left, right = _precedence(one), _precedence(other)
    return (left > right) - (left < right)


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.partition("-")[0].split(".")]


def _wrapped(number: int) -> int:
    """The number of 64 bits without a sign, as one with a sign."""
    return (number + 2**63) % 2**64 - 2**63


def _precedence(text: str) -> _Precedence:
    """Numbers are less than other identifiers, and a prerelease is less than its release."""
    _, dash, prerelease = text.partition("-")
    identifiers = [
        (False, int(each), "") if _DIGITS.fullmatch(each) else (True, 0, each)
        for each in (prerelease.split(".") if dash else ())
    ]
    return _numbers(text), not dash, identifiers


def _semver(text: str, normalize: bool = False) -> str:
    """The version of a text. ValueError, in a real server's words, if it is none."""
    if normalize:
        text = _normalized(text)
    if not text:
        raise ValueError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) < len(_NAMES):
        raise ValueError("No Major.Minor.Patch elements found")
    parts[2], plus, build = parts[2].partition("+")
    parts[2], dash, prerelease = parts[2].partition("-")
    for name, number in zip(_NAMES, parts, strict=True):
        _check_number(name, number)
    if dash:
        _check_prerelease(prerelease.split("."))
    if plus:
        _check_build(build.split("."))
    return ".".join(parts) + dash + prerelease


_NAMES: Final = ("Major", "Minor", "Patch")


def _normalized(text: str) -> str:
    """The text without a leading v and leading zeros, and with all three numbers."""
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    missing = len(_NAMES) - len(parts)
    if missing and re.search("[+-]", parts[-1]):
        raise ValueError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, *["0"] * missing])


def _without_zeros(part: str) -> str:
    if len(part.encode()) < 2:
        return part
    rest = part.lstrip("0")
    return rest if re.match("[0-9]", rest) else f"0{rest}"


def _check_number(name: str, number: str) -> None:
    if not _DIGITS.fullmatch(number):
        raise ValueError(f"Invalid character(s) found in {name.lower()} number {_quoted(number)}")
    if len(number) > 1 and number.startswith("0"):
        raise ValueError(f"{name} number must not contain leading zeroes {_quoted(number)}")
    if not number:
        raise ValueError('strconv.ParseUint: parsing "": invalid syntax')
    _check_range(number)


def _check_prerelease(identifiers: Sequence[str]) -> None:
    for each in identifiers:
        if not each:
            raise ValueError("Prerelease is empty")
        if not _IDENTIFIER.fullmatch(each):
            raise ValueError(f"Invalid character(s) found in prerelease {_quoted(each)}")
        if _DIGITS.fullmatch(each) and len(each) > 1 and each.startswith("0"):
            raise ValueError(
                f"Numeric PreRelease version must not contain leading zeroes {_quoted(each)}"
            )
        if _DIGITS.fullmatch(each):
            _check_range(each)


def _check_range(number: str) -> None:
    if int(number) > _MAX_UINT64:
        raise ValueError(f"strconv.ParseUint: parsing {_quoted(number)}: value out of range")


def _check_build(identifiers: Sequence[str]) -> None:
    for each in identifiers:
        if not each:
            raise ValueError("Build meta data is empty")
        if not _IDENTIFIER.fullmatch(each):
            raise ValueError(f"Invalid character(s) found in build meta data {_quoted(each)}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
