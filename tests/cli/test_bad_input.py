"""Invalid input gives one clear sentence and exit code 2, and changes nothing."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Assay
from tests.headers import header_of
from tests.report.sample_run import failing_run
from vocabulary import history as history_module
from vocabulary.history import Write, to_lines

SCENARIO = "appwrapper/deletion/slow-pods-hold-their-quota"

BAD_PLANS: dict[str, tuple[str | bytes, str]] = {
    "binary": (b"\x7fELF\x02\x01\x01\xff\xfe", "is not UTF-8"),
    "control characters": ("seed: 1\x00\n", "control characters"),
    "an empty file": ("", "plan"),
    "a list": ("- 1\n", "plan"),
    "a bomb of aliases": (
        "a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n",
        "plan.yaml:1:4: anchor &a is not allowed",
    ),
    "an alias of itself": ("faults: &f [*f]\n", "anchor &f is not allowed"),
    "a merge key": ("<<: {seed: 1}\n", "merge key << is not allowed"),
    "a key twice": (
        f"scenario: {SCENARIO}\nseed: 1\nseed: 2\n",
        "plan.yaml:3:1: key 'seed' occurs twice",
    ),
    "a python object": ("seed: !!python/object/apply:os.system ['touch hacked']\n", "not allowed"),
    "a custom tag": ("seed: !secret 1\n", "tag !secret is not allowed"),
    "nesting without end": ("faults: " + "[" * 3000 + "\n", "nested deeper than 64"),
    "half a file": ("faults:\n- kill: {actor: op", "plan.yaml:"),
    "two documents": ("seed: 1\n---\nseed: 2\n", "holds 2 YAML documents"),
    "a tab as indentation": ("faults:\n\t- kill: {}\n", "plan.yaml:2:1"),
    "an unknown field": (f"scenario: {SCENARIO}\nsead: 1\n", "did you mean seed"),
    "no scenario": ("seed: 1\n", "scenario: is missing"),
    "an unknown scenario": ("scenario: appwrapper/nowhere\n", "no scenario 'appwrapper/nowhere'"),
    "a seed that is text": (f"scenario: {SCENARIO}\nseed: many\n", "seed"),
    "a seed below zero": (f"scenario: {SCENARIO}\nseed: -1\n", "seed"),
    "a seed beyond 64 bits": (f"scenario: {SCENARIO}\nseed: {2**64}\n", "seed"),
    "a number without end": (f"seed: {'9' * 5000}\n", "plan.yaml:1:7"),
    "a number in base 60": (
        f"scenario: {SCENARIO}\nseed: 1{':1' * 20_000}\n",
        "plan.yaml:2:7: seed: expected `int`, got `str`",
    ),
    "a number without end in base 16": (f"seed: 0x{'f' * 5000}\n", "plan.yaml:1:7"),
    "not a number": ("seed: .nan\n", "is not a number that JSON can hold"),
    "faults that are no list": (f"scenario: {SCENARIO}\nfaults: kill\n", "faults"),
    "an unknown fault": (
        f"scenario: {SCENARIO}\nfaults:\n- kil: {{actor: operator}}\n  when: {{at: 1s}}\n",
        "faults[0]",
    ),
    "an unknown field of a fault": (
        f"scenario: {SCENARIO}\nfaults:\n- kill: {{acter: operator}}\n  when: {{at: 1s}}\n",
        "faults[0]",
    ),
    "a duration without unit": (
        f"scenario: {SCENARIO}\nfaults:\n- kill: {{actor: operator}}\n  when: {{at: 12}}\n",
        "faults[0].when.at",
    ),
    "a script as scenario": (
        'scenario: "<script>alert(1)</script>\\e[2J"\n',
        "there is no scenario '<script>alert(1)</script>\\x1b[2J'",
    ),
    "an implementation that is none": (
        f"scenario: {SCENARIO}\nimplementation: ../../bin/sh\n",
        "plan.yaml: implementation: unknown implementation",
    ),
    "an implementation of another suite": (
        f"scenario: {SCENARIO}\nimplementation: mutant:one-more\n",
        "plan.yaml: implementation: 'mutant:one-more' is a mutant of jobset, not of appwrapper",
    ),
}


REFUSED_FAULTS: dict[str, tuple[str, str]] = {
    "a manifest with an unknown field": (
        "create_object: {object: {apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, "
        "metadata: {name: b}, spec: {replicatedJobz: []}}}",
        "spec.replicatedJobz: is not implemented",
    ),
    "a manifest of an unknown kind": (
        "create_object: {object: {apiVersion: jobset.x-k8s.io/v1, kind: JobSet, "
        "metadata: {name: b}}}",
        "NotFound: the server could not find the requested resource",
    ),
    "a process that is not there": ("kill: {actor: appwrapper}", "no process 'appwrapper'"),
}


@pytest.mark.parametrize("name", REFUSED_FAULTS)
def test_a_fault_of_a_plan_that_is_refused_is_reported_and_the_run_is_inconclusive(
    assay: Assay, name: str, tmp_path: Path
) -> None:
    fault, reason = REFUSED_FAULTS[name]
    path = tmp_path / "plan.yaml"
    path.write_text(
        f"scenario: jobset/restarts/a-job-has-completed\nfaults:\n- {fault}\n  when: {{at: 1s}}\n"
    )
    ended = assay("replay", path)
    assert ended.code == 3
    (note,) = (line for line in ended.out.splitlines() if "refused" in line)
    assert note.startswith(f"note: {path}: correct or remove faults[0], which was refused: ")
    assert reason in note


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_broken_plan_is_refused_with_its_place(assay: Assay, name: str, tmp_path: Path) -> None:
    content, complaint = BAD_PLANS[name]
    path = tmp_path / "plan.yaml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    ended = assay("replay", path)
    assert (ended.code, ended.out) == (2, "")
    assert complaint in ended.err
    assert ended.err.startswith("assay: ")
    assert ended.err.count("\n") == 1
    assert "\x1b" not in ended.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["plan.yaml"]


def test_a_plan_that_is_too_large_is_refused_before_it_is_parsed(
    assay: Assay, tmp_path: Path
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text("# " + "x" * 2 * 1024**2)
    ended = assay("replay", path)
    assert ended.code == 2
    assert "at most 1048576 bytes are read" in ended.err


def test_a_folder_in_the_place_of_a_plan_is_refused(assay: Assay, tmp_path: Path) -> None:
    ended = assay("replay", tmp_path)
    assert ended.code == 2
    assert "cannot be read: Is a directory" in ended.err


def _lines() -> list[bytes]:
    run = failing_run()
    return to_lines(run.header, run.entries).splitlines(keepends=True)


def _without_header() -> bytes:
    return b"".join(_lines()[1:])


def _two_headers() -> bytes:
    lines = _lines()
    return b"".join([*lines[:3], lines[0], *lines[3:]])


def _swapped() -> bytes:
    lines = _lines()
    lines[4], lines[5] = lines[5], lines[4]
    return b"".join(lines)


def _from_the_future() -> bytes:
    return b"".join(_lines()).replace(b'"format":2', b'"format":99', 1)


def _a_line_that_is_none() -> bytes:
    lines = _lines()
    lines[7] = b"<script>alert(1)</script>\x1b[2J\n"
    return b"".join(lines)


def _wrong_type() -> bytes:
    return b"".join(_lines()).replace(b'"t":400', b'"t":"soon"', 1)


def _unknown_record() -> bytes:
    return b"".join(_lines()).replace(b'"type":"process"', b'"type":"prophecy"', 1)


def _changed(change: Callable[[list[dict[str, Any]]], object]) -> bytes:
    """The history with a change to its records."""
    records: list[dict[str, Any]] = [json.loads(line) for line in _lines()]
    change(records)
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def _with_object(path: str, value: object) -> bytes:
    """The history with another value in a field of the first object, in line 2."""

    def change(records: list[dict[str, Any]]) -> None:
        *parents, last = path.split(".")
        inner = records[1]["object"]
        for parent in parents:
            inner = inner.setdefault(parent, {})
        inner[last] = value

    return _changed(change)


def _damaged_gzip() -> bytes:
    data = bytearray(gzip.compress(b"".join(_lines()), mtime=0))
    data[200] ^= 0xFF
    return bytes(data)


BAD_HISTORIES = {
    "an empty file": (b"", "is empty; a history begins with a header line"),
    "binary": (b"\x00\xff\x13\x37\n", "line 1"),
    "text": (b"hello\n", "line 1"),
    "a YAML report": (b"apiVersion: assay.dev/v1\nkind: ConformanceReport\n", "is a run's report"),
    "deep JSON": (b'{"type":"header","facts":' + b'{"a":' * 5000 + b"\n", "line 1"),
    "no header": (_without_header(), "expected the header"),
    "two headers": (_two_headers(), "line 4 is a second header"),
    "lines out of order": (_swapped(), "lines are missing or out of order"),
    "a format from the future": (
        _from_the_future(),
        "history format 99, this version reads 1 and 2",
    ),
    "a line that is no record": (_a_line_that_is_none(), "line 8"),
    "a wrong type": (_wrong_type(), "line 2"),
    "an unknown record": (_unknown_record(), "prophecy"),
    "a damaged gzip file": (_damaged_gzip(), "history.jsonl.gz"),
    "gzip of nothing": (gzip.compress(b""), "is empty"),
    "a time that is text in the last line": (
        _changed(lambda rows: rows[-1].update(t="soon")),
        "Expected `int`, got `str` - at `$.t`",
    ),
    "time below zero": (_changed(lambda rows: rows[1].update(t=-1)), "line 2: Expected `int` >= 0"),
    "a time beyond all dates": (
        _changed(lambda rows: rows[1].update(t=2**70)),
        "line 2: Expected `int` <= ",
    ),
    "time that runs backwards": (
        _changed(lambda rows: rows[-2].update(t=1)),
        "in the line before: time runs backwards; no cluster can have had this history: ask for",
    ),
    "versions below zero": (_changed(lambda rows: rows[1].update(rv=-1)), "line 2: Expected `int`"),
    "a version beyond 63 bits": (
        _changed(lambda rows: rows[1].update(rv=2**70)),
        "line 2: Expected `int` <= 9223372036854775807 - at `$.rv`",
    ),
    "versions that run backwards": (
        _changed(
            lambda rows: next(row for row in rows if row.get("kind") == "Pod").update(rv=2**40)
        ),
        "and 1099511627776 in an earlier line of Pod: resourceVersions run backwards",
    ),
    "an unknown verb": (
        _changed(lambda rows: rows[1].update(verb="frobnicate")),
        "line 2: verb is 'frobnicate', which writes nothing; verbs are create, delete,",
    ),
    "a code that is none": (_changed(lambda rows: rows[1].update(code=9999)), "line 2: Expected"),
    "a rejected request that stores something": (
        _changed(lambda rows: rows[1].update(code=409, event="ADDED")),
        "line 2: code is 409, and event ADDED: a rejected request stores nothing",
    ),
    "a beginning before the epoch": (_changed(lambda rows: rows[0].update(began_us=-1)), "line 1:"),
    "a seed beyond 63 bits": (_changed(lambda rows: rows[0].update(seed=2**70)), "line 1: "),
    "an operator of no suite": (
        _changed(
            lambda rows: rows[0]["operators"].update(
                nosuch={"suite": "nosuch", "implementation": ""}
            )
        ),
        "line 1: operators.nosuch: no suite 'nosuch' is installed; install its distribution",
    ),
    "an edition that no suite has": (
        _changed(lambda rows: rows[0].update(editions={"appwrapper": "nosuch"})),
        "line 1: editions.appwrapper: the suite has no edition 'nosuch'; there are ",
    ),
    "metadata that is text": (
        _with_object("metadata", "text"),
        "line 2: object: Expected `object`, got `str` - at `$.metadata`",
    ),
    "owners that are text": (
        _with_object("metadata.ownerReferences", ["text"]),
        "ownerReferences[",
    ),
    "an owner whose uid is a number": (
        _with_object("metadata.ownerReferences", [{"uid": 7}]),
        "Expected `str`, got `int` - at `$.metadata.ownerReferences[",
    ),
    "labels that are a list": (_with_object("metadata.labels", ["text"]), "$.metadata.labels"),
    "a label that is a number": (_with_object("metadata.labels", {"a": 1}), "$.metadata.labels"),
    "conditions that are text": (_with_object("status.conditions", "text"), "$.status.conditions"),
    "a condition that is none": (_with_object("status.conditions", [None]), "$.status.conditions["),
    "status that is a number": (_with_object("status", 7), "$.status"),
    "a timestamp that is none": (
        _with_object("metadata.deletionTimestamp", "soon"),
        "line 2: object: Invalid RFC3339 encoded datetime - at `$.metadata.deletionTimestamp`",
    ),
}


@pytest.mark.parametrize("name", BAD_HISTORIES)
def test_a_broken_history_is_refused_with_file_and_line(
    assay: Assay, name: str, tmp_path: Path
) -> None:
    content, complaint = BAD_HISTORIES[name]
    path = tmp_path / "history.jsonl.gz"
    path.write_bytes(content)
    ended = assay("check", path)
    assert ended.code == 2, ended
    assert ended.err.startswith(f"assay: {path}: ")
    assert complaint in ended.err
    assert "\x1b" not in ended.err


def test_a_history_that_unpacks_to_too_much_is_refused(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MAX_HISTORY_BYTES", 10_000_000)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(os.urandom(12_000_000).replace(b"\n", b" ")))
    ended = assay("check", path)
    assert ended.code == 2
    assert "unpacks to more than 10000000 bytes; rejected" in ended.err


def test_a_record_that_is_too_long_is_refused_before_it_is_parsed(
    assay: Assay, tmp_path: Path
) -> None:
    path = tmp_path / "zeros.jsonl"
    path.write_bytes(bytes(20_000_000) + b"\n")
    ended = assay("check", path)
    assert ended.code == 2
    assert f"{path}: line 1 has over 16777216 bytes; rejected" in ended.err


@pytest.mark.parametrize("option", [(), ("--audit-log",)], ids=["history", "audit log"])
def test_what_unpacks_to_far_more_than_its_size_is_refused(
    assay: Assay, option: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"\n" * 40_000_000))
    ended = assay("check", *option, path)
    assert ended.code == 2
    assert f"{path}: " in ended.err
    if not option:
        assert "line 1: Input data was truncated" in ended.err
    else:
        assert "unpacks to more than 200 times its size" in ended.err


def test_a_history_of_more_records_than_any_run_has_is_refused(
    assay: Assay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history_module, "MAX_RECORDS", 5)
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"".join(_lines()))
    ended = assay("check", path)
    assert ended.code == 2
    assert f"{path}: has more than 5 records; refused" in ended.err


@pytest.mark.parametrize("field", [b'"scenario":"', b'"uid":"'], ids=["header", "record"])
def test_bytes_that_are_not_utf_8_are_bad_input(assay: Assay, field: bytes, tmp_path: Path) -> None:
    lines = _lines()
    line = next(number for number, text in enumerate(lines) if field in text)
    lines[line] = lines[line].replace(field, field + b"\xff", 1)
    path = tmp_path / "history.jsonl"
    path.write_bytes(b"".join(lines))
    ended = assay("check", path)
    assert ended.code == 2
    assert f"{path}: line {line + 1}: " in ended.err


def test_a_history_that_is_missing_is_named(assay: Assay, tmp_path: Path) -> None:
    ended = assay("check", tmp_path / "no\x1b[2Jsuch.jsonl")
    assert ended.code == 2
    assert "cannot be read: No such file or directory" in ended.err
    assert "\x1b" not in ended.err


def test_a_history_cut_short_is_judged_as_far_as_it_goes_and_never_passes(
    assay: Assay, tmp_path: Path
) -> None:
    header = header_of(scenario="x", implementation="reference")
    write = Write(n=0, t=0, actor="user", verb="create", kind="Pod", name="a", code=404)
    path = tmp_path / "cut.jsonl"
    path.write_bytes(to_lines(header, [write]) + b'{"type":"wri')
    ended = assay("check", path)
    assert ended.code == 3
    assert "note: the history was cut short" in ended.out


ON_PLANE = ("--cluster", "control-plane", "--implementation")
BAD_ARGUMENTS = {
    "a claim that is none": (["run", "AW-15"], "did you mean AW-015"),
    "a scenario that is none": (["run", "slow-podz"], "unknown suite, scenario or claim"),
    "a pattern of none": (
        ["run", "nosuch/*"],
        "unknown suite, scenario or claim: nothing matches 'nosuch/*'",
    ),
    "a skipped one that is not selected": (
        ["run", "kueue/queues", "--skip", "jobset"],
        "--skip: 'jobset' names no scenario of the selection",
    ),
    "everything is skipped": (
        ["run", "kueue/queues", "--skip", "kueue"],
        "--skip leaves nothing to run; leave one out",
    ),
    "a hostile word": (["run", "../../etc/passwd\x1b[2J"], "unknown suite, scenario or claim"),
    "a cluster that is none": (["run", "--cluster", "moon"], "is none of simulated"),
    "a cluster that is nearly one": (
        ["run", "--cluster", "simulatd"],
        "assay: --cluster 'simulatd' is none of simulated, control-plane, kind, existing; "
        "did you mean simulated?",
    ),
    "a mutant that is nearly one": (
        ["run", "--implementation", "quota-released-on-faild"],
        "did you mean mutant:quota-released-on-failed? Use ",
    ),
    "a seed that is text": (["run", "--seed", "x"], "--seed"),
    "a seed below zero": (["run", "--seed", "-1"], "--seed"),
    "a seed that no plan can hold": (
        ["run", "--seed", str(2**63)],
        "'--seed': Input should be less than or equal to 9223372036854775807; assay run --help",
    ),
    "a control plane's folder for another cluster": (
        ["run", "--cluster-folder", "here"],
        "--cluster-folder: is a control plane's, and --cluster is simulated; add --cluster",
    ),
    "a profile that is nearly one": (
        ["profile", "check", "appwrapper-v1.1.3"],
        "nor a .yaml file; did you mean appwrapper-v1.1.2 or ",
    ),
    "jobs below zero": (["run", "-j", "-1"], "--jobs"),
    "an implementation that is none": (
        ["run", "--implementation", "mutant:quota"],
        "unknown implementation",
    ),
    "a mutant that is like none": (
        ["run", "--implementation", "mutant:nosuch"],
        "unknown implementation 'mutant:nosuch'; no name is similar. Use reference, mutant:NAME "
        "(assay mutants --list shows them), a shipped profile (appwrapper-v1.1.2, ",
    ),
    "an unknown option": (
        ["run", "--xyzzy"],
        "assay: no such option: --xyzzy; assay run --help tells what may be given",
    ),
    "an unknown command": (["rum"], "no such command 'rum'"),
    "a claim to show that is none": (["claims", "show", "AW-9999"], "is no claim"),
    "a claim's number where there is a gap": (
        ["claims", "show", "AW-16"],
        "'AW-16' is no claim; did you mean AW-015 or AW-014 or AW-013? List them: assay claims",
    ),
    "a selection that is like nothing": (
        ["run", "nosuch"],
        "unknown suite, scenario or claim 'nosuch'; no name is similar. List them: assay claims",
    ),
    "a released operator that is none": (
        ["run", "--implementation", "appwrapper-v1.3.0"],
        "; did you mean appwrapper-v1.2.0 or appwrapper-v1.1.2? Use",
    ),
    "claims to list that there are not": (
        ["claims", "list", "nosuch"],
        "no claim has the name 'nosuch', or that in its text; no name is similar. Leave it out",
    ),
    "claims to list that are nearly there": (
        ["claims", "list", "aw-0155"],
        "did you mean AW-015 or AW-055?",
    ),
    "words that no claim holds together": (
        ["claims", "list", "AW-015", "AW-049"],
        "no claim holds all of AW-015, AW-049; leave one of them out",
    ),
    "scenarios to list that there are not": (
        ["claims", "scenarios", "nosuch"],
        "no scenario has the name 'nosuch'",
    ),
    "a level that is none": (["claims", "list", "--level", "hard"], "is none of Core"),
    "a mutant that is none": (["mutants", "quota-relased"], "there is no mutant"),
    "mistakes on the wire of no suite": (["mutants", "--wire", "5"], "mutants jobset --wire 60"),
    "mistakes on the wire of a suite that there is not": (
        ["mutants", "jobsets", "--wire", "5"],
        "there is no suite 'jobsets'; did you mean jobset?",
    ),
    "a mistake on the wire that is none": (
        ["mutants", "jobset", "wire:jobset=lost:create:Pod"],
        "'lost:create:Pod' is no mistake on the wire; write RULE:VERB:KIND",
    ),
    "a mistake on the wire of no operator of the suite": (
        ["mutants", "jobset", "wire:kueue=left-out:create:Pod"],
        "no scenario of jobset has an operator 'kueue'",
    ),
    "mistakes in the writes of any operator without a workload": (
        ["mutants", "operator", "--wire", "5"],
        "--workload sample.yaml",
    ),
    "an implementation without mistakes on the wire": (
        ["mutants", "--implementation", "mine.yaml"],
        "go with --wire",
    ),
    "mistakes on the wire of a control plane": (
        ["run", "jobset/endings/no-policy", *ON_PLANE, "reference+wire:left-out:create:Service"],
        "leave out --cluster",
    ),
    "an implementation with a mistake that is none": (
        ["run", "jobset/endings/no-policy", "--implementation", "reference+wire:nosuch"],
        "'nosuch' is no mistake on the wire",
    ),
    "a controller that is none": (["controller", "run", "volcano"], "there is no program 'volc"),
    "a mutant to run that is none": (
        ["controller", "run", "appwrapper", "--mutant", "nice"],
        "mutant: there is no 'nice'",
    ),
    "a kubeconfig that is a folder": (["clean", "--kubeconfig", "/"], "Is a directory"),
    "a kubeconfig that is missing": (
        ["controller", "run", "appwrapper", "--kubeconfig", "/nonexistent/k"],
        "there is no file /nonexistent/k",
    ),
    "a log level that is none": (
        ["controller", "run", "appwrapper", "--log-level", "loud"],
        "--log-level is 'loud'",
    ),
    "webhooks without certificate": (
        ["controller", "run", "appwrapper", "--webhook-port", "9443"],
        "--webhook-port needs a certificate and a key",
    ),
    "a clock that is none": (["serve", "--clock", "broken"], "is none of real, advanced"),
    "a port that is none": (["serve", "--port", "70000"], "--port"),
    "an argument that is missing": (
        ["verify"],
        "assay: missing argument 'report'; assay verify --help tells what may be given",
    ),
    "a value that is missing": (["run", "--seed"], "option '--seed' requires an argument; assay"),
    "a command of a group that is none": (["report", "pdf"], "assay report --help tells"),
    "no report": (["verify", "/nonexistent"], "assay: /nonexistent: cannot be read"),
    "no report to write another from": (["report", "junit", "/none.yaml"], "assay: /none.yaml: "),
    "no report to compare with": (["compare", "/none.yaml", "/b"], "assay: /none.yaml: "),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_a_wrong_argument_is_refused_by_name(
    assay: Assay, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, complaint = BAD_ARGUMENTS[name]
    monkeypatch.chdir(tmp_path)
    ended = assay(*arguments)
    assert ended.code == 2, ended
    assert complaint in ended.err
    assert ended.err.startswith("assay: ")
    assert ended.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


BAD_CONFIGS = {
    "an unknown field": "faultTolerance: {retryLimits: 3}\n",
    "a wrong type": "faultTolerance: {retryLimit: three}\n",
    "a duration without unit": 'faultTolerance: {failureGracePeriod: "60"}\n',
    "a list": "- 1\n",
    "a key twice": "schedulerName: a\nschedulerName: b\n",
}


@pytest.mark.parametrize("name", BAD_CONFIGS)
def test_a_broken_operator_configuration_is_refused(
    assay: Assay, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(BAD_CONFIGS[name])
    ended = assay("controller", "run", "appwrapper", "--config", path)
    assert ended.code == 2, ended
    assert ended.err.startswith("assay: ")


def test_a_folder_with_other_files_is_not_written_to(assay: Assay, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    ended = assay("run", "--out", tmp_path)
    assert ended.code == 2
    assert "holds files but no report.yaml of Assay's" in ended.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["thesis.tex"]


def test_a_report_that_cannot_be_written_is_a_failure_of_the_environment(assay: Assay) -> None:
    ended = assay("run", SCENARIO, "--out", "/proc/no-such-folder")
    assert ended.code == 4
    assert ended.err.startswith("assay: /proc/no-such-folder: nothing can be written there: ")


def test_a_kubeconfig_that_is_binary_is_refused(assay: Assay, tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_bytes(b"\x00\xff\xfe")
    ended = assay("controller", "run", "appwrapper", "--kubeconfig", path)
    assert ended.code == 2
    assert f"--kubeconfig: {path}:1:" in ended.err
    assert "give the path of a kubeconfig" in ended.err


def test_a_bug_of_assay_does_not_read_as_a_violated_claim(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("no reason")

    monkeypatch.setattr("reference_controller.runtime.process.run", fail)
    ended = assay("controller", "run", "appwrapper")
    assert ended.code == 70
    assert "ZeroDivisionError: no reason" in ended.err
    assert ended.err.endswith("please report it\n")


def test_a_missing_optional_package_is_named_with_what_to_install(
    assay: Assay, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ModuleNotFoundError("No module named 'kubernetes'", name="kubernetes")

    monkeypatch.setattr("reference_controller.runtime.process.run", refuse)
    ended = assay("controller", "run", "appwrapper")
    assert ended.code == 4
    assert "install it with: pip install 'assay[cluster]'" in ended.err


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        (("jobset", "--large", "--crash-points"), "--crash-points: jobset/scale/thousands"),
        (("thousands-of-pods-restart", "--random-plans", 3), "--random-plans: jobset/scale/"),
        (("jobset", "--large", "--cluster", "control-plane"), "--large: only the simulated"),
    ],
)
def test_large_scenarios_run_once_and_in_the_simulation(
    assay: Assay, asked: tuple[str, ...], complaint: str
) -> None:
    ended = assay("run", *asked)
    assert ended.code == 2
    assert ended.err.startswith(f"assay: {complaint}")
