"""Reference controllers, which implement every specified behaviour.

- `appwrapper`: the AppWrapper controller: reconciler without I/O, pure decisions, mutants.
- `runtime`: shared by all controllers: caches, work queues, leader election, webhooks, and the
  thin shell that runs them as a process on a real cluster.
- `rules`, `mutants`: one decision, one method; right and wrong decisions, and their comparison.
- `reference_program`: the description of a reference; `manifests`: its installation.
- `programs`: the references of all installed packages, by name.

Only `appwrapper` knows AppWrappers. This room speaks the vocabulary alone: it knows neither the
claims it is judged by nor the cluster it runs on.
"""
