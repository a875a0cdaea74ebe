"""The claims about JobSets.

- `actions`: what claims about actions share.
- `matching`: which rule a failure matches, and the default.
- `counting`: what each action does to the counters, and the budget.
- `admission`: the JobSets that are refused.
- `admitted`: the failure policies that are admitted.
- `lasting_policy`: the failure policy in force stays.
- `lasting_jobs`: the replicated jobs stay.
- `counters`: each failure counts once, counters only grow, and an end comes.
- `marks`: the annotation of Jobs whose restart does not count.
- `stories`: what the user stories promise.
- `work`: the work of a restart.
- `restarts`: which Jobs a restart replaces, and what is there after it.
- `ending`: what an end leaves, and that it lasts.
- `partial_restarts`: restarts of a Job, and of a replicated job.
- `left_failed`: Jobs that are left failed.
- `success`: when a JobSet completes, and what it leaves.
- `suspension`: Jobs are suspended and resumed with their JobSet.
- `lifetime`: how long a JobSet is kept that has ended.
- `children`: what is written to a child Job.
- `startup`: replicated jobs start in the order that their JobSet asks for.
- `status`: a JobSet's status counts its Jobs.
- `network`: the headless Service by which pods find each other.
- `topology`: Jobs that have a topology domain to themselves.
- `management`: JobSets that another controller manages.
- `foreign_jobs`: Jobs of others that have the name of a JobSet's own.
"""
