"""Random plans that have convicted the reference, or a claim: mended since."""

from __future__ import annotations

import pytest

from chaos.plan import parse_plan
from conformance.implementations.ours import implementation
from conformance.running.runner import run_one
from conformance.scenarios import SCENARIOS

PLANS = {
    "quota-comes-back-before-it-preempts": """
seed: 14
scenario: kueue/preemption/it-preempts-when-it-comes-back
faults: []
""",
    "namespace-is-selected-before-the-watch-is-back": """
seed: 354223729
scenario: kueue/queues/namespace-is-not-selected
faults:
- break_watch: {kind: Workload, gap: 17s}
  when: {before: commit, by: operator, verb: create, kind: Workload, occurrence: 2}
""",
    "part-is-known-before-its-job-set": """
seed: 3382502630
scenario: kueue/kinds/parts-name-a-queue
faults: []
""",
    "user-resumes-an-evicted-one": """
seed: 2122860444
scenario: quota/cells/of-job-set/deactivation/stuck
faults:
- lose_reply: {actor: jobset, verb: update}
  when: {before: commit, by: jobset, occurrence: 6}
  for: 9s
- suspend: {object: JobSet/a}
  when:
    after: commit
    kind: JobSet
    name: a
    field: {'status.conditions[Suspended].status': 'False'}
  for: 8s
- kill_pod: {pod: {of: JobSet/a, which: random}, exit_code: 0}
  when: {after: commit, event: created, kind: Pod, occurrence: 2}
  for: 22s
""",
    "app-wrapper-is-resumed-as-its-quota-goes": """
seed: 1306827224
scenario: quota/cells/of-app-wrapper/reclaim/stuck
faults:
- webhook_outage: {kind: AppWrapper}
  when: {after: commit, by: appwrapper, verb: patch, kind: AppWrapper, outcome: any}
- hold_object: {kind: Workload, name: {appwrapper: a}}
  when: {at: 78s}
  for: 30s
- suspend: {appwrapper: a}
  when: {at: 122s}
  for: 26s
""",
    "job-replaces-a-pod-that-stops": """
seed: 189547392
scenario: quota/cells/of-app-wrapper/deleted-in-background/slow
workload: {appwrapper: a, name: b, completions: 3, backoff: 1, restart: Never}
faults:
- hold_object: {kind: Job, name: {appwrapper: b}}
  when: {after: commit, kind: AppWrapper, name: b, field: {status.phase: Running}, delay: 26s}
  for: 1s
- pause: {actor: kubelet/n0}
  when: {at: 98s}
""",
    "broken-watch-never-shows-pods": """
seed: 1027638743
scenario: quota/cells/of-ray-cluster/deleted-in-foreground/quick
faults:
- break_watch: {kind: Pod, gap: 7s}
  when: {after: commit, event: updated, kind: Pod, occurrence: 2}
""",
    "replica-sees-a-workload-before-its-job": """
seed: 2654234356
scenario: quota/cells/of-pytorch-job/preemption/slow
faults:
- double_operator: {}
  when: {before: commit, by: operator, verb: patch, kind: ResourceFlavor, subresource: ''}
""",
    "others-hold-a-workload-that-was-let-go": """
seed: 1973392364
scenario: quota/cells/of-app-wrapper/success/held
faults:
- hold_object: {kind: Workload, name: {appwrapper: a}}
  when: {before: commit, by: appwrapper, occurrence: 5}
- cordon: {node: {which: random}}
  when: {after: reply, by: appwrapper, outcome: any, occurrence: 4}
  for: 15s
""",
    "pod-is-evicted-that-is-not-restarted": """
seed: 3059956689
scenario: streams/submitted/pod-is-not-to-be-restarted
faults:
- break_watch: {kind: Import, gap: 17s}
  when: {after: commit, by: operator, verb: create, kind: Export, subresource: '', outcome: any}
- taint: {node: {which: random}, key: example.com/broken, effect: NoExecute}
  when: {after: commit, event: updated, kind: Pod, field: {status.phase: Running}, occurrence: 2}
  for: 5s
""",
    "user-deletes-the-workload-of-an-evicted-one": """
seed: 3045847765
scenario: quota/cells/of-app-wrapper/preemption/quick
scale: {nodes: 1, replicas: 1}
faults:
- delete_object: {kind: Workload, name: {}}
  when:
    after: commit
    kind: AppWrapper
    name: a
    field: {'status.conditions[ResourcesDeployed].status': 'True'}
    delay: 1s
""",
    "user-suspends-an-admitted-one": """
seed: 1467291400
scenario: quota/cells/of-job-set/recovery-timeout/slow
scale: {nodes: 1, replicas: 1}
exhaustive: true
faults:
- suspend: {object: JobSet/a}
  when: {before: commit, by: jobset, occurrence: 10}
""",
    "name-is-too-long-for-a-workload": """
seed: 2323052673
scenario: quota/cells/of-app-wrapper/deactivation/slow
scale: {nodes: 1, replicas: 1, components: a-other-job}
workload: {appwrapper: a, name: c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.c-d.e}
faults: []
""",
    "user-deletes-it-before-the-request-arrives": """
seed: 745934705
scenario: streams/recoveries/user-creates-another-meanwhile
scale: {nodes: 1}
exhaustive: true
faults:
- time_out: {verb: create, kind: Pod, skip: 3, times: 0, after: 60s}
  when: {injection: 1}
- node_lost: {node: {}}
  when: {after: commit, event: updated, kind: Pod}
- kill: {actor: operator, restart_after: null}
  when: {injection: 2}
- start: {actor: operator}
  when: {injection: 4}
""",
    "others-hold-a-part": """
seed: 1022091282
scenario: streams/recoveries/part-outlives-the-deletion
scale: {nodes: 1}
exhaustive: true
faults:
- time_out: {verb: create, kind: Pod, skip: 3, times: 0, after: 60s}
  when: {injection: 1}
- pause: {actor: garbage-collector}
  when: {before: commit, by: operator}
- kill: {actor: operator, restart_after: null}
  when: {injection: 2}
- start: {actor: operator}
  when: {injection: 3}
""",
    "part-goes-before-the-cache-has-shown-it": """
seed: 2753423261
scenario: streams/submissions/part-is-lost-during-the-submission/config-map
exhaustive: true
faults:
- slow_api: {}
  when: {after: commit, by: operator, outcome: any, occurrence: 18}
- delete_object: {kind: ConfigMap, name: a-4-22fc1}
  when: {injection: 2}
""",
    "user-changes-a-content": """
seed: 3093374935
scenario: streams/submissions/config-map-is-stale
exhaustive: true
faults:
- edit_object:
    kind: ConfigMap
    name: a-4-c333a
    patch: {metadata: {annotations: {streams.conformance.dev/contentId: stale}}}
  when: {injection: 2}
""",
    "quota-refuses-pods": """
seed: 4221075137
scenario: streams/crashes/all-within-a-second
scale: {nodes: 1}
exhaustive: true
faults:
- create_object:
    object:
      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: none-of-pods}
      spec: {hard: {count/pods: '0'}}
  when: {at: 1s}
- taint: {node: {}, key: example.com/broken, effect: NoExecute}
  when: {at: 1s}
  for: 1s
""",
    "broken-watch-hides-a-deletion": """
seed: 5
scenario: streams/recoveries/user-deletes-it-while-it-is-submitted/background
exhaustive: true
faults:
- time_out: {verb: create, kind: Pod, skip: 3, times: 0, after: 20s}
  when: {injection: 1}
- break_watch: {kind: Job.streams.conformance.dev, gap: 30s}
  when: {at: 4s}
""",
    "start-before-a-restart-that-is-due": """
seed: 5
scenario: streams/submissions/canonical/five
exhaustive: true
faults:
- kill: {actor: operator, restart_after: 30s}
  when: {after: commit, by: operator, occurrence: 29}
- hold_object: {kind: Import, name: a-0-0}
  when: {at: 500ms}
- start: {actor: operator}
  when: {at: 1s}
""",
    "namesake-in-another-namespace": """
seed: 3679754491
scenario: streams/recoveries/two-namespaces
scale: {nodes: 1}
exhaustive: true
faults:
- time_out: {verb: create, kind: Pod, skip: 3, times: 0, after: 60s}
  when: {injection: 1}
- kill: {actor: operator, restart_after: null}
  when: {injection: 2}
- start: {actor: operator}
  when: {injection: 3}
- create_object:
    object:
      apiVersion: v1
      kind: ResourceQuota
      metadata: {name: none-of-processingelements}
      spec: {hard: {count/processingelements.streams.conformance.dev: '0'}}
  when: {after: commit, event: deleted, kind: Pod}
""",
    "pod-is-evicted-as-it-is-counted": """
seed: 548885195
scenario: streams/submitted/pod-is-not-to-be-restarted
exhaustive: true
faults:
- taint: {node: {}, key: example.com/broken, effect: NoExecute}
  when: {after: commit, event: created, kind: Pod, occurrence: 5}
""",
}


@pytest.mark.parametrize("name", PLANS)
def test_the_reference_is_not_convicted(name: str) -> None:
    plan = parse_plan(PLANS[name])
    scenario = SCENARIOS[plan.scenario]
    references = {role: implementation("reference", role) for role in scenario.roles}
    run = run_one(scenario, references, plan.seed, plan)
    assert len(run.struck) >= len(plan.faults) - 2
    assert not [verdict for verdict in run.verdicts if verdict.outcome == "failed"]
