"""A file of another kind than expected: the message names its kind and the command for it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from conformance.cli import file_kinds
from conformance.cli.file_kinds import FileKind, kind_of_file
from conformance.suite import shipped_profiles
from tests.cli.conftest import Assay, Reports

ROOT = Path(__file__).parents[2]
EXPECTS = {
    "replay {}": file_kinds.PLAN,
    "run --implementation {}": file_kinds.PROFILE,
    "replay plan.yaml --implementation {}": file_kinds.PROFILE,
    "profile check {}": file_kinds.PROFILE,
    "profile build {}": file_kinds.PROFILE,
    "profile findings {} report.yaml": file_kinds.PROFILE,
    "profile findings appwrapper-v1.1.2 {}": file_kinds.REPORT,
    "verify {}": file_kinds.REPORT,
    "compare {} report.yaml": file_kinds.REPORT,
    "compare report.yaml {}": file_kinds.REPORT,
    "report html {}": file_kinds.REPORT,
    "report rejudge {} --out again": file_kinds.REPORT,
    "check {}": file_kinds.HISTORY,
    "check --audit-log {}": file_kinds.AUDIT_LOG,
    "check --audit-log no.log --config {}": file_kinds.CONFIGURATION,
    "controller run appwrapper --config {}": file_kinds.CONFIGURATION,
    "controller run appwrapper --kubeconfig {}": file_kinds.KUBECONFIG,
    "clean --kubeconfig {}": file_kinds.KUBECONFIG,
    "run --kubeconfig {}": file_kinds.KUBECONFIG,
    "run --audit-log {}": file_kinds.AUDIT_LOG,
    "chaos {}": file_kinds.EXPERIMENT,
}
"""By command, with `{}` for the file, what it is to be. What else is named need not be there."""
KINDS = {name: kind for name, kind in vars(file_kinds).items() if isinstance(kind, FileKind)}
KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\ncurrent-context: ''\n"
MANIFEST = "# ours\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: operator}\n"


@pytest.fixture(scope="session")
def samples(reports: Reports, tmp_path_factory: pytest.TempPathFactory) -> dict[FileKind, Path]:
    """One file of each kind, as the suite wrote or ships it where it does."""
    folder = tmp_path_factory.mktemp("samples")
    (folder / "kubeconfig").write_text(KUBECONFIG)
    (folder / "deployment.yaml").write_text(MANIFEST)
    return {
        file_kinds.PLAN: reports.bad / "aw-015.yaml",
        file_kinds.REPORT: reports.bad / "report.yaml",
        file_kinds.PROFILE: shipped_profiles()["appwrapper-v1.1.2"],
        file_kinds.EXPERIMENT: ROOT / "chaos/experiments/pod-kill.yaml",
        file_kinds.CONFIGURATION: ROOT / "tests/cli/logs/operator.yaml",
        file_kinds.KUBECONFIG: folder / "kubeconfig",
        file_kinds.HISTORY: next((reports.bad / "histories").iterdir()),
        file_kinds.AUDIT_LOG: ROOT / "tests/cli/logs/sound.log.gz",
        file_kinds.PAGE: reports.bad / "aw-015.html",
        file_kinds.MANIFEST: folder / "deployment.yaml",
    }


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_is_recognised(name: str, samples: dict[FileKind, Path]) -> None:
    assert kind_of_file(samples[KINDS[name]]) is KINDS[name]


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (command, name)
        for command, wanted in EXPECTS.items()
        for name, kind in KINDS.items()
        if kind is not wanted
    ],
)
def test_a_file_of_another_kind_is_told_by_what_it_is(
    assay: Assay,
    command: str,
    name: str,
    samples: dict[FileKind, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    kind, wanted = KINDS[name], EXPECTS[command]
    path = samples[kind]
    ended = assay(*(word.format(path) for word in command.split()))
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        f"assay: {path}: is {kind.name}, which is for {kind.taken_by}; "
        f"expected {wanted.name}: {wanted.found}\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_report_is_told_where_a_file_is_expected(
    assay: Assay, reports: Reports
) -> None:
    ended = assay("replay", reports.bad)
    assert ended.code == 2
    assert f"{reports.bad}: is a run's report, which is for assay verify" in ended.err


def test_a_pipe_is_left_to_its_reader_with_all_that_it_tells() -> None:
    told = KUBECONFIG.encode()
    end, into = os.pipe()
    try:
        os.write(into, told)
        os.close(into)
        assert kind_of_file(Path(f"/dev/fd/{end}")) is None
        assert os.read(end, len(told)) == told
    finally:
        os.close(end)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00\xff",
        gzip.compress(b"", mtime=0)[:5],
        b"\x1f\x8b\x08\xff\xff",
        b"{" * 100_000,
        b'{"a": ' * 100_000,
        b"[1, 2]",
        b"- kind: ConformanceReport\n",
        b"kind: [ConformanceReport",
        b"a:\n  apiVersion: v1\n  kind: Config\n",
        b"apiVersion: assay.dev/v1\nkind: ImplementationProfil\n",
    ],
    ids=lambda content: repr(content[:40]),
)
def test_what_is_none_of_them_is_left_to_its_reader(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "given"
    path.write_bytes(content)
    assert kind_of_file(path) is None
