"""Published examples, as manifests of ours: each reaches the end that the table states."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec import structs

from tests.examples.posted import ENDS, End, end_of
from tests.examples.published import OURS, Example, Upstream, differences, reached, shape, table
from tests.reference_jobset.driver import job_set, replicated_job

EXAMPLES = [(each.name, example) for each in table() for example in each.examples]


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=lambda each: getattr(each, "ours", ""))
def test_an_example_reaches_its_end(name: str, example: Example) -> None:
    assert example.end in ENDS
    end = reached(OURS / name / example.ours, example)
    assert end.text == example.end, end
    assert example.words in end.words


def test_the_table_has_each_manifest_of_ours_once() -> None:
    listed = [OURS / name / example.ours for name, example in EXAMPLES]
    assert sorted(listed) == sorted(OURS.glob("*/*.yaml"))
    assert all(example.words for _, example in EXAMPLES if example.end == "refused")


def test_what_a_manifest_presupposes_is_needed() -> None:
    for name, example in EXAMPLES:
        if example.presupposes:
            end = reached(OURS / name / example.ours, structs.replace(example, presupposes={}))
            assert end.text != example.end, example.ours


def test_a_suspended_workload_waits_to_be_resumed() -> None:
    assert end_of([job_set(replicated_job(), suspend=True)], {}) == End("waits to be unsuspended")


def test_originals_that_are_not_as_the_table_has_them_are_told(tmp_path: Path) -> None:
    upstream = _ours_as_published(tmp_path / "right")
    assert list(differences(upstream, tmp_path / "right" / "jobset")) == []
    upstream = _ours_as_published(tmp_path / "wrong")
    folder = upstream.folder_in(tmp_path / "wrong")
    assert folder == tmp_path / "wrong" / "jobset"
    text = (folder / "groups.yaml").read_text()
    (folder / "groups.yaml").write_text(text.replace("sleep", "train"))
    (folder / "later.yaml").write_text(text)
    (folder / "success-policy.yaml").unlink()
    assert [line.partition(": ")[2] for line in differences(upstream, folder)] == [
        "is not the file of example/jobset at c0ffee",
        "runs on; the table has: succeeds",
        "is missing; example/jobset has it at v1",
        "is not in the table",
    ]


def test_shapes_differ_by_kinds_fields_and_order_only() -> None:
    one = job_set(replicated_job("a"))
    assert shape(one) == shape(job_set(replicated_job("b"), name="other"))
    assert shape(one) != shape({**one, "kind": "Job"})
    assert shape(one) != shape(dict(reversed(one.items())))
    assert shape(one) != shape(job_set(replicated_job("a"), replicated_job("b")))


def _ours_as_published(folder: Path) -> Upstream:
    """Two of our manifests, as if another project had published them."""
    (folder / "jobset").mkdir(parents=True)
    examples = []
    for name in ("groups.yaml", "success-policy.yaml"):
        content = (OURS / "jobset" / name).read_bytes()
        (folder / "jobset" / name).write_bytes(content)
        examples.append(Example(name, sha256(content).hexdigest(), name, "succeeds"))
    return Upstream("jobset", "example/jobset", "v1", "c0ffee", "examples", tuple(examples))
