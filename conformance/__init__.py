"""Conformance: claims, the scenarios that arm them, and verdicts.

A tour, in the order of a run:

- `suite`, `suites`: the claims, scenarios and view of one norm each, found by entry point.
- `scenario`, `scenarios`: situations, each a function of a `world.World` with its manifests;
  `handle` is what it holds of one object.
- `under_test`, `implementation`, `profiles`: the controller under test: the reference, one of its
  mutants, or a third-party program by its profile.
- `worlds`: where a scenario runs: simulated in virtual time, or on a real cluster.
- `running`: one run; many in parallel; campaigns that kill the operator around every write, or draw
  faults at random; shrinking of failures; and measuring the suite's strength.
- `history`: a recorded history, indexed for checkers; suites see more in it, each by its view.
- `norm`: what a claim and a verdict are, and the temporal operators that checkers are written
  with. `claims`: those of all suites, and the verdicts on one history.
- `report`: the outcome as data, as pages and in other formats; comparison of two outcomes.
- `audit_log`: an API server's audit log as a history.
- `cli`, `as_tests`: the `assay` command, and pytest.
- `clean`, `undoing`: remove a killed run's leftovers from a cluster, and revert its faults.

Checkers know neither the reference nor the origin of a run; `.importlinter` enforces this.
"""
