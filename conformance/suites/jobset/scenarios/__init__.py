"""The situations that put the claims about JobSets to the test.

- `endings`: failures that end a JobSet.
- `interruptions`: failures at bad moments.
- `network`: pods that find each other by names.
- `topology`: Jobs that have a topology domain to themselves.
- `matching`: rules that match, and rules that do not.
- `messages`: rules that match by the message of a failed Job.
- `operators`: more than one of them.
- `outside`: other clients interfere.
- `restarts`: restarts of the whole JobSet.
- `startup`: replicated jobs that wait for others.
- `success`: JobSets that succeed, by each success policy.
- `suspension`: JobSets that are suspended and resumed.
- `templates`: fields that JobSets set of their Jobs, pods and Service.
- `two_failures`: two failures, at once or one after the other.
- `stories`: the norm's user stories.
- `workloads`: JobSets built from a few arguments.
- `admission`: policies that are refused, or stay what they are.
- `partial_restarts`: restarts of Jobs and replicated jobs.
- `left_failed`: Jobs that are left failed.
"""
