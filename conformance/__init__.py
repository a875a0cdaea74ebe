"""What must hold: claims, the scenarios that put them to the test, and the verdicts.

A tour, in the order in which a run goes:

- `scenario`, `scenarios`: situations, each a function of a `world.World` with its manifests; it
  has an `appwrapper.AppWrapper` in its hands.
- `parameters`: the operator configuration of a run, at default or shortened durations.
- `under_test`, `implementation`, `profiles`: the controller under test: the reference, one of its
  mutants, or somebody else's program by its profile.
- `worlds`: where a scenario runs: simulated in virtual time, or on a real control plane.
- `running`: one run; many, side by side; the same with the operator killed around every write, or
  with faults drawn at random; what failed, made small; and how strong all that is.
- `history_view`: a recorded history, indexed for those who judge it.
- `claim`, `claims`, `temporal`, `verdict`: normative sentences, their checkers, the words that
  checkers are written in, and what they say.
- `report`: the outcome as data, then as pages and in others' formats; two outcomes compared.
- `audit_log`: what an API server recorded elsewhere, as a history.
- `cli`, `as_tests`: the ways in: the `assay` command, and pytest.
- `clean`, `undoing`: remove what a killed run left on a cluster, and mend what it broke.

Judges know neither the reference nor how a run came about; `.importlinter` keeps it so.
"""
