"""The norm's argument in the suite's words: why most ways to recover a submission are wrong."""

from __future__ import annotations

from typing import Final

from conformance.explanation import Argument, Design

_HELD: Final = "streams/crashes/part-is-held/import"

ARGUMENT: Final = Argument(
    title="Why an interrupted submission is replaced as a whole",
    opening=(
        "A Streams operator submits a Job by creating some thirty objects, on several paths at "
        "once: ConfigMaps, Services, HostPools, Exports, Imports, ParallelRegions, "
        "ProcessingElements, and a pod for each of those. The phase of the Job becomes Submitted "
        "once all of them exist.",
        "If the operator ends before that, its successor finds a part of the objects. The pods "
        "among them may run, have failed, or have been deleted, and the ProcessingElements say "
        "what became of them. Each of the following designs is a controller that runs. The "
        "picture below it is a recorded run: the claim that the design violates, the processes "
        "and faults, and each Job of that name with the objects that it owns.",
    ),
    designs=(
        Design(
            name="only-what-is-missing",
            title="Create only what is missing",
            implementation="mutant:only-what-is-missing",
            scenario="streams/crashes/three-of-five-pods",
            claim="ST-017",
            text=(
                "The operator ends after three of five pods. While it is away one of them fails, "
                "one is deleted, and a ProcessingElement is changed. The successor creates the "
                "two pods that it misses, and calls the Job Submitted.",
                "What was left is not what a submission makes: there are ConfigMaps, Services, "
                "ProcessingElements and pods of the interrupted attempt among the new ones, at "
                "other launches than those beside them.",
            ),
        ),
        Design(
            name="another-fusion",
            title="Create what is missing, compiled anew",
            implementation="mutant:what-is-missing-of-another-fusion",
            scenario="streams/crashes/node-is-added",
            claim="ST-018",
            text=(
                "A compilation is no function of the Job's spec alone. Here the Job leaves its "
                "number of ProcessingElements to the cluster, and a node is added while the "
                "operator is away: the parts that are left are of another graph than those that "
                "are created.",
            ),
        ),
        Design(
            name="approach-1-without-label",
            title="Approach 1: delete the pods, and create the rest",
            implementation="mutant:pods-deleted-without-label",
            scenario="streams/crashes/pods-are-restarted-if-asked",
            claim="ST-021",
            text=(
                "If pods are what is stale, they may be deleted first. But a pod that is deleted "
                "while its Job exists is restarted, since users rely on that. So the recovery "
                "works against the controller of pods: it restarts what the recovery deletes.",
            ),
        ),
        Design(
            name="approach-1-stale-content",
            title="Approach 1, compiled anew",
            implementation="mutant:restarted-pods-are-stale",
            scenario="streams/crashes/pods-run-the-bundle-of-before",
            claim="ST-022",
            text=(
                "It may look as if that did no harm: pods are what is to be there. Yet a pod runs "
                "what its ConfigMap has as it starts, and here the bundle of the Job has changed. "
                "The pods are restarted before the recovery has updated the ConfigMaps, and run "
                "what was compiled before. For this order the norm has a label on them.",
            ),
        ),
        Design(
            name="approach-1-without-mark",
            title="Approach 1 with a label on the pods that it deletes",
            implementation="mutant:pods-deleted-without-mark",
            scenario="streams/crashes/three-of-five-pods",
            claim="ST-025",
            text=(
                "A label keeps the controller from restarting these pods. Still it makes pods of "
                "each ProcessingElement that it is shown, and a restarted operator is shown those "
                "from before the crash. Pods are made of a state that was true of the interrupted "
                "attempt.",
            ),
        ),
        Design(
            name="approach-1",
            title="Approach 1 with a label on pods and a mark on ProcessingElements",
            implementation="mutant:approach1",
            scenario="streams/crashes/pods-are-restarted-if-asked",
            claim="ST-017",
            text=(
                "Two marks later the pods are right. The ConfigMaps, the Services and all else "
                "are those of the interrupted attempt, and each further kind would need a "
                "treatment of its own. The norm gives the approach up here.",
            ),
        ),
        Design(
            name="background-abort",
            title="Delete the Job in the background; a taken name ends the submission",
            implementation="mutant:background-and-abort",
            scenario=_HELD,
            claim="ST-035",
            text=(
                "Approach 2 deletes the Job and creates it again, so that nothing of it is "
                "treated one by one. Deleted in the background, the Job is gone at once, and the "
                "garbage collector deletes its objects while the successors of the same names "
                "are created. A finalizer on one object holds that moment here.",
                "In this style the operator stops at the first name that is taken. The Job stays "
                "in its submission.",
            ),
        ),
        Design(
            name="background-adopt",
            title="Delete in the background, and adopt what has the name",
            implementation="mutant:background-and-adopt",
            scenario=_HELD,
            claim="ST-035",
            text=(
                "An object that is left is taken for the new one. It is about to be deleted, and "
                "its owner is gone: once the garbage collector comes to it, a part of the Job is "
                "missing.",
            ),
        ),
        Design(
            name="background-replace",
            title="Delete in the background, and replace what has the name",
            implementation="mutant:background-and-replace",
            scenario=_HELD,
            claim="ST-035",
            text=(
                "The content and the owner of an object that is left are overwritten. It keeps its "
                "uid and its deletion, if one was begun.",
            ),
        ),
        Design(
            name="background-retry",
            title="Delete in the background, and try again until the name is free",
            implementation="mutant:background-and-retry",
            scenario=_HELD,
            claim="ST-035",
            text=(
                "This style may end well: once the garbage collector is done, all names are free. "
                "Until then objects of two attempts are there at once, which for pods means "
                "that two of them process one stream. The last state does not show it. The order "
                "of the writes does.",
            ),
        ),
        Design(
            name="background-luck",
            title="Delete in the background, and have luck",
            implementation="mutant:background-and-retry",
            scenario="streams/recoveries/garbage-collector-has-its-own-pace/ahead",
            claim="ST-041",
            text=(
                "If the garbage collector is done before the operator goes on, each of the four "
                "styles ends as it should, and no two attempts overlap. The request that deletes "
                "the Job is all that is wrong then. A test that leaves the schedule to chance sees "
                "this run most of the time.",
            ),
        ),
        Design(
            name="orphan",
            title="Delete the Job alone",
            implementation="mutant:orphans",
            scenario=_HELD,
            claim="ST-030",
            text=(
                "With the policy Orphan the objects stay, and lose their owner. The new Job finds "
                "each of its names taken.",
            ),
        ),
        Design(
            name="early",
            title="Delete in the foreground, and create the Job once that has begun",
            implementation="mutant:recreates-early",
            scenario="streams/recoveries/part-outlives-the-deletion",
            claim="ST-035",
            text=(
                "In the foreground the Job stays, with a deletion in progress, until its objects "
                "are gone. An operator that sees the deletion and creates the Job at once comes "
                "too early: the name is taken until the end. It tries again, and succeeds as soon "
                "as the name is free, whatever is left by then.",
            ),
        ),
        Design(
            name="deletion-event",
            title="Delete in the foreground, and trust in the deletion of the Job",
            implementation="mutant:trusts-the-deletion",
            scenario="streams/recoveries/part-outlives-the-deletion",
            claim="ST-034",
            text=(
                "The norm takes the end of the deletion as proof that nothing is left. Kubernetes "
                "waits for objects that block the deletion, and that it knows of when it looks. "
                "A ConfigMap whose owner reference does not block outlives the Job here.",
            ),
        ),
        Design(
            name="memory",
            title="Keep in memory that the Job has to come back",
            implementation="mutant:keeps-no-record",
            scenario="streams/recoveries/operator-is-down-as-the-old-one-goes",
            claim="ST-038",
            only_simulated="is convicted by what never comes, for which a run there is too short",
            text=(
                "The recovery is interrupted, too. If the operator alone knows that it has "
                "deleted the Job in order to create it, and ends in between, the Job is lost. The "
                "edition seed of the suite allows this mechanism, which is the norm's own.",
            ),
        ),
        Design(
            name="sound",
            title="What works: delete in the foreground, look, and create",
            implementation="reference",
            scenario="streams/recoveries/part-outlives-the-deletion",
            claim="ST-035",
            is_sound=True,
            text=(
                "A record that no Job owns holds the intent. The Job is deleted in the "
                "foreground, by its uid. The operator asks the API server until nothing of the "
                "old Job is left, also after that is gone, and only then creates the new one, "
                "which is submitted as any other.",
            ),
        ),
    ),
)
