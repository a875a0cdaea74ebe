"""JUnit XML: one suite per profile, one case per claim and scenario.

Inconclusive is an error with its reason, never a pass: the tools which read this know no
third outcome. A claim that no scenario armed is one case of its own, and so is a run that broke
off, in a suite beside the profiles.

Many claims are judged on one run. Its cases share its time in equal parts, so that the times of
a document, which those tools sum, come to that of its runs.

A suite has properties for what its cases have in common. Of a case that passed, which there may be
20,000 of, nothing is written but its name and its time.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.norm.verdict import Outcome
from conformance.report.conformance_report import (
    BROKEN_OFF,
    ClaimReport,
    ClaimTest,
    ConformanceReport,
    RunError,
)
from conformance.report.untrusted import printable

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


_Run: TypeAlias = tuple[str, int]
"""Scenario and seed."""


def junit_xml(report: ConformanceReport) -> str:
    """The whole document."""
    root = Element("testsuites", name="assay")
    seconds = _seconds_of_a_row(report)
    for profile in report.profiles:
        cases = [
            case
            for claim in report.claims
            if claim.profile == profile.name
            for case in _cases(claim, report, seconds)
        ]
        suite = _suite(profile.name, cases)
        shared = {"seed": str(report.reproduce.seed), "cluster": report.environment.cluster}
        suite.insert(0, _properties(shared))
        root.append(suite)
    if report.errors:
        root.append(_suite(BROKEN_OFF, [_broken_off(error, report) for error in report.errors]))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(name: str, cases: Sequence[Element]) -> Element:
    suite = Element("testsuite", name=name, tests=str(len(cases)))
    for plural, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(plural, str(sum(case.find(tag) is not None for case in cases)))
    suite.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.6f}")
    suite.extend(cases)
    return suite


def _seconds_of_a_row(report: ConformanceReport) -> dict[_Run, float]:
    """By run, its wall time divided by the number of rows that it has.

    A row of a campaign counts the variants that tell of its claim; the longest has most of them.
    """
    rows: Counter[_Run] = Counter()
    seconds: dict[_Run, float] = {}
    for claim in report.claims:
        for test in claim.tests:
            run = (test.scenario, test.seed)
            rows[run] += 1
            seconds[run] = max(seconds.get(run, 0.0), test.wall_seconds)
    return {run: seconds[run] / count for run, count in rows.items()}


def _cases(
    claim: ClaimReport, report: ConformanceReport, seconds: dict[_Run, float]
) -> list[Element]:
    if claim.tests:
        return [
            _case(claim, test, report, seconds[test.scenario, test.seed]) for test in claim.tests
        ]
    case = Element("testcase", classname=claim.profile, name=f"{claim.id} {claim.name}", time="0")
    case.append(_claim_properties(claim, report, report.reproduce.seed))
    _outcome(case, claim.outcome, claim.reason, "")
    return [case]


def _case(
    claim: ClaimReport, test: ClaimTest, report: ConformanceReport, seconds: float
) -> Element:
    case = Element(
        "testcase",
        classname=f"{claim.profile}.{claim.id}",
        name=_xml(f"{claim.id} {claim.name} [{test.name}]"),
        time=f"{seconds:.6f}",
    )
    if test.outcome is Outcome.PASSED:
        return case
    case.append(_claim_properties(claim, report, test.seed))
    evidence = "\n".join(
        [
            *(f"fault: {fault}" for fault in test.faults),
            f"history: {test.history or 'not stored'} sha256 {test.history_sha256}",
            f"reproduce: assay run {test.scenario} --seed {test.seed}",
        ]
    )
    because = test.first_violation.because if test.first_violation else test.because
    _outcome(case, test.outcome, because, evidence)
    return case


def _broken_off(error: RunError, report: ConformanceReport) -> Element:
    """Its time stands with the claims that were judged on it."""
    case = Element("testcase", classname=BROKEN_OFF, name=_xml(error.name), time="0")
    case.append(_properties({"seed": str(error.seed), "cluster": report.environment.cluster}))
    message = _xml(printable(error.error))
    SubElement(case, "error", message=message, type="broken off")
    return case


def _claim_properties(claim: ClaimReport, report: ConformanceReport, seed: int) -> Element:
    return _properties(
        {
            "claim": claim.id,
            "level": claim.level,
            "seed": str(seed),
            "cluster": report.environment.cluster,
        }
    )


def _properties(values: Mapping[str, str]) -> Element:
    properties = Element("properties")
    for name, value in values.items():
        SubElement(properties, "property", name=name, value=_xml(value))
    return properties


def _outcome(case: Element, outcome: Outcome, because: str, evidence: str) -> None:
    tag = {
        Outcome.FAILED: "failure",
        Outcome.INCONCLUSIVE: "error",
        Outcome.SKIPPED: "skipped",
        Outcome.UNSUPPORTED: "skipped",
    }.get(outcome)
    if tag is None:
        return
    element = SubElement(case, tag, message=_xml(printable(because)))
    if tag != "skipped":
        element.set("type", str(outcome))
        element.text = _xml("\n".join(printable(line) for line in evidence.splitlines()))


def _xml(text: str) -> str:
    """The text without the characters that no XML document may hold."""
    return _NOT_XML.sub("\ufffd", text)
