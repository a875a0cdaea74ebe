"""Journals of `assay run`: one that begins, one that goes on, and those of shards, merged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.cli.run_arguments import POD_INDEX, RunArguments
from conformance.running.run_options import RunOptions

if TYPE_CHECKING:
    from conformance.report.run_result import SuiteResult
    from conformance.running.journal import Journal


@dataclass(slots=True)
class Journaled:
    """A run and its journal, if it has one."""

    options: RunOptions
    journal: Journal | None = None
    is_reported: bool = False
    """True if all is in the report, and nothing is left to go on with."""

    def of_shard(self, suite: SuiteResult) -> Path | None:
        """The journal that goes with the report, of a shard that came to its end."""
        if self.journal is None or self.options.shard is None or suite.interrupted:
            return None
        self.journal.commit()
        return self.journal.path


@contextmanager
def keeping_runs(asked: RunArguments, options: RunOptions, whole: str) -> Iterator[Journaled]:
    """The run, which keeps what ended and takes from there what had ended before. `whole` is the
    command of the campaign without shards.

    A journal stays as long as not all of it is in a report.
    """
    from conformance.report.folder import JOURNAL_NAME, UNFINISHED_NAME
    from conformance.running.journal import Described, MergedShards, Shard, begun, remove, resumed

    if asked.merged:
        yield Journaled(replace(options, kept=MergedShards(asked.merged, this_assay())))
        return
    if not asked.is_journaled:
        yield Journaled(options)
        return
    path = asked.out / UNFINISHED_NAME / JOURNAL_NAME
    described = Described(command=whole, assay=this_assay(), shard=asked.shard)
    part, _, parts = asked.shard.partition("/")
    shard = Shard(int(part), int(parts)) if asked.shard else None
    # A pod cannot know if it is the first of its index.
    goes_on = asked.resume and (path.exists() or POD_INDEX not in os.environ)
    with (resumed if goes_on else begun)(path, described) as journal:
        journaled = Journaled(replace(options, kept=journal, shard=shard), journal)
        yield journaled
    if journaled.is_reported:
        remove(path)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()


def this_assay() -> str:
    """The version that makes runs, as journals name it."""
    from conformance.report.recorded import assay_told
    from conformance.report.suite_version import git_commit, version

    return assay_told(version(), git_commit())
