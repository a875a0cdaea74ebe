"""Runs: one, many in parallel, repeated, and campaigns to make them fail.

A tour:

- `runner` makes one run and has it evaluated; `run_options` are a caller's choices.
- `suite` makes many, by `workers`: this process, a pool of others (`side_by_side`), or threads on
  a real control plane. `collecting` keeps the garbage collector out of the way meanwhile.
- `rearming` repeats runs that a slow machine kept from arming their claims.
- `crash_tasks` kills the operator around every write, `random_plans` tries random faults,
  `shrunk` shrinks failures.
- `mutation` measures the suite itself, on controllers that are wrong on purpose, and
  `generic_mutants` on mistakes that are planted at random in the references' decision code,
  `wire_mutants` on mistakes in the writes of any operator (`mutant_trials` is common to both);
  `fault_use` counts which faults each claim was put to.
"""
