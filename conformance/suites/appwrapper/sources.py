"""The documents that claims come from, and how a claim cites one."""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Source

FAULT_TOLERANCE: Final = "appwrapper-fault-tolerance"
MLBATCH_GUIDE: Final = "mlbatch-guide"


def overview(sentence: int) -> Source:
    """A sentence of the AppWrapper fault tolerance document, section by section."""
    return Source(FAULT_TOLERANCE, "Overview of Capabilities", sentence)


def progress_guarantees(sentence: int) -> Source:
    return Source(FAULT_TOLERANCE, "Progress Guarantees", sentence)


def detailed_description(sentence: int) -> Source:
    return Source(FAULT_TOLERANCE, "Detailed Description", sentence)


def configuration_details(sentence: int) -> Source:
    return Source(FAULT_TOLERANCE, "Configuration Details", sentence)


def guide(section: str, sentence: int) -> Source:
    """A sentence of the MLBatch guide. Its sections have no headings; these names are ours."""
    return Source(MLBATCH_GUIDE, section, sentence)
