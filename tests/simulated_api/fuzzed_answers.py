"""Answers of the simulation to thousands of objects with one wrong value each.

A digest of the answers for each kind and each way to write it, recorded in `recordings`;
`python -m tests.simulated_api.fuzzed_answers` records them again. A line that differs then is a
change in what the simulation answers, and must be reviewed as such: these are no answers of a real
server, of which the scripts in `tests/differential` compare many of the same form.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from tests.differential.exchange import Answer, Call
from tests.differential.plane import definitions
from tests.differential.scripts.types import small_objects
from tests.differential.simulated_target import SimulatedTarget
from tests.simulated_api.fuzzed import Fuzz, Wrong
from tests.simulated_api.test_every_kind import kind_of, manifests
from vocabulary.canonical import digest

SEED: Final = 1
NAMESPACE: Final = "fuzzed"
RECORDING: Final = Path(__file__).parent / "recordings" / "fuzzed_answers.txt"
_REQUESTS: Final = 10_000
_BETWEEN: Final = 100
"""Requests between two looks of the controllers at what was stored."""
_OF_THE_MOMENT: Final = ("uid", "resourceVersion", "creationTimestamp", "generateName")
_DIGITS: Final = 12


def begin(fuzz: Fuzz) -> list[Call]:
    """Requests that create a namespace and the objects."""
    namespace = {"metadata": {"name": NAMESPACE}}
    return [Call("POST", "/api/v1/namespaces", json.dumps(namespace).encode()), *fuzz.existing()]


def exchanges() -> Iterator[tuple[Wrong, Answer]]:
    """The requests, and what a cluster answers."""
    target = SimulatedTarget(definitions())
    further = {kind_of(obj): obj for obj in manifests()}
    fuzz = Fuzz(SEED, NAMESPACE, further | small_objects(NAMESPACE), filled=3)
    for call in begin(fuzz):
        assert target.exchange(call).code == 201, call
    for number in range(_REQUESTS):
        request = fuzz.request()
        yield request, target.exchange(request.call)
        if number % _BETWEEN == 0:
            target.until(lambda: False, within_seconds=0.1)


def told(answers: Iterable[tuple[Wrong, Answer]]) -> list[str]:
    """A line for each kind and each way to write it."""
    found: dict[str, list[Any]] = defaultdict(list)
    for request, answer in answers:
        how = request.call.content_type if request.call.method == "PATCH" else request.call.method
        found[f"{request.kind} {how}"].append([answer.code, _lasting(answer.body), answer.warnings])
    return [f"{name} {digest(each)[:_DIGITS]}" for name, each in sorted(found.items())]


def _lasting(body: Any) -> Any:
    """An object without what follows from the requests before."""
    if not isinstance(body.get("metadata"), dict):
        return body
    kept = {name: it for name, it in body["metadata"].items() if name not in _OF_THE_MOMENT}
    return {**body, "metadata": kept}


if __name__ == "__main__":
    RECORDING.parent.mkdir(exist_ok=True)
    RECORDING.write_text("\n".join(told(exchanges())) + "\n")
