"""Runs: one, many side by side, the same again, and what is tried to make them fail.

A tour:

- `runner` makes one run and has it judged; `run_options` is what a caller chooses.
- `suite` makes many, by `workers`: this process, a pool of others (`side_by_side`), or threads on
  a real control plane. `collecting` keeps the garbage collector out of the way meanwhile.
- `rearming` makes those again that a slow machine kept from arming their claims.
- `crash_tasks` kills the operator around every write, `random_plans` tries what nobody thought
  of, `shrunk` makes what failed as small as it goes.
- `mutation` measures the suite itself, on controllers that are wrong on purpose, and
  `generic_mutants` on mistakes that are planted at random in the `decision_code`; `fault_use`
  counts which faults each claim was put to.
"""
