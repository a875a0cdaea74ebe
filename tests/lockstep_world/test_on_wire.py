"""A program of its own whose writes are wrong: they meet the same mistakes as a reference's."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.wire.interposed import Mistaken, Noted
from conformance.wire.rules import Mistake, mistake
from tests.lockstep_world.lockstep_run import NAME, LockstepRun, lockstep_run
from vocabulary.clock import HOUR
from vocabulary.errors import ApiError

pytestmark = pytest.mark.slow


def answered(run: LockstepRun, wire: Mistaken | Noted) -> bool:
    """True if the program's answer to a question is stored."""
    api = run.cluster.api
    api.interposed = {NAME: wire.before(api, NAME)}
    run.ask("a")
    run.run_for(HOUR)
    try:
        run.read("answer-a")
    except ApiError:
        return False
    return True


def test_a_write_that_is_left_out_is_answered_and_not_stored(operator: Path) -> None:
    wrong = Mistaken(mistake("left-out:create:ConfigMap"))
    with lockstep_run(operator) as run:
        assert not answered(run, wrong)
        assert run.crashes == []
    assert wrong.times == 1  # it believes that this was done


def test_the_mistakes_that_its_writes_could_have_are_noted(operator: Path) -> None:
    noted = Noted()
    with lockstep_run(operator) as run:
        assert answered(run, noted)
    assert Mistake("left-out", "create:ConfigMap") in noted.mistakes
