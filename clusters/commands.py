"""Containers' commands whose course is plain: how long they run, and the code that they exit with.

Most examples sleep and exit, by themselves or in a shell: `sleep 100s`,
`sh -c "echo starting && sleep 10; exit 1"`. A script with anything else in it, a loop for instance,
is not understood, and neither is a container that leaves its command to its image.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from clusters.behaviour import EXIT, MAX_EXIT_CODE, READY_AFTER, RUN_FOR
from vocabulary.clock import DAY, HOUR, MINUTE, SECOND, Micros
from vocabulary.durations import format_duration
from vocabulary.objects import Object

_SHELLS: Final = ("sh", "bash", "ash", "dash")
_FLAGS: Final = re.compile(r"-[elux]*c")
_PUNCTUATION: Final = ";&|<>()\n"
_SLEEP: Final = re.compile(r"([0-9]{1,8})(?:\.([0-9]{1,6}))?([smhd]?)")
_UNIT_US: Final = {"": SECOND, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY}
_CODES: Final = {"true": 0, "false": 1, "echo": 0}


class UnknownCommandError(Exception):
    """The course of a container is not plain; the message names the container."""


@dataclass(frozen=True, slots=True)
class _Course:
    ran_us: Micros
    code: int | None
    """None: it runs on."""
    is_over: bool = False
    """It has exited, whatever comes after it in a script."""


def behaviour_of(pod_spec: Object) -> Mapping[str, str]:
    """The single annotations that say what the commands of a pod's containers do; raises
    UnknownCommandError."""
    wishes: dict[str, str] = {}
    waits_us = 0
    for container in pod_spec.get("initContainers") or ():
        if container.get("restartPolicy") != "Always":
            course = _course_of(container)
            if course.code != 0:
                raise _unknown(container)
            waits_us += course.ran_us
    if waits_us:
        wishes[READY_AFTER] = format_duration(waits_us)
    containers = [*(pod_spec.get("containers") or ())]
    courses = [_course_of(each) for each in containers]
    codes = {each.code for each in courses}
    if None in codes:
        return wishes
    if len(codes) != 1:
        raise _unknown(containers[0])
    longest_us = max(each.ran_us for each in courses)
    return {**wishes, RUN_FOR: format_duration(longest_us), EXIT: str(codes.pop())}


def output_of(container: Object) -> str:
    """The lines that `echo` writes in a container's command, until that ends."""
    words = [*map(str, container.get("command") or ()), *map(str, container.get("args") or ())]
    if not words:
        return ""
    program = words[0].removeprefix("/usr").removeprefix("/bin/")
    if program == "echo":
        return " ".join(words[1:]) + "\n"
    if program not in _SHELLS or len(words) != 3 or not _FLAGS.fullmatch(words[1]):
        return ""
    written: list[str] = []
    code = 0
    try:
        for joined_by, command in _commands(words[2]):
            if (joined_by == "&&" and code != 0) or (joined_by == "||" and code == 0):
                continue
            if command[0] == "echo":
                written.append(" ".join(command[1:]) + "\n")
            course = _course_of_command(command, code)
            if course is None or course.is_over:
                break
            code = course.code or 0
    except ValueError:
        return ""
    return "".join(written)


def _unknown(container: Object) -> UnknownCommandError:
    return UnknownCommandError(f"the command of container {container.get('name')!r}")


def _course_of(container: Object) -> _Course:
    command, arguments = container.get("command"), container.get("args") or []
    if not (isinstance(command, list) and command and isinstance(arguments, list)):
        raise _unknown(container)
    words = [*map(str, command), *map(str, arguments)]
    program = words[0].removeprefix("/usr").removeprefix("/bin/")
    course = None
    if program in _SHELLS:
        if len(words) == 3 and _FLAGS.fullmatch(words[1]):
            course = _course_of_script(words[2], stops_at_errors="e" in words[1])
    elif program in ("sleep", *_CODES):
        course = _course_of_command([program, *words[1:]], 0)
    if course is None:
        raise _unknown(container)
    return course


def _course_of_script(text: str, *, stops_at_errors: bool) -> _Course | None:
    try:
        commands = [*_commands(text)]
    except ValueError:
        return None
    ran_us, code = 0, 0
    for number, (joined_by, words) in enumerate(commands):
        if (joined_by == "&&" and code != 0) or (joined_by == "||" and code == 0):
            continue
        course = _course_of_command(words, code)
        if course is None:
            return None
        ran_us += course.ran_us
        if course.code is None or course.is_over:
            return _Course(ran_us, course.code)
        code = course.code
        is_tested = any(sign != ";" for sign, _ in commands[number + 1 : number + 2])
        if stops_at_errors and code != 0 and not is_tested:
            break
    return _Course(ran_us, code)


def _commands(script: str) -> Iterator[tuple[str, list[str]]]:
    """Each command's words, and the sign that joins it to the one before: `;`, `&&` or `||`. Raises
    ValueError for what is no plain sequence."""
    lexer = shlex.shlex(script, posix=True, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t\r", "", True
    joined_by, words = ";", list[str]()
    for token in lexer:
        if not set(token) <= set(_PUNCTUATION):
            words.append(token)
            continue
        sign = token.replace("\n", "") or ";"
        if sign not in (";", "&&", "||"):
            raise ValueError(token)
        if words:
            yield joined_by, words
            joined_by, words = sign, []
        elif sign != ";":
            raise ValueError(token)
    if words:
        yield joined_by, words


def _course_of_command(words: list[str], code_before: int) -> _Course | None:
    name, *arguments = words
    if name in _CODES:
        return _Course(0, _CODES[name])
    argument = " ".join(arguments)
    if name == "exit":
        if not argument:
            return _Course(0, code_before, is_over=True)
        known = argument.isdecimal() and int(argument) <= MAX_EXIT_CODE
        return _Course(0, int(argument), is_over=True) if known else None
    if name != "sleep":
        return None
    if argument == "infinity":
        return _Course(0, None)
    amount = _SLEEP.fullmatch(argument)
    if amount is None:
        return None
    unit_us = _UNIT_US[amount[3]]
    fraction_us = int((amount[2] or "").ljust(6, "0")) * unit_us // SECOND
    return _Course(int(amount[1]) * unit_us + fraction_us, 0)
