"""Where scenarios run: one class of `World` per kind of cluster.

- `simulated`: in this process, in virtual time; the default.
- `control_plane`: real etcd and Kubernetes control-plane processes, KWOK as the kubelet, the
  implementation under test as a process of its own.
- `existing`: a cluster that another client has set up, and wants back as it was; the rest is
  what `control_plane` has.
- `kind`: a cluster of real kubelets and containers, made for one suite; the rest is what
  `existing` has.

`served` is no world of scenarios: programs in real time beside a simulated cluster, for tests.

Here, and only here, the implementation meets the cluster and the faults.
"""
