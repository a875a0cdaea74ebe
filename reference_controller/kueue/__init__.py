"""The reference controller of Kueue, as KEP-1282 and the quota decisions describe it.

A tour:

- `names`, `config`, `amounts`: the API's words, the settings, and quantities.
- `workload`: a Workload as controllers read it.
- `books`: which Workloads hold quota and which wait, kept from events, shared by all controllers.
- `quota`, `flavors`: what is left of a queue's quota, and the flavors of a Workload.
- `preemption`: who gives quota back for a Workload that comes first, pure.
- `scheduler`: cycles that admit what fits, and preempt for what does not.
- `queue_controllers`: the status of ClusterQueues and LocalQueues, and their finalizer.
- `priorities`, `events`: the priority of a job, and messages for its users.
- `office`: what all controllers share, and which jobs wait.
- `integrations`: the kinds of jobs; `job_controller`: one controller for each; `new_workload`: what
  it creates.
- `release`: Workloads that are let go, and the pods that are left of them.
- `workload_controller`: Workloads whose job has left them.
- `workload_status`: the next status of a Workload, pure.
- `rules`: every decision that could be made wrongly, one small method each.
- `admission`: jobs are created suspended or gated, and what is reserved stays.
- `manifests`: the CRDs, permissions, webhooks and the Deployment.
- `mutants`: the same controller with one decision made wrong, many times over.
- `program`: all of this as one description, for `reference_controller.programs`.
"""
