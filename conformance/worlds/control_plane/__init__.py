"""The real world: a control plane of real processes, with the operator as one more of them.

- `session`: one control plane for many parallel runs in their own namespaces and on their own
  nodes. `control_plane_lock` is for a persistent control plane.
- `recorder`: follows the audit log and the watches of the whole session.
- `run_record`: one run's part of that, with the run's own actions; `history_merge` makes one
  history of all, in the order of the store.
- `operator_process`: the implementation under test, as a process that can be killed;
  `operator_command` is its command, `operator_places` its environment: files,
  proxy, and its own `network` if it listens on a fixed port, or else a turn
  at that port (`worlds.turns`).
- `webhooks`: the implementation's admission webhooks, where they are a function;
  `process_webhooks`: the environment of an operator process that serves them itself.
- `proxy`: the connection between the operator and the API server, with chaos rules.
- `processes`: the processes by the names that faults use.
- `world`: all of it as a `World`.
"""
