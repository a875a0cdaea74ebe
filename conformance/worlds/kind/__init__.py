"""kind: a cluster in containers, with kubelets and containers that are real, made for one suite.

The world is that of `conformance.worlds.control_plane`, its session that of
`conformance.worlds.existing`: the suite borrows nodes and labels namespaces as it would on
another client's cluster. What is added here is that the cluster is the suite's own, so that it
has an audit log, and nodes that may fail. In the order of a run:

- `options`: what is asked for.
- `programs`: docker, kind and the node image, as far as they are on this machine.
- `configuration`: what the cluster is to be like, as kind and kubeadm read it.
- `cluster`: its life, from creation to deletion, by way of pytest-kind.
- `node_containers`: the containers that play the nodes, and commands in them.
- `component`: kubelets, nodes and controllers by the names that faults use; `kubelets`: those
  that a label of their node stops.
- `pod_processes`: containers that are killed and frozen from their nodes.
- `collector_probe`: whether the controllers know the suite's kinds yet.
- `session`: all of it as a `Session`.
"""
