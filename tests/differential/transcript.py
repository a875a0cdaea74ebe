"""Requests and responses as a file: one JSON line per step, so that changes are readable."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.differential.dialogue import Dialogue, Step, WaitedInVainError, shown
from tests.differential.exchange import Target
from tests.differential.masks import masked
from tests.differential.script import Script
from vocabulary.canonical import encode

FOLDER: Final = Path(__file__).parent / "transcripts"


@dataclass(frozen=True)
class Transcript:
    """The masked steps of one script on one side."""

    script: str
    steps: list[Step]


def play(script: Script, target: Target, draw: int = 0) -> Transcript:
    """Run a script; its transcript ends early if an awaited state is not reached."""
    namespace = f"{script.name}-{draw}" if draw else script.name
    dialogue = Dialogue(target, namespace, draw)
    dialogue.open()
    try:
        script.steps(dialogue)
    except WaitedInVainError:
        # The step says so itself.
        pass
    finally:
        dialogue.close()
    return Transcript(script.name, masked(dialogue.transcript, shown))


def path_of(script: Script) -> Path:
    return FOLDER / script.subject / f"{script.name}.jsonl"


def save(script: Script, transcript: Transcript) -> None:
    path = path_of(script)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(encode(step) + b"\n" for step in transcript.steps))


def load(script: Script) -> Transcript:
    """The recorded transcript; the FileNotFoundError has the command that makes it."""
    path = path_of(script)
    if not path.exists():
        raise FileNotFoundError(
            f"{path} does not exist: record it with"
            f" `python -m tests.differential.record {script.name}`"
        )
    lines = path.read_text().splitlines()
    return Transcript(script.name, [_step(line) for line in lines])


def _step(line: str) -> dict[str, Any]:
    step: dict[str, Any] = json.loads(line)
    return step
