"""Options that cannot work are refused before anything starts, with the next action."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reference_controller.runtime.options import OperatorOptions, OptionsError
from reference_controller.runtime.process import Program, run
from vocabulary.kinds import CONFIG_MAP

from .toy import CopyController


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"workers": 0}, "give at least 1"),
        ({"log_level": "loud"}, "choose one of debug, info, warning, error"),
        ({"kubeconfig": Path("/absent")}, "kubeconfig: there is no file /absent"),
        ({"webhook_port": 0}, "give webhook_certificate and webhook_key"),
    ],
)
def test_an_unusable_option_names_itself(given: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionsError, match=re.escape(says)):
        OperatorOptions(**given)


KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"context": "absent"}, "a context that is in it"),
        ({"leader_elect": True, "lease_duration_us": 1}, "leader election: lease_duration"),
        ({"health_port": 1}, "choose another one"),
    ],
)
def test_what_only_shows_at_the_start_ends_it_with_exit_code_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    says: str,
) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    program = Program(name="toy", controller=CopyController(), primary=CONFIG_MAP)
    logged: list[str] = []
    monkeypatch.setattr("reference_controller.runtime.logs.set_up", lambda level: None)
    monkeypatch.setattr("reference_controller.runtime.process.LOG.error", logged.append)
    # An address that is not this machine's: no port on it can be had.
    given = {"kubeconfig": kubeconfig, "listen_host": "192.0.2.1", **options}
    assert run(program, OperatorOptions(**given)) == 2
    assert says in logged[0]
