"""The situations that put the claims about Jobs to the test.

- `crashes`: submissions that are interrupted, and what happens while the operator is down.
- `recoveries`: recoveries that are interrupted, held up, or not wanted any more.
- `submissions`: submissions that nothing interrupts, and what others do meanwhile.
- `submitted`: Jobs that are Submitted: restarts of the operator, and what users delete.
"""
