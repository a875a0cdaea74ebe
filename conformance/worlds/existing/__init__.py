"""Runs on a cluster that another client has set up, reached through nothing but a kubeconfig.

The world is that of `conformance.worlds.control_plane`; what differs is what its session
stands on. In the order of a run:

- `access`: the way to the API server, and who one is there.
- `rights`: what must be allowed, asked for one by one, and the rule that would allow it.
- `rights_used`: which of them requests have used, by an audit log.
- `neighbours`: controllers that are at work there and would interfere.
- `preflight`: these and more, before anything is touched; what will be touched, in words.
- `accounts`: whom the operators under test act as.
- `node_pool`: nodes that are lent to a run and given back as they were.
- `session`: all of it as a `Session`.
"""
