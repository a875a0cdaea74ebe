"""The reference controller of JobSets, as KEP-262 with its future actions describes it.

A tour, in the order in which a pass over one JobSet runs through it:

- `job_set_controller`: the events that wake it, and for which JobSet.
- `reconcile`: the requests, one at a time; each yield is a crash point.
- `expectations`: the Jobs that were created and that the cache does not show yet.
- `freshness`: a read that tells if the JobSet is still the one that was decided on.
- `specs`: its spec with defaults, or why it cannot be run, as if no webhook had seen it.
- `observe` → `observation`: the JobSet, the Jobs that it controls, its Service, from the caches.
- `verdict`, `status`: the next status, pure: which failure is acted on, how the JobSet ends.
- `children`, `startup`: the Jobs that are stale, missing, or suspended wrongly, pure.
- `templates`, `numbering`, `network`, `resumption`: the Jobs and the Service as they are created,
  and Jobs as they are resumed.
- `rules`: every decision that could be made wrongly, one small method each.
- `admission`, `spec_admission`: defaulting and validation of submitted JobSets.
- `events`, `metrics`: output for users and administrators.
- `manifests/`: the CRD, permissions, deployment and webhooks for a real cluster.
- `mutants`: the same controller with one decision made wrong, many times over.
- `program`: all of this as one description, for `reference_controller.programs`.

A restart is counted in the status before anything is deleted, under the resourceVersion that was
read. Each Job carries the numbers of restarts at its creation (`names.RESTARTS`), so a Job of an
older number is stale, however often the controller dies meanwhile, and its failure is not seen
again.
"""
