"""Processes that end abruptly while they are at work for a campaign."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from chaos.plan import Plan
from conformance.running.side_by_side import LostWorkerError, side_by_side
from conformance.running.workers import Task, lost_run
from conformance.scenarios import SCENARIOS

DEADLY = 7


def square(n: int) -> int:
    if n == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    return n * n


def square_unless_first(folder: Path, n: int) -> int:
    """A process that ends abruptly the first time alone."""
    seen = folder / "seen"
    if n == DEADLY and not seen.exists():
        seen.touch()
        os._exit(3)
    return n * n


def refuse(n: int) -> int:
    if n == DEADLY:
        raise ValueError("seven")
    return square(n)


@pytest.mark.parametrize("chunk", [1, 4])
def test_only_the_item_that_ends_its_process_is_lost(chunk: int) -> None:
    with side_by_side(2, many=True) as each:
        results = list(each(square, range(20), chunk, lambda item, how: (item, how)))
        again = list(each(square, range(3), chunk))
    assert results == [(n, "SIGKILL") if n == DEADLY else n * n for n in range(20)]
    assert again == [0, 1, 4]


def test_what_ended_its_process_once_is_made_again(tmp_path: Path) -> None:
    with side_by_side(2, many=True) as each:
        results = list(each(partial(square_unless_first, tmp_path), range(20), 4))
    assert results == [n * n for n in range(20)]


def test_several_items_may_be_lost() -> None:
    with side_by_side(2, many=True) as each:
        results = list(each(ends_if_odd, range(8), 1, lambda item, _: -item))
    assert results == [0, -1, 2, -3, 4, -5, 6, -7]


def ends_if_odd(n: int) -> int:
    if n % 2:
        os._exit(3)
    return n


def test_a_lost_item_is_an_error_that_names_it() -> None:
    with (
        side_by_side(2, many=True) as each,
        pytest.raises(LostWorkerError, match="at work on 7 ended abruptly: SIGKILL"),
    ):
        list(each(square, range(20), 1))


def test_an_exception_is_raised_as_it_is() -> None:
    with side_by_side(2, many=True) as each, pytest.raises(ValueError, match="seven"):
        list(each(refuse, range(20), 1))


def test_a_lost_run_says_how_its_process_ended_and_judges_nothing() -> None:
    scenario = next(iter(SCENARIOS))
    plan = Plan(scenario, seed=3).to_data()
    task = Task(scenario, "reference", 3, plan, "crash after write 2")
    run = lost_run(task, "SIGSEGV")
    assert run.error == "the process that made the run ended abruptly: SIGSEGV"
    assert (run.plan, run.variant, run.verdicts, run.entries) == (plan, task.variant, (), ())
    assert run.header.implementation == "reference"
