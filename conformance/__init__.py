"""What must hold: claims, the scenarios that put them to the test, and the verdicts.

A tour, in the order in which a run goes:

- `scenario`, `scenarios`: situations, each a function of a `world.World` with its manifests.
- `parameters`: the operator configuration of a run, at default or shortened durations.
- `implementation`: the controller under test: the reference, or one of its mutants.
- `worlds`: where a scenario runs: simulated in virtual time, or on a real control plane.
- `runner`, `suite`, `workers`: one run; many, side by side; who makes them. `rearming` makes
  those again that a slow machine kept from arming their claims, `crash_tasks` kills operators,
  `random_plans` draws faults, and `shrunk` makes what fails as small as it gets.
  `side_by_side` and `collecting` are what makes many of them cheap.
- `history_view`: a recorded history, indexed for those who judge it.
- `claim`, `claims`, `temporal`, `verdict`: normative sentences, their checkers, the words that
  checkers are written in, and what they say.
- `mutation`, `fault_use`: how strong all that is, measured on controllers that are wrong on
  purpose, and which faults it was put to.
- `report`: the outcome as data, then as pages, JUnit and Allure.
- `cli`, `as_tests`: the ways in: the `assay` command, and pytest.
- `clean`, `undoing`: remove what a killed run left on a cluster, and mend what it broke.

Judges know neither the reference nor how a run came about; `.importlinter` keeps it so.
"""
