"""Detect an input file's type (plan, profile, report, history, audit log, kubeconfig) by its
beginning.

A command that is given the wrong type reports the file's type and the command for it, not that its
first field is unknown. Unknown files are left to the command's own reader, which reports the
errors. Only the beginning is read: reports are large, and broken files have types, too.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from conformance.cli.problems import BadInputError
from conformance.suite import load as suites

T = TypeVar("T")

_MAX_BYTES: Final = 256 * 1024
"""Of a file, unpacked: more than any history's header has."""
_YAML_FIELD: Final = re.compile(r"^([A-Za-z][\w-]*):[ \t]*([^\s#]*)[^\n]*$", re.MULTILINE)


class FileKind(NamedTuple):
    """A type of input file."""

    name: str
    """With its article."""
    taken_by: str
    """The purpose of such files."""
    found: str
    """Where to find such a file."""


PLAN: Final = FileKind(
    "a plan",
    "assay replay",
    "there is one beside the page of each failure, as .assay/aw-015.yaml",
)
REPORT: Final = FileKind(
    "a run's report",
    "assay verify, assay compare or assay report",
    "assay run writes one, .assay/report.yaml",
)
PROFILE: Final = FileKind(
    "an implementation profile",
    "assay profile check, or --implementation of assay run",
    "assay profile list names those that are shipped, docs/profiles.md tells how to write one",
)
EXPERIMENT: Final = FileKind(
    "an experiment of the Chaos Toolkit", "assay chaos", "as chaos/experiments/pod-kill.yaml"
)
CONFIGURATION: Final = FileKind(
    "an operator's configuration",
    "--config of assay check --audit-log, or of assay controller run",
    "the file that the operator is started with",
)
KUBECONFIG: Final = FileKind(
    "a kubeconfig", "--kubeconfig", "kubectl has its own in ~/.kube/config"
)
HISTORY: Final = FileKind(
    "a history", "assay check", "assay run writes one for each run, to .assay/histories"
)
AUDIT_LOG: Final = FileKind(
    "an audit log",
    "assay check --audit-log",
    "the API server writes one, to its --audit-log-path",
)
PAGE: Final = FileKind("a page", "a browser", "assay run writes one, .assay/index.html")
MANIFEST: Final = FileKind(
    "a Kubernetes manifest", "kubectl apply", "assay controller manifests prints some"
)

_BY_KIND: Final = {
    "ConformanceReport": REPORT,
    "ImplementationProfile": PROFILE,
    "Config": KUBECONFIG,
}


def only(wanted: FileKind) -> Callable[[T], T]:
    """A callback for an option or an argument (a path, a name that may be one, or several):
    BadInputError for a file that is of another kind."""

    def refuse_others(given: T) -> T:
        for each in given if isinstance(given, list | tuple) else [given]:
            if each is not None:
                _require(wanted, each)
        return given

    return refuse_others


def kind_of_file(path: Path) -> FileKind | None:
    """Return the file's type; None if it is unknown, or cannot be read.

    A directory with a report counts as a report, since reports are shared as directories.
    """
    if path.is_dir():
        return REPORT if (path / "report.yaml").is_file() else None
    # What a pipe tells here, its reader would never see.
    text = _beginning(path) if path.is_file() else ""
    if text[:100].lstrip().lower().startswith(("<!doctype html", "<html")):
        return PAGE
    return _kind_of(_fields(text))


def _require(wanted: FileKind, given: Any) -> None:
    path = Path(given)
    # What was typed as a name may be that of a folder here, too.
    if isinstance(given, str) and not path.is_file():
        return
    kind = kind_of_file(path)
    if kind is not None and kind is not wanted:
        raise BadInputError(
            f"{path}: is {kind.name}, which is for {kind.taken_by}; "
            f"expected {wanted.name}: {wanted.found}"
        )


def _beginning(path: Path) -> str:
    """As text, whatever it is; empty if it cannot be read."""
    try:
        with path.open("rb") as plain:
            data = plain.read(_MAX_BYTES)
    except OSError:
        return ""
    if data.startswith(b"\x1f\x8b"):
        try:
            data = zlib.decompressobj(wbits=31).decompress(data, _MAX_BYTES)
        except zlib.error:
            return ""
    return data.decode("utf-8-sig", "replace")


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of its first line, if that is JSON, or else those of YAML that is not indented,
    each with the first word on its line."""
    if text.lstrip().startswith("{"):
        for part in (text.partition("\n")[0], text):
            try:
                found = json.loads(part)
            except (ValueError, RecursionError):
                continue
            return found if isinstance(found, dict) else {}
        return {}
    return {name: word.strip("\"'") for name, word in _YAML_FIELD.findall(text)}


def _kind_of(fields: Mapping[str, Any]) -> FileKind | None:
    kind, api_version = fields.get("kind"), fields.get("apiVersion")
    if fields.get("type") == "header":
        return HISTORY
    if isinstance(kind, str) and isinstance(api_version, str) and kind and api_version:
        if api_version.startswith("audit.k8s.io/"):
            return AUDIT_LOG
        # Of ours a kind that is not known here is one that was misspelled; operators name their
        # configurations config.<group>, and no cluster takes these.
        is_manifest = not api_version.startswith(("assay.dev/", "config."))
        return _BY_KIND.get(kind, MANIFEST if is_manifest else None)
    if "scenario" in fields and ("seed" in fields or "faults" in fields):
        return PLAN
    if "title" in fields and "method" in fields:
        return EXPERIMENT
    # The section of an operator's durations, or that of the operator in a file of several.
    sections = {word for each in suites().values() for word in (each.settings.spans, each.name)}
    if not sections.isdisjoint(fields):
        return CONFIGURATION
    return None
