"""The end of the replay of a story: is the wrong controller convicted, and the right one not?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from conformance.norm.verdict import Outcome, Verdict
from conformance.report.text import contradicting_steps, decisive_step, event_line
from vocabulary.clock import SECOND
from vocabulary.durations import format_duration

if TYPE_CHECKING:
    from chaos.story import Story
    from conformance.report.run_result import RunResult


def echo_story(story: Story, wrong_name: str, wrong: RunResult, right: RunResult) -> bool:
    """Print the verdicts on both controllers; true if they are those of the story."""
    typer.echo(f"{story.upstream}\n{story.tells}")
    convicted = verdict_of(wrong, story.claim)
    typer.echo(f"\nwrong controller, {wrong_name}: {story.claim} {convicted.outcome}")
    step = decisive_step(wrong, convicted)
    if step is not None:
        typer.echo(f"    {event_line(step)}\n    {convicted.violations[0].because}")
    acquitted = verdict_of(right, story.claim)
    typer.echo(f"right controller, {story.right}: {story.claim} {acquitted.outcome}")
    departures = list(departures_of(story, wrong, right))
    for line in departures or ["as the story tells"]:
        typer.echo(line)
    return not departures


def departures_of(story: Story, wrong: RunResult, right: RunResult) -> Iterator[str]:
    """Sentences about runs that are not as the story has them."""
    shown = contradicting_steps(wrong, verdict_of(wrong, story.claim))
    told = story.contradiction
    if not shown:
        yield f"not as told: the wrong controller should violate {story.claim}"
    elif not any(
        step.entry.t // SECOND == told.at // SECOND and told.shows in event_line(step)
        for step in shown
    ):
        yield f"not as told: it should do so at {format_duration(told.at)}: {told.shows}"
    if verdict_of(right, story.claim).outcome is not Outcome.PASSED:
        yield f"not as told: the right controller should keep {story.claim}"
    for each in right.verdicts:
        if each.outcome is Outcome.FAILED:
            yield f"not as told: the right controller violates {each.claim}: {each.because}"
    if right.error:
        yield f"not as told: the right controller did not come to the end: {right.error}"


def verdict_of(run: RunResult, claim: str) -> Verdict:
    """The verdict on a claim; inconclusive if the run is not judged by it."""
    none = Verdict(claim=claim, outcome=Outcome.INCONCLUSIVE)
    return next((each for each in run.verdicts if each.claim == claim), none)
