"""The vocabulary shared by all rooms.

Assay has four rooms: `reference_controller` (correct behavior), `conformance` (claims and
their evaluation), `chaos` (faults) and `clusters` (real and simulated ones). They meet
in this package, which stays small on purpose: it decides nothing about any controller. A room of
its own, `mlbatch_tools`, has tools for users of clusters.

A tour, in reading order:

- `clock`: points in time are whole microseconds, so virtual time is exact.
- `durations`, `quantities`: Go's duration grammar and Kubernetes' resource quantities.
- `objects`: API objects are plain nested dicts, never mutated; how to read and derive them.
- `kinds`: group, version, kind and plural of the resources that are known by name.
- `selectors`: label selectors, both as text and as objects.
- `requests`: API requests as data.
- `errors`: API errors, as `metav1.Status`.
- `fault_effect`: how a fault hinders a controller, as the fault itself describes it.
- `history`: the recording of a run, entry by entry.
- `hindrance`: the operators that a fault hinders.
- `mistakes`, `field_hints`, `typed_yaml`: what is wrong with data from outside, by file, line and
  field, and what to write instead.
- `canonical`: one byte string per value, and its digest.
"""
