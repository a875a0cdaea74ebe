"""A profile that names a package of its Go module which is not there, or is no program."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.profiles import program
from conformance.profiles.go_package import require_main_package
from conformance.profiles.profile import GoModule
from conformance.suite import shipped_profiles
from tests.cli.command import assay
from vocabulary.safe_yaml import YamlError

RELEASED = "appwrapper-v1.1.2"
FILES = {
    "go.mod": "module example.org/operator\n",
    "main.go": "// Copyright\n\npackage main\n",
    "main_test.go": "package main_test\n",
    "cmd/manager/main.go": "package main\n",
    "hack/gen.go": "//go:build ignore\n\npackage main\n",
    "hack/tools/go.mod": "module example.org/tools\n",
    "hack/tools/main.go": "package main\n",
    "hack/tools/cmd/main.go": "package main\n",
    "pkg/api/types.go": "package api\n",
}


@pytest.fixture
def module(tmp_path: Path) -> Path:
    folder = tmp_path / "module"
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def _profile(folder: Path, package: str) -> Path:
    file = folder / "mine.yaml"
    file.write_text(f"program:\n  goModule:\n    package: {package}\n")
    return file


@pytest.mark.parametrize(
    "package",
    [".", "./cmd/manager", "./cmd/../cmd/manager", "example.org/operator"],
)
def test_a_program_of_the_module_is_built(module: Path, tmp_path: Path, package: str) -> None:
    wanted = GoModule(path="example.org/operator", package=package)
    require_main_package(wanted, module, _profile(tmp_path, package))


@pytest.mark.parametrize(
    ("package", "what"),
    [
        ("./cmd/nothing", "example.org/operator has no package ./cmd/nothing"),
        ("./hack", "example.org/operator has no package ./hack"),
        ("./pkg/api", "./pkg/api is no program, but package api"),
        ("cmd/manager", "cmd/manager is outside of the module; a package of it begins with ./"),
        ("./../other", "./../other is outside of the module; a package of it begins with ./"),
    ],
)
def test_any_other_package_is_told_with_the_programs_that_there_are(
    module: Path, tmp_path: Path, package: str, what: str
) -> None:
    wanted = GoModule(path="example.org/operator", package=package)
    file = _profile(tmp_path, package)
    with pytest.raises(YamlError) as told:
        require_main_package(wanted, module, file)
    assert str(told.value) == (
        f"{file}:3:14: program.goModule.package: {what}; "
        "the module's programs are ., ./cmd/manager; name one of them"
    )


@pytest.mark.parametrize("package", ["./hack/tools", "./hack/tools/cmd", "./pkg/../hack/tools/"])
def test_a_package_of_a_module_inside_the_module_is_told_with_its_go_mod(
    module: Path, tmp_path: Path, package: str
) -> None:
    wanted = GoModule(path="example.org/operator", package=package)
    file = _profile(tmp_path, package)
    with pytest.raises(YamlError) as told:
        require_main_package(wanted, module, file)
    assert str(told.value) == (
        f"{file}:3:14: program.goModule.package: {package} belongs to another module, that of "
        "./hack/tools/go.mod; the module's programs are ., ./cmd/manager; name one of them, or "
        "that module in program.goModule.path"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/*\npackage other\n*/\npackage main\n", id="after a block comment"),
        pytest.param("/* a */ // /* b\n\n/**/package main\n", id="after comments of both kinds"),
        pytest.param("\t package /* the */ main // c\n", id="indented, with comments"),
        pytest.param("\ufeffpackage main\r\n", id="after a byte order mark"),
        pytest.param("package main\n\nvar s = `\n//go:build ignore\n`\n", id="before a text"),
        pytest.param("/*\n//go:build ignore\n*/\npackage main\n", id="after no constraint"),
    ],
)
def test_a_package_clause_is_read_as_go_reads_it(module: Path, tmp_path: Path, text: str) -> None:
    package = "./pkg/api"
    (module / package / "types.go").write_text(text, encoding="utf-8")
    wanted = GoModule(path="example.org/operator", package=package)
    require_main_package(wanted, module, _profile(tmp_path, package))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/*\npackage main\n*/\npackage api\n", id="of a comment"),
        pytest.param("package api\n\nvar s = `\npackage main\n`\n", id="of a text"),
        pytest.param("package api\n/*\npackage main\n", id="of a comment without end"),
    ],
)
def test_a_line_that_only_looks_like_a_package_clause(
    module: Path, tmp_path: Path, text: str
) -> None:
    package = "./pkg/api"
    (module / package / "types.go").write_text(text, encoding="utf-8")
    wanted = GoModule(path="example.org/operator", package=package)
    with pytest.raises(YamlError, match="is no program, but package api"):
        require_main_package(wanted, module, _profile(tmp_path, package))


def test_a_wrong_package_is_bad_input_and_no_missing_proxy(
    module: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    found = program.Downloaded("operator", module)
    monkeypatch.setattr(program, "download", lambda *_: found)
    text = shipped_profiles()[RELEASED].read_text(encoding="utf-8")
    file = tmp_path / "mine.yaml"
    before = next(line for line in text.splitlines() if line.startswith("    package:"))
    text = text.replace(before, "    package: ./cmd/nothing").replace(
        f"name: {RELEASED}", "name: mine"
    )
    file.write_text(text, encoding="utf-8")
    ended = assay(monkeypatch, capsys, "profile", "build", file)
    assert ended.code == 2
    assert "program.goModule.package" in ended.err
    assert "name one of them" in ended.err
    assert "proxy" not in ended.err
