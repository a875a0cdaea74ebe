"""The situations that put the claims about JobSets to the test.

- `stories`: the norm's user stories.
"""
