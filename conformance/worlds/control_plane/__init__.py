"""The real world: a control plane of real processes, the operator as one more of them.

- `session`: one control plane for many runs, which go on side by side in namespaces and on
  nodes of their own. `tenancy` is for a control plane that stays.
- `recorder`: follows the audit log and the watches of the whole session.
- `run_record`: one run's part of that, with what the run itself did; `history_merge` makes one
  history of all, in the order of the store.
- `operator_process`: the implementation under test, as a process that can be killed;
  `operator_command` says how it is started, `operator_places` what it finds when it is: files,
  proxy, and a `network` of its own if it listens on a port that nobody can choose, or else a turn
  at that port (`port_turn`).
- `webhooks`: the implementation's admission webhooks, where they are a function;
  `process_webhooks`: what the operator's process needs that serves them itself.
- `proxy`: what lies between the operator and the API server, and what chaos put on it.
- `processes`: the processes by the names that faults use.
- `world`: all of it as a `World`.
"""
