"""The profile that is written for a command; nothing is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.explore.command_line import found_for, require_same
from conformance.profiles.reading import read_profile
from vocabulary.safe_yaml import YamlError

PYTHON = "#!/venv/bin/python\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {
        "bin/kopf": PYTHON,
        "bin/java": "\x7fELF",
        "python3": "\x7fELF",
        "operator.py": "",
        "backups.py": "",
        "crds/a.yaml": "",
        "rbac.yaml": "",
    }.items():
        file = tmp_path / "site" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
    return tmp_path / "site"


def test_a_command_of_kopf_gives_a_profile_that_reads(project: Path) -> None:
    found = found_for(
        "BUG=none bin/kopf run backups.py", project / "crds", project / "rbac.yaml", project
    )
    assert found.name == "backups"
    assert found.said == (
        f"program: {project}/bin/kopf (Python, in virtual time)",
        "CRDs: crds/*.yaml",
        "roles: rbac.yaml",
        "ready: its liveness endpoint (--liveness was added)",
    )
    path = project / "backups.assay.yaml"
    path.write_text(found.text("--command", path.name))
    profile = read_profile(path)
    assert profile.program.runtime == "python"
    assert profile.process is not None
    assert profile.process.command == (
        "{program}",
        "run",
        "--liveness=http://127.0.0.1:{health_port}/healthz",
        "backups.py",
    )
    assert profile.process.environment == {"KUBECONFIG": "{kubeconfig}", "BUG": "none"}
    assert profile.process.working_dir == "."
    require_same(profile, found, path)
    other = found_for("bin/kopf run backups.py -n a", None, None, project)
    with pytest.raises(YamlError, match="has another command than the command line"):
        require_same(profile, other, path)


@pytest.mark.parametrize(
    ("command", "ready_path", "name"),
    [
        ("bin/kopf run -L http://127.0.0.1:{health_port}/ main.py", "/healthz", "kopf"),
        ("./python3 -u operator.py", "", "site"),
        ("./python3 -m kopf run backups.py", "/healthz", "backups"),
    ],
)
def test_a_profile_has_a_name_and_a_way_to_see_that_the_operator_is_ready(
    project: Path, command: str, ready_path: str, name: str
) -> None:
    found = found_for(command, None, None, project)
    assert found.profile["program"]["runtime"] == "python"
    assert found.profile["process"]["readyPath"] == ready_path
    assert found.name == name
    assert "roles: NONE, every request will be refused: add --rbac" in found.said


@pytest.mark.parametrize(
    ("command", "crds", "said"),
    [
        ("", None, "names no program"),
        ("A=1", None, "names no program"),
        ("bin/kopf 'run", None, "quote it as a shell would"),
        ("bin/nothing", None, "bin/nothing is not found, or must not be executed"),
        ("bin/java -jar operator.jar", None, "bin/java cannot be given virtual time"),
        ("./python3 -I operator.py", None, "python3 cannot be given virtual time"),
        ("no-such-program", None, "no-such-program is not found in PATH"),
        ("bin/kopf run operator.py", "absent", "--crds .*absent: is not there"),
        ("bin/kopf run operator.py", "bin", "--crds .*bin: has no .yaml file"),
    ],
)
def test_what_cannot_be_used_is_refused_with_what_to_change(
    project: Path, command: str, crds: str | None, said: str
) -> None:
    with pytest.raises(YamlError, match=said):
        found_for(command, project / crds if crds else None, None, project)
