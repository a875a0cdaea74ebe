"""JS-022, 023: what each action does to the counters."""

from __future__ import annotations

from conformance.norm import Obligations
from conformance.norm.claim import Claim, Level
from conformance.suites.jobset.api import RESTART_JOB_SET, RESTART_UNCOUNTED
from conformance.suites.jobset.claims.matching import as_allowed
from conformance.suites.jobset.judging import judges
from conformance.suites.jobset.sources import api
from conformance.suites.jobset.view import JobSetRun
from conformance.suites.jobset.view.answers import answers

JS_022 = Claim(
    id="JS-022",
    name="restarts-are-limited",
    level=Level.CORE,
    suite="jobset",
    text="RestartJobSet MUST restart the JobSet while fewer than maxRestarts restarts have been "
    "counted, and MUST fail it otherwise.",
    source=api(
        "Restart the JobSet if the number of restart attempts is less than MaxRestarts. "
        "Otherwise, fail the JobSet."
    ),
)


@judges(JS_022, armed_by="failure that restarts the JobSet and counts")
def restarts_are_limited(run: JobSetRun) -> Obligations:
    for answer in answers(run):
        if any(each.action == RESTART_JOB_SET for each in answer.candidates):
            yield as_allowed(run, answer)


JS_023 = Claim(
    id="JS-023",
    name="ignored-restarts-do-not-count",
    level=Level.CORE,
    suite="jobset",
    text="RestartJobSetAndIgnoreMaxRestarts MUST restart the JobSet, however often it has "
    "restarted, and MUST NOT count that towards maxRestarts.",
    source=api("Don't count the failure against maxRestarts."),
)


@judges(JS_023, armed_by="failure that restarts the JobSet and does not count")
def ignored_restarts_do_not_count(run: JobSetRun) -> Obligations:
    for answer in answers(run):
        if any(each.action == RESTART_UNCOUNTED for each in answer.candidates):
            yield as_allowed(run, answer)
