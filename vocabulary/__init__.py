"""The words every room speaks, and nothing else.

Assay has four rooms: `reference_controller` (what right looks like), `conformance` (what
must hold), `chaos` (what goes wrong) and `fixtures` (what it all stands on). They meet in
this package, which stays small on purpose: it decides nothing about any controller.

A tour, in reading order:

- `clock`: points in time are whole microseconds, so virtual time is exact.
- `durations`, `quantities`: Go's duration grammar and Kubernetes' resource quantities.
- `objects`: API objects are plain nested dicts that nobody mutates; how to read and derive them.
- `kinds`: group, version, kind and plural of the resources that are known by name.
- `selectors`: label selectors, both as text and as objects.
- `requests`: what a client can ask of an API server, as data.
- `errors`: what an API server answers when it refuses, as `metav1.Status`.
- `fault_effect`: how a fault hinders a controller, as the fault itself describes it.
- `history`: what was recorded of a run, entry by entry.
- `canonical`: one byte string per value, and its digest.
"""
