"""What right looks like: controllers that implement every specified behaviour.

- `appwrapper`: the AppWrapper controller: reconciler without I/O, pure decisions, mutants.
- `runtime`: what controllers share: caches, work queue, leader election, and the thin shell
  that runs one as a process on a real cluster.
- `programs`: which controllers there are, by name, ready to be run as a process.

This room speaks the vocabulary alone: it knows neither the claims it is judged by nor the
cluster it runs on.
"""
