"""The suites that ship with Assay, a package each. Others come from other distributions.

- `appwrapper`: the fault tolerance document of AppWrapper, with the invariants that follow.
- `jobset`: the failure policy of JobSet (KEP-262).
- `kueue`: requeuing and quotas (KEP-1282, the MLBatch guide).
- `operator`: any operator, of which nothing is known but a workload.
- `quota`: when quota is released, across all of these.
- `streams`: recovery of interrupted submissions.
- `mlbatch`: the MLBatch guide, as far as it speaks of AppWrappers.
"""
