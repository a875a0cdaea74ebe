"""The suite's decisions where the norm is silent or contradicts itself, each in one place.

A reader who disagrees with a verdict looks here first: the claim names its decision.
"""

from __future__ import annotations

from typing import Final

from conformance.norm.claim import Decision

FIRST_FAILURE: Final = Decision(
    "J1",
    "Rules are evaluated for one failed Job at a time, in order of failure. Of several failures "
    "that are seen at once the earliest decides; what its action leaves failed is judged after it. "
    "Failures of one second may be taken in any order.",
    "the norm speaks of a given Job failure, and API times are whole seconds",
)
FAILURE_FIRST: Final = Decision(
    "J2",
    "A failure that was there before the success policy held is answered before the success. A "
    "failure of a suspended JobSet may be answered at once or when it is resumed.",
    "the norm restarts or fails the JobSet upon a failure, and does not speak of either case",
)
NO_POLICY: Final = Decision(
    "J3",
    "A JobSet without a failure policy fails with its first Job.",
    "the norm's default belongs to its failure policy; the API before it fails the JobSet",
)
ALL_ACTIONS: Final = Decision(
    "J4",
    "All four actions of the test plan are the three of the API, and each of the future work.",
    "the norm's constants are three, and its enumeration names others",
)
ACTIVE_JOBS: Final = Decision(
    "J5",
    "Active Jobs are all child Jobs that have not completed, the failed one included. Completed "
    "ones may be recreated as well.",
    "a failed Job that stayed would fail the JobSet again, and the norm does not say what becomes "
    "of completed ones",
)
KEPT_JOBS: Final = Decision(
    "J6",
    "When a JobSet fails, its running Jobs are deleted, in the foreground: none is gone before its "
    "pods. Its finished ones are kept.",
    "the norm says only that the status becomes failed; running Jobs would waste what it saves, "
    "and finished ones show why it failed",
)
BOUNDED_WORK: Final = Decision(
    "J7",
    "A restart costs at most two deletions and four changes of each Job, one creation for each "
    "that is missing, two writes of the status for each change of a Job that its counts show, one "
    "for each Job that changes nothing, and one refused request for each Job; eight more of each "
    "are allowed. Refused requests count "
    "where the controller could have known better: not those that a fault, a quota, a name taken "
    "by another client, or a state that it may not have seen has refused.",
    "the norm wants restarts of 15,000 nodes to take about a minute, and names no bound; a reply "
    "is lost now and then, and a cache lags",
)
LIMITED_PARTIAL_RESTARTS: Final = Decision(
    "J8",
    "RestartReplicatedJob and RestartJob spend the same budget as RestartJobSet. A Job that "
    "restarts alone starts again 1 s after its failure, at the earliest, then 2 s, 4 s and so on "
    "up to 60 s, and after 10 minutes of running 1 s again. It is there half a minute after that.",
    "the norm wants some limit for them, and leaves open which; a pause that is longer by half a "
    "minute is another back-off, and a shorter one may be a slow controller",
)
KILLED_PODS: Final = Decision(
    "J9",
    "An exit code other than 143 is no SIGTERM, whoever killed the container: 137 matches NotIn "
    "[143]. A pod without an exit code matches no rule on exit codes.",
    "the norm leaves both to batch/v1, whose podFailurePolicy reads so",
)
RESTART_STRATEGIES: Final = Decision(
    "J10",
    "With the restartStrategy BlockingRecreate no Job is created before all that restart are gone, "
    "nor beside pods of the one that it replaces, whoever deleted that; with Recreate a Job may "
    "come as soon as its own predecessor is gone.",
    "the norm recreates all Jobs and does not say in which order; these are the strategies of the "
    "released API",
)
KNOWN_TARGETS: Final = Decision(
    "J11",
    "A rule may target the replicated jobs of its JobSet alone. Story 4 is repaired by a "
    "parameter-server and by maxRestarts; as it stands it is refused.",
    "its manifest targets a replicated job that it does not have, and allows no restart where its "
    "text says three",
)
KNOWN_REASONS: Final = Decision(
    "J12",
    "Rules list the reasons of batch/v1 alone. The second future story is repaired by a pod "
    "failure policy upon exit code 3, whose reason is PodFailurePolicy, and by maxRestarts; as it "
    "stands it is refused.",
    "setConditionReason was never a field of Kubernetes, and the norm wants valid Job failure "
    "reasons",
)
KNOWN_POLICIES: Final = Decision(
    "J31",
    "A policy of maxRestarts, from 0 on, and of rules with an action, reasons and targets is "
    "judged by these. A JobSet may be refused for anything else, and for further fields.",
    "the norm says what is refused of a policy, and thereby what is not; APIs add fields of theirs",
)
DUPLICATE_KEYS: Final = Decision(
    "J13",
    "The manifests of stories 1 to 4 are refused as they stand, by whatever reads them, and keep "
    "the second of their two images. Those of stories 1 to 3 are admitted then.",
    "a key that occurs twice is an error in YAML, and readers that take it take the last one",
)
LASTING_POLICY: Final = Decision(
    "J14",
    "The failure policy is immutable: it can be neither changed nor removed nor added.",
    "counters that were reached under one policy mean nothing under another, and the norm does "
    "not speak of changes",
)
LEFT_FAILED: Final = Decision(
    "J15",
    "A Job that FailJob leaves failed is not evaluated again. The JobSet completes once all other "
    "Jobs have finished and the success policy holds over them; it fails if the policy can no "
    "longer hold: no Job is left over which it could, or one that all are asked for never starts, "
    "since it waits for the success of one that is left failed, or of one that never starts.",
    "the norm takes no action on such a Job, and does not say how its JobSet ends",
)
ATTEMPT_LABELS: Final = Decision(
    "J16",
    "Labels and annotations that count restart attempts are those whose names end in "
    "restart-attempt; in the edition released, restart-attempt alone.",
    "the norm names one; released controllers have a second one, which counts those of each Job",
)
REPAIRED_FUTURE: Final = Decision(
    "J17",
    "The manifest of the first future story gets a restart policy, and resources of its container; "
    "the placeholder of its annotation is a topology of the cluster. As it stands it is refused: a "
    "topology is the key of a label, and a pod as a whole has CPU, memory and huge pages alone.",
    "a Job needs a restart policy, a pod has no such resources, and a placeholder is no key; of a "
    "JobSet that is admitted so no pod could be created",
)
EXCLUSIVE_DOMAINS: Final = Decision(
    "J18",
    "The annotation exclusive-topology means that no two child Jobs that have it have running pods "
    "in one domain at a time, of whichever JobSet and namespace they are, and whichever of them "
    "were restarted.",
    "the norm's manifests use the annotation, and its text does not speak of it",
)
SUCCESS_POLICY: Final = Decision(
    "J19",
    "The success policy is about the Jobs since the last restart that concerns them. A Job that "
    "has completed, before a restart or before that deleted it, counts as well until it is created "
    "again. Jobs that are left failed are not asked for.",
    "the norm ends JobSets that fail, and leaves it to the API which ones succeed; completed Jobs "
    "need not be recreated",
)
SUSPENDED_JOBS: Final = Decision(
    "J20",
    "A Job follows its JobSet into a suspension and out of it, unless it has finished, is replaced "
    "or waits for other replicated jobs. No Job of a suspended JobSet is created running.",
    "the norm does not speak of suspension; a Job that ran on would use what the JobSet gave back",
)
TIME_TO_LIVE: Final = Decision(
    "J21",
    "The time to live counts from the transition time of the condition by which the JobSet ended. "
    "The JobSet is deleted half a minute after that, at the latest.",
    "the norm says how JobSets end, and leaves it to the API how long they are kept; one that is "
    "kept longer by half a minute has another time to live",
)
DELETED_JOB_SETS: Final = Decision(
    "J37",
    "A JobSet is not worked on from its deletionTimestamp on, however long it stays: nothing is "
    "created for it, also if a Job or the Service goes that it has.",
    "the norm creates Jobs for a JobSet that runs; in a deletion in the foreground what it owns "
    "goes first, and a new object would keep it from its end",
)
CHILD_MARKS: Final = Decision(
    "J22",
    "Each of these keys is a label and an annotation of the Job and of its pod template. The "
    "restart attempt is the number of restarts that count, or in the edition released that of all.",
    "the norm speaks of an annotation and finds Jobs by their replicated job; rules of others "
    "select by labels, and pods read their own",
)
MADE_OF_TEMPLATE: Final = Decision(
    "J23",
    "A Job has all that its template has, value for value, and may have more: marks, affinity, "
    "what the API server fills in. Whether it is suspended, and its subdomain, follow from the "
    "JobSet. A resumed Job has the labels, annotations, node selector, tolerations and scheduling "
    "gates that the template has by then, and may keep earlier ones.",
    "the norm's stories depend on podFailurePolicy and backoffLimit of the template, and it does "
    "not say what is added; a JobSet's templates may be changed in these fields alone, while it is "
    "suspended, so that a queue can place its pods",
)
STARTED_JOBS: Final = Decision(
    "J24",
    "A Job is ready once as many of its pods are ready or have succeeded as run side by side, or "
    "once it has finished. After a restart or a resumption it is waited for anew.",
    "the norm leaves it to the API in which order Jobs start, also when they start again",
)
COUNTED_JOBS: Final = Decision(
    "J25",
    "The counts are about the Jobs since the last restart that concerns them; finished ones are "
    "neither ready nor active nor suspended.",
    "people and queues read the counts, and the API's text leaves open what is counted twice",
)
HEADLESS_SERVICE: Final = Decision(
    "J26",
    "The Service has the name of spec.network.subdomain, or else of the JobSet, and publishes "
    "addresses that are not ready unless the JobSet says otherwise. DNS hostnames are the default.",
    "workers of one JobSet that restart have to find each other again, and the norm does not say "
    "how they do",
)
FAILED_JOBS: Final = Decision(
    "J27",
    "A Job has failed once its condition Failed is True. A controller may act as soon as its "
    "condition FailureTarget is.",
    "the norm was written before FailureTarget, which has the same reason a little earlier",
)
COUNTERS: Final = Decision(
    "J28",
    "status.restarts counts the restarts of the whole JobSet, status.restartsCountTowardsMax those "
    "of them that count, and status.partialRestarts those of replicated jobs and of Jobs; a "
    "restart is counted before its Jobs are deleted. In the edition released partial restarts are "
    "in status.replicatedJobsStatus.",
    "the norm counts restarts and names no field; the first two are those of released controllers",
)
TARGET_OF_PARTIAL: Final = Decision(
    "J29",
    "RestartReplicatedJob restarts the replicated job whose Job failed, whatever else its rule "
    "targets.",
    "the norm speaks of the target replicated job; a rule may have several, or none, and to "
    "restart those of a rule without targets would be RestartJobSet",
)
OWN_MARK: Final = Decision(
    "J30",
    "The annotation restart is the controller's own. What becomes of a Job that another client "
    "annotates is not judged.",
    "the norm has the controller annotate Jobs and delete them, and speaks of no other client",
)
LASTING_JOBS: Final = Decision(
    "J33",
    "spec.replicatedJobs is immutable, but for the labels, annotations, node selectors, "
    "tolerations and scheduling gates of pod templates while the JobSet is suspended. Changes of "
    "the resources of containers are not judged then.",
    "the norm restarts Jobs as they were, and does not speak of changes; queues place pods by "
    "these fields, and later releases let them set resources, too",
)
REPLACED_JOBS: Final = Decision(
    "J32",
    "A Job that another client has put in the place of a child Job is none, whether the controller "
    "has seen that or not: deletions and changes can name the uid of the Job that they are meant "
    "for.",
    "the norm has the controller delete the Jobs that restart, and names repeat; a deletion by "
    "name alone, by a cache that lags, may hit the Job of somebody else",
)
SUCCESSES_LAST: Final = Decision(
    "J34",
    "A Job that has succeeded and is gone, by its TTL or a user, counts as succeeded, and is not "
    "created again before a restart that concerns it.",
    "the status counts the Jobs that have completed, and work that is done is not to be done "
    "again; the norm speaks of restarts as the one reason to",
)
