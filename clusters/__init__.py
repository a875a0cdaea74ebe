"""Clusters to run on, and how pods behave there.

- `clusters.simulated`: a Kubernetes cluster in one process and in virtual time.
- `clusters.control_plane`: real etcd, kube-apiserver, kube-controller-manager,
  kube-scheduler, with KWOK as the kubelet.
- `clusters.behaviour`: pod behaviour by annotation, on any of them ("run 5s, exit 3");
  `clusters.commands`: what containers' commands do, where no annotation says more.
- `clusters.containers`: the same on the kubelets of kind.
- `clusters.go_time`, `clusters.python_time`: programs whose clock is the simulated cluster's.
- `clusters.crds`: custom resource definitions that scenarios need.

This room knows no claim, no checker and no reference controller.
"""
