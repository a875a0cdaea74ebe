"""Pods as real containers: a shell script that follows behaviour annotations on real kubelets.

Scenarios define pod behaviour by annotations (`clusters.behaviour`), also while pods run. The
simulated kubelet and KWOK's stages follow these directly. A real kubelet runs images; on clusters
with real kubelets, every pod (template) is therefore rewritten (`pods`): any image with a POSIX
shell runs a script (`entrypoint.sh`) that reads the pod's annotations from a downward API volume
and follows them. The kubelet syncs an annotated pod immediately, so a patched annotation takes
effect within about a second.

How long the cluster's kubelets take is measured in advance (`rehearsal`).

Differences from pods on fake kubelets:

- A pod patched to get stuck remains stuck until its grace period ends.
- `restart-after` is not supported: a kubelet's back-off cannot be configured per pod.
- The only supported exit reason is OOMKilled, by really running out of memory.
- Pods become unready only if created with `never ready`, since that requires a probe.
"""
