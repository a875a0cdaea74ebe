"""Campaigns that are cut into shards, stopped by SIGKILL, and gone on with: nothing is lost, and
nothing is made twice."""

from __future__ import annotations

import gzip
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from conformance.cli.exit_code import ExitCode
from tests.cli.conftest import Assay

SCENARIO = "slow-pods-hold-their-quota"
MUTANT = ("--implementation", "mutant:quota-released-on-failed")
CAMPAIGN = (SCENARIO, "--random-plans", "6", "--crash-points", "--jobs", "1", "--quiet")
PLANS = 200
DEADLINE_SECONDS = 300
SOME_RUNS = 3


def report_of(folder: Path) -> str:
    """A report without its date and times, and the commit, which may change meanwhile."""
    text = (folder / "report.yaml").read_text(encoding="utf-8")
    return re.sub(r'wallSeconds: [0-9.]+|gitCommit: .*|^date: ".*"', "", text, flags=re.MULTILINE)


def runs_of(folder: Path) -> list[str]:
    with gzip.open(folder / "runs.tsv.gz", "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def files_of(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def stored_in(journal: Path) -> int:
    """The runs that a journal holds, which another process has locked and may be writing."""
    if not journal.exists():
        return 0
    with closing(sqlite3.connect(f"file:{journal}?immutable=1", uri=True)) as database:
        try:
            return int(database.execute("SELECT count(*) FROM run").fetchone()[0])
        except sqlite3.DatabaseError:  # half of a commit, or none yet
            return 0


@pytest.mark.parametrize("implementation", [(), MUTANT], ids=["passes", "fails"])
def test_the_merged_report_is_that_of_one_run(
    assay: Assay, tmp_path: Path, implementation: Sequence[str]
) -> None:
    words = ("run", *CAMPAIGN, *implementation)
    code = ExitCode.VIOLATED if implementation else ExitCode.CONFORMANT
    whole, merged = tmp_path / "whole", tmp_path / "merged"
    assert assay(*words, "--out", whole).code == code
    shards = [tmp_path / f"shard-{n}" for n in (1, 2, 3)]
    for n, shard in enumerate(shards, start=1):
        assay(*words, "--shard", f"{n}/3", "--out", shard)
        # A shard may lack the undisturbed run, which leaves the only history.
        assert "all as reported" in assay("verify", shard).out
        assert not (shard / "unfinished").exists()
    assert assay("report", "merge", *reversed(shards), "--out", merged, "--quiet").code == code
    assert report_of(merged) == report_of(whole)
    assert runs_of(merged) == runs_of(whole)
    assert files_of(merged) == files_of(whole)
    assert assay("verify", merged).code == 0
    listed = sorted(line for shard in shards for line in runs_of(shard))
    assert listed == sorted(runs_of(whole)), "each run is in one shard"


def test_a_shard_that_is_killed_goes_on_where_it_was(assay: Assay, tmp_path: Path) -> None:
    words = ("run", SCENARIO, "--random-plans", PLANS, "--jobs", "1", "--quiet", "--shard", "1/1")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "conformance.cli", *map(str, words), "--out", str(killed)]
    journal = killed / "unfinished" / "campaign.sqlite3"
    seen = 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        began = time.monotonic()
        while running.poll() is None and time.monotonic() - began < DEADLINE_SECONDS:
            # The next commit begins when the one before has ended, so that it is kept.
            if seen >= SOME_RUNS and stored_in(journal) > seen:
                break
            seen = max(seen, stored_in(journal))
            time.sleep(0.01)
        running.send_signal(signal.SIGKILL)
    assert running.returncode == -signal.SIGKILL, "it was to be killed before its end"
    assert not (killed / "report.yaml").exists()
    assert assay(*words, "--out", killed, "--resume").code == ExitCode.CONFORMANT
    assert assay(*words, "--out", whole).code == ExitCode.CONFORMANT
    assert report_of(killed) == report_of(whole)
    assert runs_of(killed) == runs_of(whole)
    assert len(set(runs_of(killed))) == PLANS + 1
    with sqlite3.connect(killed / "campaign.sqlite3") as database:
        made = dict(database.execute("SELECT session, count(*) FROM run GROUP BY session"))
    assert set(made) == {1, 2}
    assert made[1] >= SOME_RUNS, "runs that had ended were kept"
    assert sum(made.values()) == PLANS + 1
    assert not (killed / "unfinished").exists()


def test_what_cannot_be_gone_on_with_is_refused(assay: Assay, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = assay("run", *CAMPAIGN, "--out", out, "--resume")
    assert ended.code == ExitCode.BAD_INPUT
    assert "no campaign was stopped there" in ended.err


def test_other_options_do_not_go_on_with_a_campaign(tmp_path: Path) -> None:
    from conformance.running.journal import Described, JournalError, begun, resumed

    path = tmp_path / "campaign.sqlite3"
    described = Described(command="assay run toy --seed 1", assay="1")
    with begun(path, described):
        pass
    other = Described(command="assay run toy --seed 2", assay="1")
    with (
        pytest.raises(JournalError, match="is of the command assay run toy --seed 1"),
        resumed(path, other),
    ):
        pass
    with (
        begun(path, described),
        pytest.raises(JournalError, match="locked"),
        resumed(path, described),
    ):
        pass
    path.write_bytes(b"no database" * 100)
    with pytest.raises(JournalError, match="is no journal"), resumed(path, described):
        pass


def test_shards_that_are_no_whole_campaign_are_not_merged(assay: Assay, tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    few = (SCENARIO, "--random-plans", "2", "--jobs", "1", "--quiet")
    assay("run", *few, "--shard", "1/2", "--out", one)
    assay("run", *few, "--shard", "2/2", "--out", two)
    assay("run", *few, "--seed", "3", "--shard", "2/2", "--out", other)
    for shards, complaint in (
        ([one], "missing: 2/2"),
        ([one, one], "name each shard once"),
        ([one, other], "is of another campaign"),
        ([one, tmp_path], "has no campaign.sqlite3"),
    ):
        ended = assay("report", "merge", *shards, "--out", tmp_path / "merged")
        assert ended.code == ExitCode.BAD_INPUT
        assert complaint in ended.err
        assert not (tmp_path / "merged").exists()
    ended = assay("report", "merge", one, two, "--out", one)
    assert ended.code == ExitCode.BAD_INPUT
    assert "holds a shard's report" in ended.err


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "x/y"])
def test_a_shard_that_is_none_is_refused(assay: Assay, text: str) -> None:
    ended = assay("run", *CAMPAIGN, "--shard", text)
    assert ended.code == ExitCode.BAD_INPUT
    assert "expected I/N" in ended.err
