"""The kinds of a served cluster as a page of the documentation.

`python -m tests.simulated_api.served_kinds` writes it. A test fails when the page is not what the
tables say.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from clusters.simulated.builtin.registry import (
    built_in_strategies,
    further_kinds,
    further_strategies,
    uncontrolled_kinds,
)
from clusters.simulated.builtin.webhook_configurations import (
    MUTATING_CONFIGURATION,
    VALIDATING_CONFIGURATION,
    WebhookConfigurationStrategy,
)
from clusters.simulated.strategy import Strategy
from vocabulary.kinds import POD_DISRUPTION_BUDGET, Kind

PAGE: Final = Path(__file__).parents[2] / "docs" / "served-kinds.md"
_INTRODUCTION: Final = """\
# The kinds that the simulated cluster serves

`assay serve` serves every built-in resource of a stable version of Kubernetes but two:
`componentstatuses`, which is deprecated, and `bindings`, since pods are bound by their subresource
`binding`. Runs of the suites serve the kinds of the first table, and the others to a released
operator whose roles have a rule for one of them.

The kinds of the second table are stored, with their types, defaults, generations and statuses.
Values are checked as to their types, and label selectors are validated. No controller of the
simulation acts on objects of these kinds. Where a real cluster would do something, `assay serve`
says so by an Event about the object, with the reason `NoController`:

```
kubectl get events --field-selector reason=NoController
```
"""
_DATA: Final = "it is data, on which no controller has to act"


def served() -> list[Strategy]:
    """All built-in kinds of a served cluster."""
    configurations = (MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION)
    return [
        *built_in_strategies().values(),
        *map(WebhookConfigurationStrategy, configurations),
        *further_strategies(),
    ]


def render() -> str:
    """The page."""
    return "\n".join((_INTRODUCTION, *_controlled(), "", *_uncontrolled(), ""))


def _controlled() -> Iterator[str]:
    plain = _plain()
    yield "| kind | API version | short names |"
    yield "| --- | --- | --- |"
    for strategy in _in_order():
        if strategy.kind not in plain:
            yield f"| {strategy.kind.kind} | {_versions(strategy)} | {_short(strategy)} |"


def _uncontrolled() -> Iterator[str]:
    missing = uncontrolled_kinds()
    plain = _plain()
    yield "| kind | API version | short names | without its controller |"
    yield "| --- | --- | --- | --- |"
    for strategy in _in_order():
        if strategy.kind in plain:
            told = missing.get(strategy.kind, _DATA)
            row = (strategy.kind.kind, _versions(strategy), _short(strategy), told)
            yield f"| {' | '.join(row)} |"


def _plain() -> set[Kind]:
    """The kinds on which no controller of the simulation acts."""
    return {each.kind for each in further_kinds()} - {POD_DISRUPTION_BUDGET}


def _in_order() -> list[Strategy]:
    return sorted(served(), key=lambda strategy: (strategy.kind.group, strategy.kind.kind))


def _versions(strategy: Strategy) -> str:
    group = f"{strategy.kind.group}/" if strategy.kind.group else ""
    return ", ".join(f"{group}{version}" for version in strategy.versions)


def _short(strategy: Strategy) -> str:
    return ", ".join(strategy.short_names)


if __name__ == "__main__":
    PAGE.write_text(render())
