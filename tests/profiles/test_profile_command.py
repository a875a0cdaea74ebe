"""`assay profile`, and the names that `assay run --implementation` takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from conformance.norm.verdict import Outcome
from conformance.profiles.reading import read_profile
from conformance.report.conformance_report import ConformanceReport
from conformance.report.yaml_text import read_report_at, write_report
from conformance.suite import shipped_profiles
from tests.cli.command import Ended, assay

RELEASED = "appwrapper-v1.1.2"
Capture = pytest.CaptureFixture[str]


def test_a_shipped_profile_is_checked_and_the_next_commands_are_told(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    ended = assay(monkeypatch, capsys, "profile", "check", RELEASED)
    assert ended.code == 0
    assert f"assay profile build {RELEASED}" in ended.out
    assert f"--implementation {RELEASED}" in ended.out
    assert "https://" not in ended.out
    assert "known to differ in" in ended.out


def test_every_difference_is_told_with_its_link_only_if_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    ended = assay(monkeypatch, capsys, "profile", "check", RELEASED, "--verbose")
    links = [known.link for known in read_profile(shipped_profiles()[RELEASED]).known_differences]
    assert links and all(str(link) in ended.out.split() for link in links)


def test_a_copy_that_is_named_as_its_file_is_built_by_its_file(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    mine = tmp_path / "mine.yaml"
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    mine.write_text(text.replace(f"name: {RELEASED}", "name: mine"), encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "check", mine)
    assert f"assay profile build {mine}" in ended.out


def own_profile(folder: Path, **changes: str) -> Path:
    """A profile of a program beside it, with its definitions; some of its texts replaced."""
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    head, rest = text.split("program:\n", 1)
    rest = rest[rest.index("process:") :]
    (folder / "crds.yaml").write_text("{}\n", encoding="utf-8")
    program = folder / "operator"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)
    (folder / "hooks.yaml").write_text("{}\n", encoding="utf-8")
    told = {"path": "operator", "crds": "[crds.yaml]", "webhooks": "[hooks.yaml]", **changes}
    file = folder / "mine.yaml"
    manifests = f"manifests: {{crds: {told['crds']}, webhooks: {told['webhooks']}}}\n"
    file.write_text(f"{head}program: {{path: {told['path']}}}\n{manifests}{rest}", encoding="utf-8")
    return file


def test_a_profile_whose_files_are_there_is_right(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    ended = assay(monkeypatch, capsys, "profile", "check", own_profile(tmp_path))
    assert (ended.code, ended.err) == (0, "")
    assert f"program: {tmp_path / 'operator'}" in ended.out


@pytest.mark.parametrize(
    ("field", "written", "told"),
    [
        ("path", "./nope", "program.path: {}/nope is not there; correct the path"),
        ("path", "crds.yaml", "must not be executed; allow it with: chmod +x"),
        ("crds", "[crds.yaml, base/*.yaml]", "manifests.crds[1]: no file in {} matches 'base/*"),
        ("crds", "[/crds.yaml]", "manifests.crds[0]: no file in {} matches '/crds.yaml'"),
        ("crds", "['']", "manifests.crds[0]: no file in {} matches ''"),
    ],
)
def test_a_profile_whose_files_are_not_there_cannot_run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    tmp_path: Path,
    field: str,
    written: str,
    told: str,
) -> None:
    file = own_profile(tmp_path, **{field: written})
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    assert (ended.code, ended.out) == (2, "")
    assert f"{file}:" in ended.err
    assert told.format(tmp_path) in ended.err


def test_a_wrong_profile_is_told_with_its_line_and_is_bad_input(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = tmp_path / "mine.yaml"
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    file.write_text(text.replace("suite: appwrapper", "sweet: appwrapper"), encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    assert ended.code == 2
    assert f"{file}:" in ended.err
    assert "sweet" in ended.err


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        pytest.param(
            {
                "suite: appwrapper": "suite: slurm",
                "latency: 2s": "latency: 900h",
                "pokeEvery:": "pokeEvry:",
                "durations: nanoseconds": "durations: 3",
                "secretName:": "secretname:",
                "appwrapper/deletion/foreign-*": "appwrapper/deletion/nothing-*",
            },
            (
                "suite",
                "process.webhooks.certificates",
                "configuration.durations",
                "detection",
                "detection.latency",
                "knownDifferences",
            ),
            id="types, and what each part says by itself",
        ),
        pytest.param(
            {
                "{leader_elect}": "{elect}",
                "latency: 2s": "latency: soon",
                "path: operator": "path: nope",
                "crds: [crds.yaml]": "crds: [nope/*.yaml]",
            },
            (
                "program.path",
                "manifests.crds[0]",
                "configuration.document.controllerManager",
                "detection.latency",
            ),
            id="what the parts say together, and files",
        ),
    ],
)
def test_all_mistakes_are_told_at_once_in_the_order_of_their_lines(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    tmp_path: Path,
    changes: Mapping[str, str],
    fields: tuple[str, ...],
) -> None:
    file = own_profile(tmp_path)
    text = file.read_text(encoding="utf-8")
    for right, wrong in changes.items():
        assert text.count(right) == 1, right
        text = text.replace(right, wrong)
    file.write_text(text, encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    assert (ended.code, ended.out) == (2, "")
    lines = ended.err.splitlines()
    told = [line.removeprefix(f"assay: {file}:").split(":", 3) for line in lines]
    assert len(told) == len(fields)
    for (_, _, field, what), expected in zip(told, fields, strict=True):
        assert field.strip().startswith(expected)
        assert ";" in what, "what to do"
    places = [(int(line), int(column)) for line, column, *_ in told]
    assert places == sorted(places)


def test_of_very_many_mistakes_the_rest_is_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = own_profile(tmp_path)
    with file.open("a", encoding="utf-8") as more:
        more.writelines(f"x{n}: 1\n" for n in range(23))
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    *told, last = ended.err.splitlines()
    assert (ended.code, len(told)) == (2, 20)
    assert last == f"assay: {file}: and 3 more mistakes"


def test_of_thousands_of_mistakes_not_all_are_looked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    file = own_profile(tmp_path)
    with file.open("a", encoding="utf-8") as more:
        more.writelines(f"x{n}: 1\n" for n in range(10_000))
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    *told, last = ended.err.splitlines()
    assert (ended.code, len(told)) == (2, 20)
    assert last == f"assay: {file}: and at least 180 more mistakes"


@pytest.mark.parametrize("name", ["../../x", "/etc/x", ".x", "x.", "a b"])
def test_a_name_that_is_no_part_of_a_file_name_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path, name: str
) -> None:
    file = own_profile(tmp_path)
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r"(?m)^name: .*$", f"name: '{name}'", text), encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "check", file)
    assert ended.code == 2
    assert "name: expected `str` matching regex" in ended.err
    assert "; write letters, digits, dots, hyphens and underscores only" in ended.err


@pytest.mark.parametrize(
    ("name", "told"),
    [("somebody", "assay profile list"), (RELEASED.replace("-v", "v"), f"mean {RELEASED}")],
)
def test_a_name_that_is_no_profile_is_told_with_those_that_are(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, name: str, told: str
) -> None:
    ended = assay(monkeypatch, capsys, "profile", "check", name)
    assert ended.code == 2
    assert told in ended.err


def test_the_list_says_how_to_build_what_is_not_built(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    ended = assay(monkeypatch, capsys, "profile", "list")
    assert ended.code == 0
    assert all(f"assay profile build {name}" in ended.out for name in shipped_profiles())


def test_the_simulated_cluster_says_how_to_build_a_program_for_it_and_where_else_it_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    ended = assay(
        monkeypatch, capsys, "run", "AW-015", "--implementation", RELEASED, "--out", tmp_path / "o"
    )
    assert ended.code == 4
    assert f"assay profile build {RELEASED} --virtual-time" in ended.err
    assert "--cluster control-plane" in ended.err


STORED = Path(__file__).parents[2] / "reports"
JOB_SET = "jobset-v0.12.0"


def findings_beside(
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
    profile: object,
    first: ConformanceReport,
    other: ConformanceReport,
    folder: Path,
) -> Ended:
    """Write both reports, and ask for the findings of the first, as if from virtual time."""
    virtual = msgspec.structs.replace(first.environment, cluster="simulated")
    first = msgspec.structs.replace(first, environment=virtual)
    for name, report in (("first", first), ("other", other)):
        (folder / f"{name}.yaml").write_text(write_report(report), encoding="utf-8")
    files = (folder / "first.yaml", "--beside", folder / "other.yaml")
    out = folder / "page.md"
    return assay(monkeypatch, capsys, "profile", "findings", profile, *files, "--out", out)


def test_a_report_that_was_judged_by_another_edition_stands_beside_none(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    stored = read_report_at(STORED / "kubernetes-sigs-jobset/v0-12-0-control-plane")
    released = msgspec.structs.replace(stored.suite, editions={"jobset": "released"})
    other = msgspec.structs.replace(stored, suite=released)
    ended = findings_beside(monkeypatch, capsys, JOB_SET, stored, other, tmp_path)
    assert ended.code == 2
    assert f"{tmp_path / 'other.yaml'}: was judged by the edition released" in ended.err
    assert f"and {tmp_path / 'first.yaml'} by kep-v0.12; --beside takes" in ended.err
    assert not (tmp_path / "page.md").exists()
    ended = findings_beside(monkeypatch, capsys, JOB_SET, stored, stored, tmp_path)
    assert (ended.code, ended.err) == (0, "")


def test_a_report_of_another_release_stands_beside_none(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    reports = STORED / "kubernetes-sigs-jobset"
    stored = read_report_at(reports / "v0-12-0-control-plane")
    other = read_report_at(reports / "v0-10-1-control-plane")
    ended = findings_beside(monkeypatch, capsys, JOB_SET, stored, other, tmp_path)
    assert ended.code == 2
    told = f"{tmp_path / 'other.yaml'}: is a report of kubernetes-sigs/jobset v0.10.1; --beside"
    assert f"{told} takes reports of kubernetes-sigs/jobset v0.12.0" in ended.err


def test_what_is_not_explained_beside_ends_with_1(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture, tmp_path: Path
) -> None:
    stored = read_report_at(STORED / "kubernetes-sigs-jobset/v0-12-0-control-plane")
    nothing = msgspec.structs.replace(stored, claims=())
    text = shipped_profiles()[JOB_SET].read_text(encoding="utf-8")
    mine = tmp_path / "mine.yaml"
    mine.write_text(text.partition("knownDifferences:")[0].replace(JOB_SET, "mine"), "utf-8")
    ended = findings_beside(monkeypatch, capsys, mine, nothing, stored, tmp_path)
    assert ended.code == 1
    first = next(claim for claim in stored.claims if claim.outcome is Outcome.FAILED)
    assert f"not explained by the profile: {first.id} in " in ended.err
    assert " on control-plane" in ended.err.partition(", ")[0]
    assert "**Not explained yet**: " in (tmp_path / "page.md").read_text(encoding="utf-8")
