from __future__ import annotations

from pathlib import Path

import pytest

from tests.go_programs import built


@pytest.fixture(scope="session")
def operator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An operator with a webhook, see `operator/main.go`."""
    return built(Path(__file__).parent / "operator", tmp_path_factory.mktemp("go"))
