"""The reference controller of JobSets, as KEP-262 with its future actions describes it.

A pass over one JobSet is four steps, each a pure function but the last:

- `observe`: the JobSet, the Jobs that it owns, their Service, from the caches.
- `failures`, `progress`: which failure has to be acted on, how the JobSet ends, what stands in
  its status.
- `children`: which Jobs are stale, missing, or suspended wrongly.
- `reconcile`: the requests, in the order that makes a crash between any two of them harmless.

`rules` has every decision that could be made wrongly; `mutants` make one of them wrongly.

A restart is counted in the status before anything is deleted, under the resourceVersion that was
read. Each Job carries the numbers of restarts at its creation (`names.RESTARTS`), so a Job of an
older number is stale, however often the controller dies meanwhile, and its failure is not seen
again.
"""
