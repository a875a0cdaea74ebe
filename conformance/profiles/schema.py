"""The JSON schema of a profile, made from its types, so that the two cannot differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import msgspec

from conformance import suite
from conformance.profiles.profile import ImplementationProfile
from conformance.report.schema import clean_descriptions

SCHEMA_PATH: Final = Path(__file__).parent / "profile.schema.json"


def schema_text() -> str:
    """The bytes of the file that ships (JSON Schema 2020-12): `fields` is that of any suite."""
    fields = [each.fields for each in suite.load().values() if each.fields is not None]
    (whole, *parts), definitions = msgspec.json.schema_components([ImplementationProfile, *fields])
    name = whole["$ref"].rpartition("/")[2]
    definitions[name]["properties"]["fields"]["anyOf"] = parts
    clean_descriptions(definitions)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://assay.dev/schemas/v1/implementation-profile.json",
        "title": "Assay ImplementationProfile",
        **whole,
        "$defs": definitions,
    }
    return json.dumps(schema, indent=2) + "\n"
