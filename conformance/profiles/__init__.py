"""Implementation profiles: another client's controller, described so that the suite can run it.

A profile is one YAML file. A walk through the package, in the order of its use:

- `profile` is the format, as types; `profile.schema.json` the same for editors.
- `reading` reads a file strictly and says what is wrong with it. Those in a suite's directory
  `profiles` can be named without a path: `conformance.suite.shipped_profiles`.
- `program` builds the released program from its Go module, once, into a cache.
- `configuration` and `placeholders` put a run's settings into the implementation's own words.
- `profiled` is what a world then runs: one process for each run, killed and restarted by it.

What reports say of a profile's known differences is in `differences`; `findings` is the page of
causes, `details` all evidence, `track_record` the table of all releases, and `contradictions` why
reports of two clusters differ.

Most controllers watch the whole cluster. Here each run still has one of its own: the proxy
between it and the API server shows it the namespace of its run alone, so that runs go on side
by side, and a fault strikes one of them. The webhooks that it serves are called for that namespace
alone (`conformance.worlds.control_plane.process_webhooks`). What a controller polls for, the suite
pokes: it changes an annotation of the run's objects at a stated interval, so that noticing
late is no violation, and acting in the wrong order is one.

Import the modules by name; this file imports nothing, so that asking for a shipped profile's
name costs nothing either.
"""
