"""The situations that put the claims about Jobs to the test.

- `crashes`: submissions that are interrupted.
"""
