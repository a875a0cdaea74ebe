"""The comparison as a page of the documentation: `python -m tests.differential.page` writes it.

Everything on it comes from data: scripts, recordings, limits, masks. A test fails when the page
is not what these say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from tests.differential import redrawn, scripts
from tests.differential.compare import Difference, differences, fields_of
from tests.differential.limits import LIMITS, limit_of
from tests.differential.lines import LINES
from tests.differential.masks import ALL as MASKS
from tests.differential.plane import definitions
from tests.differential.script import Script
from tests.differential.simulated_target import SimulatedTarget
from tests.differential.transcript import load, play

PAGE: Final = Path(__file__).parents[2] / "docs" / "differential.md"

INTRODUCTION: Final = """\
# The simulation compared with a real control plane

Verdicts from the simulation are only as good as the simulation. Therefore the same scripts run on a
real control plane (etcd, kube-apiserver, kube-controller-manager, kube-scheduler; KWOK plays the
kubelets) and on the simulated one, and everything visible to a client is compared field by field:
status codes, errors with their reasons, messages and details, objects, lists, tables and watch
events. If they disagree, the simulation is considered wrong until shown otherwise.

The real side is recorded, so that the comparison runs everywhere:

```
pytest tests/differential                        # the simulation against the recordings
python -m tests.differential.record              # record again, on a new control plane
python -m tests.differential.record --check      # check the recordings
python -m tests.differential.redrawn             # record further draws, see below
python -m tests.differential.page                # write this page
```

Recording requires the programs built by `assay cluster build`. A script is a function with a title
in `tests/differential/scripts/`; to add one, add a function and record it.
"""


CONTRACT: Final = (
    ("pages of one state", ("pages",), ""),
    (
        "continue tokens that are malformed, or expired",
        ("pages", "tokens-of-nobody", "expired-tokens"),
        "",
    ),
    (
        "`resourceVersion` and `resourceVersionMatch`",
        ("list-at-revision", "limits-and-revisions", "future-revision"),
        "",
    ),
    ("options that exclude each other", ("contradictory-list-options",), ""),
    (
        "order, completeness and selection of events",
        ("watch-replays", "watch-selected", "watch-by-field", "one-object-by-name"),
        "under load: [benchmarks](benchmarks.md)",
    ),
    ("initial events and bookmarks", ("watch-from-nothing", "watch-initial-events"), ""),
    (
        "streaming lists (`sendInitialEvents`)",
        ("watch-initial-events", "watch-initial-events-refused"),
        "",
    ),
    ("410, and how to go on", ("watch-too-old", "resync"), ""),
    ("conflicts of server-side apply", ("apply-conflicts", "apply-lists"), ""),
    (
        "`managedFields`",
        ("managers-of-updates", "managers-of-subresources", "managers-of-workloads"),
        "",
    ),
    (
        "`Retry-After`",
        ("retry-after",),
        "429 beyond the number of connections: a control plane queues by priority before that; "
        "`tests/simulated_api/test_serving_strangers.py`",
    ),
    (
        "headers of API priority and fairness",
        ("flows",),
        "responses to watches; `tests/simulated_api/test_flow_control.py`",
    ),
)
"""The contract of list and watch: each part, the scripts that show it, and what they cannot."""


@dataclass(frozen=True)
class Comparison:
    """One script, compared."""

    script: Script
    steps: int
    fields: int
    differences: list[Difference]

    @property
    def limits(self) -> list[str]:
        """The ids of the limits that explain the differences; "?" where none does."""
        found = (limit_of(difference) for difference in self.differences)
        return sorted({limit.id if limit else "?" for limit in found})


def compared(script: Script) -> Comparison:
    """Play a script in the simulation and compare with its recording."""
    recorded = load(script)
    simulated = play(script, SimulatedTarget(definitions()))
    return Comparison(
        script, len(recorded.steps), fields_of(recorded), differences(recorded, simulated)
    )


def render(comparisons: Sequence[Comparison]) -> str:
    """The whole page."""
    parts = [INTRODUCTION, _numbers(comparisons), _limits(comparisons), _contract(comparisons)]
    parts.insert(2, _redrawn())
    parts.append(_lines(comparisons))
    parts += [_masks(), _scripts(comparisons)]
    return "\n".join(parts)


def _numbers(comparisons: Sequence[Comparison]) -> str:
    agreeing = sum(1 for one in comparisons if not one.differences)
    return _table(
        ("scripts", "steps", "values compared", "scripts that agree in all", "named limits"),
        [
            (
                str(len(comparisons)),
                str(sum(one.steps for one in comparisons)),
                str(sum(one.fields for one in comparisons)),
                str(agreeing),
                str(len(LIMITS)),
            )
        ],
    )


def _redrawn() -> str:
    scripts = redrawn.drawn()
    steps = [each for it in scripts for line in redrawn.recorded(it) for each in line]
    return (
        f"The {len(scripts)} scripts called `drawn-…` draw their requests at random. Of up to\n"
        f"{redrawn.DRAWS} further draws each, digests are recorded, of {len(steps)} steps. In\n"
        f"{steps.count(redrawn.DIFFERS)} of these the simulation differs, named by no limit; they\n"
        "are marked in `tests/differential/redrawn`, and not compared.\n"
    )


def _limits(comparisons: Sequence[Comparison]) -> str:
    values: dict[str, int] = defaultdict(int)
    for one in comparisons:
        for difference in one.differences:
            limit = limit_of(difference)
            if limit is not None:
                values[limit.id] += 1
    rows = [
        (
            f'<a id="{limit.id}"></a>{limit.id}',
            limit.what,
            limit.why,
            ", ".join(f"`{name}`" for name in limit.scripts),
            str(values[limit.id]),
        )
        for limit in LIMITS
    ]
    return "## Named limits\n\n" + (
        "Accepted differences. A limit that no longer shows fails the tests.\n\n"
        + _table(("limit", "difference", "reason", "scripts", "values"), rows)
    )


def _lines(comparisons: Sequence[Comparison]) -> str:
    covering: dict[str, list[str]] = defaultdict(list)
    for one in comparisons:
        for line in one.script.covers:
            covering[line].append(f"[{one.script.name}](#{one.script.name})")
    rows = [
        (number, line.text, ", ".join(covering[number]), line.not_shown)
        for number, line in LINES.items()
    ]
    return "## Coverage\n\n" + _table(
        ("line", "requirement", "scripts", "not shown by a control plane"), rows
    )


def _contract(comparisons: Sequence[Comparison]) -> str:
    known = {one.script.name: one for one in comparisons}
    rows = [
        (
            part,
            ", ".join(f"[{name}](#{name})" for name in names),
            ", ".join(sorted({_outcome(known[name]) for name in names})),
            elsewhere,
        )
        for part, names, elsewhere in CONTRACT
    ]
    return (
        "## Contract of list and watch\n\nWhat clients such as informers rely on, part by part.\n\n"
        + _table(("part", "scripts", "outcome", "not compared with a control plane"), rows)
    )


def _masks() -> str:
    rows = [(mask.what, mask.becomes or "left out", mask.reason) for mask in MASKS]
    return (
        "## Masks\n\nValues that cannot agree are replaced on both sides before they are"
        " compared.\n\n" + _table(("values", "replacement", "reason"), rows)
    )


def _scripts(comparisons: Sequence[Comparison]) -> str:
    by_subject: dict[str, list[Comparison]] = defaultdict(list)
    for one in comparisons:
        by_subject[one.script.subject].append(one)
    parts = ["## Scripts\n"]
    for subject, of_subject in by_subject.items():
        rows = [
            (
                f'<a id="{one.script.name}"></a>{one.script.title}',
                f"`{one.script.name}`",
                ", ".join(one.script.covers),
                str(one.steps),
                _outcome(one),
            )
            for one in of_subject
        ]
        heading = subject.replace("_", " ").capitalize()
        table = _table(("behavior", "script", "lines", "steps", "outcome"), rows)
        parts.append(f"### {heading}\n\n{table}")
    return "\n".join(parts)


def _outcome(one: Comparison) -> str:
    if not one.differences:
        return "agrees"
    return "differs: " + ", ".join(f"[{limit}](#{limit})" for limit in one.limits)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    columns = list(head)
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join("| " + " | ".join(_cell(cell) for cell in line) + " |\n" for line in lines)


def _cell(text: str) -> str:
    escaped = text.replace("|", "\\|").replace("\n", " ")
    if escaped.startswith("<a id"):
        return escaped
    return escaped.replace("<", "&lt;")


def main() -> None:
    """Write docs/differential.md."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(render([compared(script) for script in scripts.every()]))
    typer.echo(f"wrote {PAGE}")


if __name__ == "__main__":
    typer.run(main)
