"""The claims about Jobs.

- `submission`: what begins, what a Submitted Job has, and what its parts belong to.
- `identification`: which Jobs a restarted operator submits again, and which it leaves alone.
- `stale_state`: what must not be left of an interrupted attempt.
- `recovery`: the deletion and the recreation of an interrupted Job.
- `pods`: launches, restarts, and what is restored.
- `parts`: what parts say, and what becomes of names that others have taken.
- `not_judged`: sentences that no history can break.
"""
