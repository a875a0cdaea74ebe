"""An earlier run's writes to a leased node are not in the history of the next run."""

from __future__ import annotations

from typing import Any

from conformance.worlds.existing.node_pool import since_loans


def request(resource: str, name: str, revision: int | None) -> dict[str, Any]:
    """An audit event; without a resourceVersion, of a rejected request."""
    answer = {} if revision is None else {"metadata": {"resourceVersion": str(revision)}}
    return {"objectRef": {"resource": resource, "name": name}, "responseObject": answer}


def test_requests_about_a_node_count_from_its_loan_on_and_all_others_always() -> None:
    pod, foreign = request("pods", "a-0", 5), request("nodes", "another", 6)
    before, refused_before = request("nodes", "n", 7), request("nodes", "n", None)
    loan, refused_since = request("nodes", "n", 20), request("nodes", "n", None)
    events = [before, refused_before, pod, foreign, loan, refused_since]
    assert since_loans(events, {"n": 20}) == [pod, foreign, loan, refused_since]
