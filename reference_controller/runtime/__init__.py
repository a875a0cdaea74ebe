"""The small runtime that the reference controllers share.

The pure part, driven by the simulation and by a real process alike, in reading order:

- `controller`: the interface of a controller: name, watched kinds, event → keys, reconcile.
- `caches`, `cached_list`: the objects that informers have seen, with indexes that build themselves.
- `work_queue`: keys in order; never two workers on one; backoff and timers.
- `workers`: one controller's queue and reconciles.
- `leader_election`: the choice of the one operator that may act, by Lease.
- `operator`: several controllers as one state machine: `replace`, `deliver`, `poll`, `answer`;
  an `observer` hears of it.

The shell around it that makes a process on a real cluster:

- `program`: the contents of a process; `process`: threads, signals, exit codes; `options`.
- `informer`: one kind's LIST and WATCH.
- `connection`, `http_request`, `discovery`: requests over the official client's transport.
- `admission_review`, `json_patch`, `webhook_server`: admission by kind, from pure functions to
  HTTPS; `access_review`: the rights of users.
- `endpoints`, `metrics`, `logs`: for people and Prometheus; `server_thread` is shared by its
  servers.
- `wall_clock`: the only place that reads one.
"""
