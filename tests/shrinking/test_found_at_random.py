"""Bugs found by random plans, each shrunk to its minimum: they must not come back."""

from __future__ import annotations

import pytest

from chaos.plan import parse_plan
from conformance.implementations.ours import implementation
from conformance.norm.verdict import Outcome
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS
from vocabulary.history import Write

FOUND = {
    "a Job that its user scaled down was measured by its first size": """\
seed: 1483267782
scenario: appwrapper/scaling/workload-is-scaled-down-for-a-moment/job
scale: {nodes: 1}
workload: {appwrapper: a, behaviour: 'run 20s, exit 1'}
faults: []
""",
    "a second operator had the configuration from before": """\
seed: 4166347268
scenario: appwrapper/operator-restarts/restarted-with-another-configuration
scale: {components: a-1}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
- double_operator: {}
  when: {after: commit, event: updated, kind: Pod, labels: workload.codeflare.dev/appwrapper=a}
- restart: {actor: operator, downtime: 3s}
  when: {injection: 3}
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 4}
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 5}
""",
    "a component was orphaned before its uid could be noted, and was not deleted": """\
seed: 3842536017
scenario: appwrapper/pod-set-shapes/pods-are-counted-and-labelled/ray-cluster
scale: {replicas: 1}
faults:
- delete_object: {kind: AppWrapper, name: a, propagation: Orphan}
  when: {after: commit, by: operator, outcome: any, occurrence: 4}
""",
    "pods that went missing while they were still admitted were to be noticed at once": """\
seed: 3826672799
scenario: appwrapper/detection/pods-vanish-while-their-controller-is-paused
workload: {appwrapper: a, parameters: {failureGracePeriodDuration: -1s}}
faults: []
""",
    "a frozen cache kept a deletion from seeing the Job that it should delete": """\
seed: 671799520
scenario: appwrapper/autopilot/real-taints-are-the-source
scale: {nodes: 1, replicas: 1}
exhaustive: true
faults:
- stale_reads: {kind: Job}
  when: {after: commit, by: operator, outcome: any}
- taint: {node: n0, key: autopilot.ibm.com/gpuhealth, value: EVICT, effect: NoExecute}
  when: {injection: 1}
""",
    "a leader's death was not seen by checkers, which blamed its successor": """\
seed: 84729103
scenario: appwrapper/operator-faults/leader-is-killed
faults: []
""",
    "events that were on their way when a delay ended still came late": """\
seed: 774456838
scenario: appwrapper/deletion/forceful-deletion-follows-its-annotation/longer
scale: {nodes: 1, components: [a-0, a-1]}
exhaustive: true
faults:
- delay_watch: {}
  when: {after: commit, event: created, kind: Pod, labels: workload.codeflare.dev/appwrapper=a}
  for: 2s
- hold_object: {kind: Pod, name: {}}
  when: {after: commit, event: updated, kind: Pod, labels: workload.codeflare.dev/appwrapper=a}
  for: 1s
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
""",
    "a request that was on its way when a slowness ended still was answered late": """\
seed: 3024292431
scenario: appwrapper/parameters/cap-on-annotations/deletion-on-failure
scale: {nodes: 1}
exhaustive: true
faults:
- slow_api: {}
  when: {after: reply, by: operator, outcome: any, occurrence: 8}
  for: 1s
- kill_pod: {pod: {}}
  when: {at: 3s}
""",
    "a look at a frozen cache had the grace period run before the warm-up was over": """\
seed: 1525648611
scenario: appwrapper/retry/every-kind-is-retried-alike/deployment
scale: {nodes: 1, replicas: 1}
faults:
- stale_reads: {kind: Pod}
  when: {before: commit, by: operator}
""",
    "a reason took over from another, and the grace period was counted anew": """\
seed: 2656743077
scenario: appwrapper/detection/pods-start-just-in-time
faults:
- delete_pod: {pod: {}}
  when:
    after: commit
    event: updated
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 3
- node_lost: {node: {hosting: {appwrapper: a}}}
  when:
    after: commit
    event: updated
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 3
""",
    "what was deleted had never been known to a controller that died as it created it": """\
seed: 1001369204
scenario: appwrapper/detection/component-is-deleted-before-the-last-is-created
scale: {nodes: 1, components: [a-service, a-1]}
exhaustive: true
faults:
- kill: {actor: operator}
  when: {after: reply, by: operator, outcome: any, occurrence: 4}
- delete_object: {kind: Service, name: a-service}
  when: {injection: 1}
""",
    "a run was called stable while its operator was about to come back": """\
seed: 1402389127
scenario: appwrapper/autopilot/pods-that-do-not-run-are-not-moved
exhaustive: true
faults:
- restart: {actor: operator}
  when: {before: commit, by: operator, occurrence: 6}
""",
    "a forceful delete that was refused once was tried again only after half a minute": """\
seed: 4290097163
scenario: appwrapper/suspension/with-pods-that-do-not-stop
scale: {nodes: 1, replicas: 1}
exhaustive: true
faults:
- suspend: {appwrapper: a}
  when: {injection: 1}
- api_error: {verb: delete}
  when: {at: 1s}
""",
    "a run was called stable before the garbage collector, just resumed, had looked": """\
seed: 1855557122
scenario: appwrapper/deletion/appwrapper-is-deleted-while-running/foreground
scale: {nodes: 1, replicas: 1}
faults:
- pause: {actor: garbage-collector}
  when: {before: commit, by: operator}
""",
    "a failed pod that a finalizer holds has no grace left to be taken": """\
seed: 4126792400
scenario: appwrapper/deletion/foreign-pod-with-our-label-is-left-alone
scale: {nodes: 1, components: a-0}
exhaustive: true
faults:
- hold_object: {kind: Pod, name: {}}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
- kill_pod: {pod: a-0}
  when: {injection: 1}
""",
    "a pod that had ended was moved off its node: it was read before it ended, the node after": """\
seed: 1321884918
scenario: appwrapper/evictions/pods-that-have-ended-are-not-moved
exhaustive: true
faults:
- delay_watch: {by: 49s}
  when: {before: commit, by: operator}
- kill_pod: {pod: {appwrapper: a}, exit_code: 0}
  when: {injection: 1}
- autopilot_label: {node: {hosting: {appwrapper: a, phase: Succeeded}}, value: EVICT}
  when: {injection: 2}
""",
    "a ReplicaSet outlived its Deployment, and made pods when all seemed gone": """\
seed: 1524180459
scenario: appwrapper/submission/scheduler-is-named-for-every-kind/deployment
faults:
- delete_pod: {pod: {which: all}}
  when: {after: reply, by: operator, outcome: any, occurrence: 6}
""",
    "a pod that came and went between two lists of its informer was missed after five minutes": """\
seed: 2738147313
scenario: appwrapper/submission/waits-in-its-queue/none
scale: {nodes: 1}
faults:
- break_watch: {kind: Pod}
  when: {before: commit, by: operator}
- delete_pod: {pod: {}}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}, delay: 1s}
""",
    "an operator that no election kept back deleted what the other had just begun": """\
seed: 3929366392
scenario: appwrapper/retry/pause-follows-its-annotation/none
scale: {nodes: 1}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
- double_operator: {}
  when: {at: 1s}
""",
    "the end of what was deleted by force was noticed late over a broken watch": """\
seed: 329238243
scenario: appwrapper/parameters/cap-on-annotations/deletion-on-failure
scale: {nodes: 1}
exhaustive: true
faults:
- break_watch: {kind: Pod, gap: 13s}
  when: {after: commit, by: operator, outcome: any}
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
""",
    "a controller was to know what it made, and lost with its life, before it made it anew": """\
seed: 167042522
scenario: appwrapper/retry/pause-begins-when-all-is-gone
scale: {nodes: 1}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
- kill: {actor: operator}
  when:
    after: commit
    event: created
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 3
- delete_pod: {pod: {}, grace_period_seconds: 0}
  when: {before: commit, by: operator, occurrence: 23}
""",
    "an operator that told people for long deleted what another had begun meanwhile": """\
seed: 803000
scenario: appwrapper/suspension/while-running
faults:
- double_operator: {}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Suspending}}
- slow_api: {by: 5s, verb: create}
  when: {after: commit, by: operator, outcome: any, occurrence: 6}
""",
    "and where it took two minutes, and the workload had failed before": """\
seed: 355328
scenario: appwrapper/retry/counter-outlives-suspension
faults:
- double_operator: {}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
- slow_api: {by: 2m, verb: create}
  when: {after: commit, by: operator, outcome: any, occurrence: 6}
""",
    "a run was taken to be at rest while its only operator waited to lead again": """\
seed: 1974377308
scenario: appwrapper/operator-faults/lease-is-taken-in-a-reset
faults:
- kill_pod: {pod: {appwrapper: a, which: all}}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Resuming}, delay: 33s}
  for: 2s
- delay_watch: {kind: Service, by: 14s}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Failed}, delay: 1s}
  for: 39s
- node_deleted: {node: {which: random}}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Suspending}, delay: 35s}
  for: 22s
- node_lost: {node: {which: random}}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Resuming}}
- delay_watch: {kind: Service, by: 28s}
  when: {after: commit, by: operator, outcome: any, occurrence: 91}
  for: 28s
""",
    "pods seen before a process was stopped for a week were held against them after it": """\
seed: 710514167
scenario: appwrapper/failed/deletion-starts-at-once/negative
scale: {nodes: 1}
faults:
- pause: {actor: operator}
  when:
    after: commit
    event: updated
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 2
""",
    "a cache that lacked what had just been created began the grace period before its time": """\
seed: 2305381777
scenario: appwrapper/injection/unknown-kinds-are-created-and-deleted
scale: {nodes: 1}
faults:
- time_out: {verb: list}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
""",
    "a create that was answered late was held against an operator that another had overtaken": """\
seed: 3742930114
scenario: appwrapper/detection/job-fails
scale: {nodes: 1, replicas: 1}
faults:
- slow_api: {}
  when: {after: commit, by: operator, outcome: any, occurrence: 2}
- double_operator: {}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Resuming}}
- evict_pod: {pod: {}}
  when: {after: commit, event: updated, kind: Pod, labels: workload.codeflare.dev/appwrapper=a}
""",
    "pods of a Job that a user orphaned after success were the first that could be deleted": """\
seed: 611532721
scenario: appwrapper/job-shapes/job-repairs-itself/plain
scale: {nodes: 1, replicas: 1}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}, exit_code: 0}
  when: {injection: 1}
- delete_object: {kind: Job, name: {}}
  when: {at: 3s}
""",
    "what came and went behind a broken watch was waited for until force was due": """\
seed: 2345664108
scenario: appwrapper/detection/job-is-deleted-by-a-user/foreground
scale: {nodes: 1, replicas: 1, components: a-job}
exhaustive: true
faults:
- break_watch: {gap: 15s}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Resuming}}
- delete_object: {kind: Job, name: a-job, propagation: Foreground}
  when: {injection: 1}
""",
    "an AppWrapper that somebody else's finalizer holds was expected to settle": """\
seed: 2618465403
scenario: appwrapper/submission/it-comes-with-a-finalizer-of-others
scale: {nodes: 1}
faults:
- delete_object: {kind: AppWrapper, name: a}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
""",
    "fourteen refusals cost a client more than a second each": """\
seed: 7
scenario: appwrapper/suspension/while-running
faults:
- api_error: {verb: update, code: 500, times: 14}
  when: {at: 1s}
""",
    "a creation that was refused out of sight counted as pods that were missed too early": """\
seed: 7
scenario: appwrapper/suspension/while-running
faults:
- api_error: {verb: create, code: 500, times: 14}
  when: {at: 1s}
""",
    "a scenario made a pod for a component that had been deleted": """\
seed: 7
scenario: appwrapper/pod-set-shapes/last-pod-is-missing/declared
faults:
- delete_object: {kind: AppWrapper, name: a}
  when: {at: 0s}
""",
    "a Job completed without replacing a failed pod, which still counted": """\
seed: 1632765862
scenario: appwrapper/success/job-replaced-a-pod-itself
workload: {appwrapper: a, replicas: 2, beside: [{kind: Pod, name: beside-0}]}
faults: []
""",
    "failed workers of a PyTorchJob that was complete kept a workload from being ready": """\
seed: 225547826
scenario: appwrapper/success/pytorch-job-cleans-up-after-itself/running
workload: {appwrapper: a, behaviour: 'run 20s, exit 1', beside: {kind: Job, name: added-0}}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a, labels: training.kubeflow.org/replica-type=master}, exit_code: 0}
  when: {injection: 1}
""",
    "refusals of two faults in a row were held to cost no more than each of them alone": """\
seed: 1820372171
scenario: appwrapper/operator-faults/suspended-over-a-bad-connection/failing-reads
scale: {nodes: 1, replicas: 1}
exhaustive: true
faults:
- suspend: {appwrapper: a}
  when: {injection: 1}
- api_error: {verb: [get, list], times: 0}
  when: {injection: 2}
- api_error: {verb: get, times: 3}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Suspending}, delay: 2s}
""",
    "and fourteen after a conflict no more than fourteen": """\
seed: 173083288
scenario: appwrapper/autopilot-sources/resource-without-marks
scale: {nodes: 1, replicas: 1}
faults:
- api_error: {verb: list, times: 14}
  when: {after: reply, by: operator, verb: patch, kind: AppWrapper, subresource: '', outcome: any}
- delete_object: {kind: AppWrapper, name: a}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Resuming}}
""",
    "a creation without an answer had made a workload unhealthy before the first refusal did": """\
seed: 2382885708
scenario: appwrapper/retry/quota-refuses-the-second-attempt
scale: {nodes: 1, components: a-1}
workload: {appwrapper: a, parameters: {admissionGracePeriodDuration: -0s}}
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 1}
- time_out: {verb: create, after: 16s}
  when: {after: reply, by: operator, verb: delete, kind: Pod, subresource: '', outcome: any}
""",
    "what was deleted to be created anew was to be left to controllers that repair it": """\
seed: 1296343858
scenario: appwrapper/lost-creations/annotations-are-stripped-before-an-answer-comes/goes-at-once
scale: {nodes: 1, components: [a-service, a-0]}
workload: {appwrapper: a, behaviour: init stuck}
exhaustive: true
faults:
- lose_reply: {verb: create, kind: Service, times: 0}
  when: {injection: 1}
- tamper: {kind: Service, name: a-service, strip: annotations}
  when: {injection: 2}
""",
    "an operator that polls was thought to be at rest in the midst of a grace period": """\
seed: 623671401
scenario: appwrapper/pod-set-shapes/last-pod-is-missing/ray-cluster-of-several-hosts
scale: {nodes: 1}
workload: {appwrapper: a, parameters: {admissionGracePeriodDuration: 2562047h47m16.854775807s}}
faults: []
""",
    "a second operator deleted a Job that had finished unseen": """\
seed: 999261594
scenario: jobset/admission/replicated-jobs-are-changed-while-suspended/fewer-jobs
scale: {nodes: 1, replicas: 1}
faults:
- evict_pod: {pod: {}}
  when:
    after: reply
    by: operator
    verb: patch
    kind: Job
    outcome: any
    occurrence: 2
    subresource: ''
- double_operator: {}
  when: {after: commit, event: updated, kind: Pod}
""",
    "and so where it had failed the JobSet": """\
seed: 3564010857
scenario: jobset/outside/job-of-a-failed-jobset-is-deleted
scale: {nodes: 1}
exhaustive: true
faults:
- double_operator: {}
  when: {after: commit, event: updated, kind: Pod, field: {status.phase: Running}}
- kill_pod: {pod: {owner: a-w-0}}
  when: {injection: 1}
""",
    "a single one deleted a Job that it had to leave failed": """\
seed: 3791817732
scenario: jobset/left-failed/jobs-that-never-start/all-of-both
scale: {nodes: 1}
faults:
- evict_pod: {pod: {which: all}}
  when: {after: reply, by: operator, outcome: any, occurrence: 5}
""",
    "creations in vain of a Job whose name is another client's were held to be without bound": """\
seed: 1943452457
scenario: jobset/outside/job-is-taken-away/given-back
scale: {nodes: 1, replicas: 2}
exhaustive: true
faults:
- edit_object: {kind: Job, name: a-w-1, patch: {metadata: {ownerReferences: null}}}
  when: {injection: 1}
- evict_pod: {pod: {}}
  when:
    after: commit
    by: operator
    verb: create
    kind: Job
    outcome: any
    occurrence: 3
    subresource: ''
""",
    "a Job that a suspension has created, and nothing starts, was waited for": """\
seed: 3523821636
scenario: jobset/left-failed/jobs-that-never-start/any-of-both
scale: {nodes: 1}
exhaustive: true
faults:
- suspend: {object: JobSet/a}
  when: {after: commit, event: updated, kind: Pod}
  for: 1s
- kill_pod: {pod: {owner: a-first-0}}
  when: {injection: 1}
- kill_pod: {pod: {owner: a-w-0}, exit_code: 0}
  when: {injection: 2}
""",
    "the ReplicaSet of a Deployment that a user had orphaned counted as nothing": """\
seed: 2081354160
scenario: appwrapper/success/nothing-to-run-is-no-success
scale: {nodes: 1}
faults:
- delete_object: {kind: Deployment, name: {}, propagation: Orphan}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}, delay: 1s}
""",
    "a Job came back to no JobSet whose operator was gone when its predecessor went": """\
seed: 1087393184
scenario: jobset/two-failures/seen-at-once/job-then-job
scale: {nodes: 1}
exhaustive: true
faults:
- restart: {actor: operator, downtime: 22s}
  when: {after: commit, event: updated, kind: Pod}
- kill_pod: {pod: {owner: a-v-0}}
  when: {injection: 3}
- start: {actor: operator}
  when: {injection: 4}
- pause: {actor: garbage-collector}
  when: {after: reply, by: operator, outcome: any}
""",
    "a success that a user deleted before any operator was there had to be seen": """\
seed: 3188342861
scenario: jobset/success/success-of-a-job-that-restarts
scale: {nodes: 1}
exhaustive: true
faults:
- api_error: {verb: delete, kind: Job, times: 0}
  when: {injection: 1}
- kill_pod: {pod: {owner: a-w-0}}
  when: {injection: 2}
- kill_pod: {pod: {owner: a-w-1}, exit_code: 0}
  when: {injection: 3}
- kill_pod: {pod: {owner: a-w-0}, exit_code: 0}
  when: {injection: 4}
- kill: {actor: operator, restart_after: 66s}
  when: {at: 20s}
- delete_object: {kind: Job, name: {}}
  when: {at: 23s}
""",
    "nothing told the controller of the end of a component that no longer named it": """\
seed: 650879624
scenario: appwrapper/failed/deletion-waits-for-debugging/first-failure
scale: {nodes: 1}
faults:
- tamper: {kind: Pod, name: {}}
  when: {at: 1s}
- delete_object: {kind: AppWrapper, name: a, propagation: Orphan}
  when: {at: 1s}
""",
    "a forceful deletion without any grace waited since the ordinary one changed nothing": """\
seed: 350755633
scenario: appwrapper/parameter-values/graces-of-a-failure/zero-without-a-unit
scale: {nodes: 1, components: a-1}
faults:
- kill: {actor: operator}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}}
- delete_object: {kind: AppWrapper, name: a, propagation: Foreground}
  when: {after: commit, kind: AppWrapper, name: a, field: {status.phase: Running}, delay: 1s}
""",
    "a workload whose pods work for minutes before they fail was to settle sooner": """\
seed: 159524408
scenario: appwrapper/parameter-values/graces-of-a-failure/a-number
scale: {nodes: 1, components: a-1}
workload: {appwrapper: a, behaviour: 'run 2m, exit 137'}
exhaustive: true
faults:
- pause: {actor: operator}
  when: {at: 0s}
""",
    "two replicas, one with a frozen cache, were held to be one that writes to no end": """\
seed: 2627552625
scenario: appwrapper/replaced-pods/only-pod-exits-with-0-when-it-goes/driven-out
scale: {nodes: 1, replicas: 1}
workload: {appwrapper: a, name: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb}
faults:
- stale_reads: {kind: Pod}
  when:
    after: commit
    kind: AppWrapper
    name: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb
    field: {status.phase: Running}
- double_operator: {}
  when: {at: 0s}
""",
    "a Job whose pod had succeeded and was gone seemed to lack a replacement for another": """\
seed: 748808892
scenario: appwrapper/job-shapes/job-repairs-itself/indexed
exhaustive: true
faults:
- kill_pod: {pod: {appwrapper: a}, exit_code: 0}
  when: {injection: 1}
- pause: {actor: kubelet/n0}
  when:
    after: commit
    event: updated
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    field: {status.phase: Running}
    occurrence: 3
- kill_pod: {pod: {appwrapper: a, phase: Running}, exit_code: 137}
  when: {injection: 2}
- kill_pod: {pod: {appwrapper: a, phase: Running, which: all}, exit_code: 0}
  when: {injection: 3}
""",
    "passes that events woke made a refused controller wait longer than it had been refused": """\
seed: 2163501186
scenario: appwrapper/deletion-steps/refused-delete-is-sent-again/forbidden
scale: {nodes: 1, components: [a-config, a-secret, a-job]}
exhaustive: true
faults:
- stale_reads: {kind: Secret}
  when:
    after: commit
    kind: AppWrapper
    name: a
    field: {'status.conditions[QuotaReserved].status': 'False'}
  for: 2s
- api_error: {verb: delete, kind: ConfigMap, times: 0, code: 403}
  when: {injection: 1}
- kill_pod: {pod: {appwrapper: a}}
  when: {injection: 2}
""",
    "a conflict had a component forgotten, which was created anew once it was deleted": """\
seed: 2108895448
scenario: appwrapper/operator-restarts/within-the-retry-pause/rolled-out
scale: {nodes: 1, components: [a-0, a-1]}
exhaustive: true
faults:
- kill_pod: {pod: {}}
  when:
    after: commit
    kind: AppWrapper
    name: a
    field: {status.phase: Suspended}
    delay: 1s
- kill: {actor: operator/1, restart_after: null}
  when: {injection: 2}
- tamper: {kind: AppWrapper, name: a, strip: annotations}
  when:
    after: commit
    event: created
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 3
- delete_pod: {pod: {}}
  when: {after: commit, by: operator, verb: create, kind: Pod, subresource: '', outcome: any}
""",
    "a Job that a replica created after an hour's pause was not to be replaced": """\
seed: 3833301860
scenario: jobset/partial-restarts/short-back-off-beside-a-long-one/replicated-job
scale: {nodes: 1}
exhaustive: true
faults:
- kill_pod: {pod: {owner: a-w-0}}
  when: {injection: 1}
- kill_pod: {pod: {owner: a-w-0}}
  when: {injection: 2}
- double_operator: {}
  when: {after: commit, event: deleted, kind: Pod, occurrence: 3}
  for: 5s
- pause: {actor: operator}
  when: {before: commit, by: operator, verb: create, kind: Job, subresource: '', occurrence: 6}
- kill_pod: {pod: {owner: a-w-0}}
  when: {injection: 3}
- kill_pod: {pod: {}}
  when: {at: 15s}
""",
    "a pod made for a Deployment that was long gone prolonged the deletion that was over": """\
seed: 2667494758
scenario: appwrapper/job-shapes/one-of-many-pods-is-not-replaced
scale: {nodes: 1, replicas: 3}
faults:
- pause: {actor: replicaset-controller}
  when: {after: commit, event: updated, kind: Pod, labels: workload.codeflare.dev/appwrapper=a}
""",
    "a pod without its labels while all else went was there again when they were put back": """\
seed: 3973132761
scenario: appwrapper/parameters/warmup-grace-period-of-the-operator
scale: {nodes: 1, components: [a-0, added-0]}
workload: {appwrapper: a, beside: {kind: Deployment, name: added-0}}
faults:
- tamper: {kind: Pod, name: {}}
  when:
    after: commit
    event: updated
    kind: Pod
    labels: workload.codeflare.dev/appwrapper=a
    occurrence: 4
  for: 1s
""",
    "a pod that had succeeded before its deletion was missed while a finalizer held it": """\
seed: 2713595173
scenario: appwrapper/job-shapes/job-does-all-its-work/fewer-completions
scale: {replicas: 1}
exhaustive: true
faults:
- pause: {actor: job-controller}
  when: {at: 1s}
- node_not_ready: {node: {hosting: {appwrapper: a}}}
  when: {at: 150s}
- kill_pod: {pod: {appwrapper: a, phase: Running, which: all}, exit_code: 0}
  when: {injection: 1}
""",
    "a repair that came and went while no operator was there began the grace period anew": """\
seed: 3381863720
scenario: appwrapper/parameter-values/limit-of-retries/zero
scale: {nodes: 1, replicas: 1}
workload: {appwrapper: a, backoff: 6}
faults:
- kill: {actor: operator, restart_after: 47s}
  when: {at: 3s}
""",
}

HELD_BACK = """\
seed: 157006822
scenario: appwrapper/operator-faults/two-operators-without-election
faults:
- pause: {actor: operator}
  when: {after: commit, by: operator, outcome: any, occurrence: 4}
"""
"""One operator stops before its first create, until the other runs the second attempt."""


@pytest.mark.parametrize("plan", FOUND.values(), ids=FOUND)
def test_the_reference_keeps_every_claim_where_random_plans_once_broke_one(plan: str) -> None:
    parsed = parse_plan(plan)
    scenario = SCENARIOS[parsed.scenario]
    run = run_one(scenario, implementation("reference", scenario.role), parsed.seed, parsed)
    assert [v.because for v in run.verdicts if v.outcome is Outcome.FAILED] == []


def test_an_operator_that_was_held_back_removes_nothing_that_another_runs() -> None:
    parsed = parse_plan(HELD_BACK)
    run = run_one(
        SCENARIOS[parsed.scenario], implementation("reference", "appwrapper"), parsed.seed, parsed
    )
    late = [
        entry for entry in run.entries if isinstance(entry, Write) and entry.actor == "appwrapper"
    ]
    assert "create Service" in {f"{write.verb} {write.kind}" for write in late}, "it went on"
    assert [write for write in late if write.verb == "delete"] == []
