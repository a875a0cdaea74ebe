"""The claims about Jobs.

- `submission`: what a Job that says it is submitted has.
- `recovery`: what becomes of a submission that was interrupted.
"""
