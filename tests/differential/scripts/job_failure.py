"""How Jobs count failures, and how they fail."""

from __future__ import annotations

from tests.differential.dialogue import Dialogue
from tests.differential.predicates import condition
from tests.differential.script import script
from tests.differential.scripts.manifests import fails, job
from vocabulary.kinds import JOB, POD


@script("Without retries the first failed pod fails the Job, in two steps.", ["5.2", "5.4"])
def first_failure_fails(c: Dialogue) -> None:
    c.create(job("a", fails(3), backoffLimit=0))
    c.until(JOB, "a", condition("Failed"))
    c.watch(
        JOB, condition("Failed"), name="a", since="0", distinct=True, show=["status.conditions"]
    )
    c.list(POD)
