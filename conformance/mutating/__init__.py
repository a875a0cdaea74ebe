"""Mutation testing: mistakes planted in source code, to measure who notices them.

It knows no other room, so the same operators serve for the judged (`assay mutants --generic`) and
for the judges (`ci/weaken`). A tour:

- `operators` make wrong replacements for a node of the syntax tree.
- `mutants` finds all of them in some modules, draws by a seed, and gives each its id.
- `substitute` has a process import a mutated module; no file is written.
- `alone` does work in processes of its own, which cannot hang or fill the memory.
- `executed` records who executes which lines; `by_tests` has tests try a mutant.
- `equivalent` reads the list of those that do nothing wrong.
"""
