"""JUnit XML: one suite per profile, one case per claim and scenario.

Inconclusive is an error with its reason, never a pass: the tools which read this know no
third outcome. A claim that no scenario armed is one case of its own.
"""

from __future__ import annotations

import re
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from conformance.report.conformance_report import ClaimReport, ClaimTest, ConformanceReport
from conformance.report.untrusted import printable
from conformance.verdict import Outcome

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(report: ConformanceReport) -> str:
    """The whole document."""
    root = Element("testsuites", name="assay")
    for profile in report.profiles:
        suite = SubElement(root, "testsuite", name=profile.name)
        cases = [
            case
            for claim in report.claims
            if claim.profile == profile.name
            for case in _cases(claim, report)
        ]
        suite.extend(cases)
        for name, tags in (
            ("tests", None),
            ("failures", ("failure",)),
            ("errors", ("error",)),
            ("skipped", ("skipped",)),
        ):
            count = sum(tags is None or case.find(tags[0]) is not None for case in cases)
            suite.set(name, str(count))
        suite.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.6f}")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _cases(claim: ClaimReport, report: ConformanceReport) -> list[Element]:
    if claim.tests:
        return [_case(claim, test, report) for test in claim.tests]
    case = Element("testcase", classname=claim.profile, name=f"{claim.id} {claim.name}", time="0")
    _properties(case, claim, report, str(report.reproduce.seed))
    _outcome(case, claim.outcome, claim.reason, "")
    return [case]


def _case(claim: ClaimReport, test: ClaimTest, report: ConformanceReport) -> Element:
    case = Element(
        "testcase",
        classname=f"{claim.profile}.{claim.id}",
        name=_xml(f"{claim.id} {claim.name} [{test.name}]"),
        time=f"{test.wall_seconds:.6f}",
    )
    _properties(case, claim, report, str(test.seed))
    evidence = "\n".join(
        [
            *(f"fault: {fault}" for fault in test.faults),
            f"history: {test.history or 'not stored'} sha256 {test.history_sha256}",
            f"reproduce: assay run {test.name.partition(' ')[0]} --seed {test.seed}",
        ]
    )
    because = test.first_violation.because if test.first_violation else test.because
    _outcome(case, test.outcome, because, evidence)
    return case


def _properties(case: Element, claim: ClaimReport, report: ConformanceReport, seed: str) -> None:
    properties = SubElement(case, "properties")
    for name, value in (
        ("claim", claim.id),
        ("level", claim.level),
        ("seed", seed),
        ("cluster", report.environment.cluster),
    ):
        SubElement(properties, "property", name=name, value=_xml(value))


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
