"""The small runtime that the reference controllers share; it knows none of them.

The pure part, driven by the simulation and by a real process alike, in reading order:

- `controller`: what a controller has to be: watched kinds, event → keys, reconcile.
- `caches`, `cached_list`: what the informers have seen, with indexes that build themselves.
- `work_queue`: which key comes next; never two workers on one; backoff and timers.
- `leader_election`: which of several operators may act, by Lease.
- `operator`: these four as one state machine: `replace`, `deliver`, `poll`, `answer`.

The shell around it that makes a process on a real cluster:

- `process`: threads, signals, exit codes; `options`: what can be set.
- `informer`: one kind's LIST and WATCH, for ever.
- `connection`, `http_request`, `discovery`: requests over the official client's transport.
- `admission_review`, `json_patch`, `webhook_server`, `webhook_certificate`: admission, from
  pure function to HTTPS.
- `endpoints`, `metrics`, `logs`: what people and Prometheus see of it; `server_thread` is what
  its servers share.
- `wall_clock`: the only place that reads one.

`reference_controller.programs` puts a controller and this together by name.
"""
