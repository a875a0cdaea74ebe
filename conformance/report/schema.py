"""The JSON schema of the report, made from its types, so that the two cannot differ."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.report.stored_report import StoredReport

SCHEMA_PATH: Final = Path(__file__).parent / "conformance-report.schema.json"


def report_schema() -> dict[str, Any]:
    """The schema (JSON Schema 2020-12)."""
    schema = msgspec.json.schema(StoredReport)
    clean_descriptions(schema["$defs"])
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://assay.dev/schemas/v1/conformance-report.json",
        "title": "Assay ConformanceReport",
        **schema,
    }


def clean_descriptions(definitions: dict[str, Any]) -> None:
    """Take the source's indentation out of descriptions: from 3.13 on, Python does so itself."""
    for definition in definitions.values():
        if "description" in definition:
            definition["description"] = inspect.cleandoc(definition["description"])


def schema_text() -> str:
    """The bytes of the file that ships."""
    return json.dumps(report_schema(), indent=2) + "\n"
