"""The situations that put the claims about JobSets to the test.

- `matching`: rules that match, and rules that do not.
- `stories`: the norm's user stories.
- `workloads`: JobSets built from a few arguments.
- `admission`: policies that are refused, or stay what they are.
"""
