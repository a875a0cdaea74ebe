"""The JSON schema of the report, made from its types, so that the two cannot differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.report.conformance_report import ConformanceReport

SCHEMA_PATH: Final = Path(__file__).parent / "conformance-report.schema.json"


def report_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12)."""
    schema = msgspec.json.schema(ConformanceReport)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://assay.dev/schemas/v1/conformance-report.json",
        "title": "Assay ConformanceReport",
        **schema,
    }


def schema_text() -> str:
    """The bytes of the file that ships."""
    return json.dumps(report_schema(), indent=2) + "\n"
