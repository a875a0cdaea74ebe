"""The configuration, and manifests that it is given with."""

from __future__ import annotations

import pytest

from reference_controller.runtime.options import ConfigError
from reference_controller.streams.config import StreamsConfig


def test_what_is_not_known_is_refused() -> None:
    assert StreamsConfig.from_data({}) == StreamsConfig(records_recovery=True)
    assert not StreamsConfig.from_data({"recoveryRecord": False}).records_recovery
    with pytest.raises(ConfigError, match="unknown key recovery; there may be recoveryRecord"):
        StreamsConfig.from_data({"recovery": False})
    with pytest.raises(ConfigError, match="recoveryRecord: 'no' must be true or false"):
        StreamsConfig.from_data({"recoveryRecord": "no"})
