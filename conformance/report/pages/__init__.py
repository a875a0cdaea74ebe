"""The HTML pages: one index, and one page per failure that tells the whole run.

- `index_page` and `failure_page` fill the files in `templates/`; `page` is what both share.
- `lanes` puts together what a failure page draws, from `lane` (one row) and `object_lanes` (the
  lives of objects, some by their suite: `Suite.lanes`); `time_axis` folds the times in which
  nothing happens, and `shown_time` spells times.
- `event_table` lists every entry: `change` says in a few words what it did, `object_diff` of
  `conformance.history` in full.
"""
