"""A paused process resumes: nothing is lost, and a watch keeps its order."""

from __future__ import annotations

from typing import Any

import pytest

from clusters.simulated.controllers.base import Controller, Environment, Work
from clusters.simulated.store import Change
from tests.simulated_controllers.lab import DEFAULT, Lab
from vocabulary.kinds import CONFIG_MAP
from vocabulary.requests import Create


class Listener(Controller):
    """Notes down what it hears of; asked to, it makes a ConfigMap itself."""

    name = "listener"

    def __init__(self, environment: Environment) -> None:
        self.heard: list[str] = []
        super().__init__(environment)

    def listen(self) -> None:
        self.on(CONFIG_MAP, self._changed)

    def _changed(self, change: Change) -> None:
        self.heard.append(change.key.name)

    def sync(self, key: Any) -> Work:
        yield Create(CONFIG_MAP, config_map(key), DEFAULT, key)
        return None


def config_map(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": DEFAULT}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


@pytest.fixture
def lab() -> Lab:
    return Lab(nodes=0)


@pytest.fixture
def listener(lab: Lab) -> Listener:
    cluster = lab.cluster
    listener = Listener(Environment(cluster.loop, cluster.api, cluster.informers))
    listener.start()
    return listener


def test_changes_in_the_moment_of_going_on_come_after_those_that_were_missed(
    lab: Lab, listener: Listener
) -> None:
    listener.pause()
    lab.create(config_map("missed"))
    lab.create(config_map("missed-too"))
    assert listener.heard == []
    listener.resume()
    lab.create(config_map("at-once"))
    lab.run(1)
    assert listener.heard == ["missed", "missed-too", "at-once"]


def test_what_it_does_itself_when_it_goes_on_comes_after_what_it_missed(
    lab: Lab, listener: Listener
) -> None:
    listener.enqueue("own")
    listener.pause()
    lab.run(1)
    lab.create(config_map("missed"))
    listener.resume()
    lab.run(1)
    assert listener.heard == ["missed", "own"]


def test_one_that_is_stopped_again_at_once_loses_nothing(lab: Lab, listener: Listener) -> None:
    listener.enqueue("own")
    listener.pause()
    lab.run(1)
    listener.resume()
    listener.pause()
    lab.create(config_map("missed"))
    lab.run(1)
    assert listener.heard == []
    listener.resume()
    lab.run(1)
    assert listener.heard == ["missed", "own"]


def test_one_that_is_killed_as_it_stands_still_hears_of_nothing_that_was_before(
    lab: Lab, listener: Listener
) -> None:
    listener.pause()
    lab.create(config_map("before"))
    listener.kill()
    listener.start()
    lab.create(config_map("after"))
    lab.run(1)
    assert listener.heard == ["after"]
