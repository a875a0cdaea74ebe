"""The suites that ship with Assay, a package each. Others come from other distributions.

- `appwrapper`: the fault tolerance document of AppWrapper, with the invariants that follow.
- `mlbatch`: the MLBatch guide, as far as it speaks of AppWrappers.
"""
