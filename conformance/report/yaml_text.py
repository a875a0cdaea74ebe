"""The report's YAML, written and read.

Written by hand since the bytes matter: keys in the order of the types, strings plain where
that cannot be misread and JSON-quoted everywhere else, one line per value. Read through
`safe_yaml`, so a report from a stranger cannot do harm.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.report.conformance_report import API_VERSION, KIND, ConformanceReport
from conformance.report.replacing import left_over, report_at
from conformance.report.stored_report import Flow, StoredReport, from_stored, to_stored
from vocabulary.regular_files import open_regular
from vocabulary.safe_yaml import YamlError, load_yaml_file
from vocabulary.typed_yaml import as_type, field_error

REPORT_NAME: Final = "report.yaml"
"""In a report's folder."""
MAX_REPORT_BYTES: Final = 64 * 1024**2
FIRST_LINE: Final = f"apiVersion: {API_VERSION}".encode()
"""Of every report that Assay writes."""
_LAST_FIELD: Final = [
    field.encode_name for field in msgspec.structs.fields(ConformanceReport) if field.required
][-1]
"""Of those that every report has."""

_PLAIN: Final = re.compile(r"[A-Za-z_/][A-Za-z0-9_./@()-]*(?: [A-Za-z0-9_./@()-]+)*")
_RESERVED: Final = frozenset(
    spelling
    for word in ("true", "false", "yes", "no", "on", "off", "y", "n", "null")
    for spelling in (word, word.capitalize(), word.upper())
)
_UNPRINTABLE: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def write_report(report: ConformanceReport) -> str:
    """The report as YAML."""
    return "\n".join(_lines(to_stored(report), 0)) + "\n"


def report_path(at: Path) -> Path:
    """The report's file, given that or its folder."""
    return at if at.is_file() else report_at(at) / REPORT_NAME


def read_report_at(at: Path) -> ConformanceReport:
    """The report of a folder, or in a file; YamlError where there is none."""
    if not at.exists():
        raise YamlError(
            f"{at}: cannot be read: there is no such file or folder; name a report.yaml, or the "
            "folder of a run"
        )
    return read_report(report_path(at))


def read_report(path: Path) -> ConformanceReport:
    """The report in a file; YamlError with line and field where it is not one."""
    if not path.exists():
        cut_off = (
            f"a run was killed while it wrote {left[0]}; "
            if (left := left_over(path.parent))
            else ""
        )
        raise YamlError(
            f"{path}: cannot be read: there is no such file; {cut_off}name a report.yaml, or the "
            "folder of a run"
        )
    try:
        return _report_in(path)
    except YamlError as error:
        if not _may_be_cut_off(path):
            raise
        raise YamlError(
            f"{error}; the file may be cut off, since it does not come to its last field, "
            f"{_LAST_FIELD}: copy it again from where it was written, or run the suite again"
        ) from error


def _report_in(path: Path) -> ConformanceReport:
    value = load_yaml_file(path, max_bytes=MAX_REPORT_BYTES)
    kind = value.get("kind") if isinstance(value, dict) else None
    if kind != KIND:
        raise field_error(path, "kind", f"expected {KIND}; is this the report.yaml of a run?")
    if value.get("apiVersion") != API_VERSION:
        raise field_error(
            path, "apiVersion", f"expected {API_VERSION}; read it with the Assay that wrote it"
        )
    return from_stored(as_type(value, StoredReport, path), path)


def _may_be_cut_off(path: Path) -> bool:
    """True if a report of Assay's begins there, and does not end as one does."""
    try:
        with open_regular(path) as file:
            text = file.read(MAX_REPORT_BYTES)
    except OSError:
        return False
    begins = text.startswith(FIRST_LINE + b"\n")
    return begins and not re.search(rf"^{_LAST_FIELD}: .+\n".encode(), text, re.MULTILINE)


def dump(value: Any) -> str:
    """Plain data (maps with text keys, lists, scalars) as YAML."""
    return "\n".join(_lines(value, 0)) + "\n"


def _lines(value: Any, indent: int) -> list[str]:
    pad = "  " * indent
    if isinstance(value, dict) and value:
        lines: list[str] = []
        for key, item in value.items():
            head = f"{pad}{_string(key)}:"
            if _is_block(item):
                # A list stands at its key's own indentation, as Kubernetes writes it.
                deeper = indent if isinstance(item, list | tuple) else indent + 1
                lines += [head, *_lines(item, deeper)]
            else:
                lines.append(f"{head} {_scalar(item)}")
        return lines
    if isinstance(value, list | tuple) and value:
        lines = []
        for item in value:
            if _is_block(item):
                first, *rest = _lines(item, indent + 1)
                lines += [f"{pad}- {first[len(pad) + 2 :]}", *rest]
            else:
                lines.append(f"{pad}- {_scalar(item)}")
        return lines
    return [pad + _scalar(value)]


def _is_block(value: Any) -> bool:
    return isinstance(value, dict | list | tuple) and bool(value) and not isinstance(value, Flow)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Flow):
        return f"{{{', '.join(f'{key}: {_scalar(item)}' for key, item in value.items())}}}"
    return "[]" if isinstance(value, list | tuple) else "{}"


def _string(text: str) -> str:
    if _PLAIN.fullmatch(text) and text not in _RESERVED:
        return text
    return _UNPRINTABLE.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    return "\\ufffd" if 0xD800 <= code <= 0xDFFF else f"\\u{code:04x}"
