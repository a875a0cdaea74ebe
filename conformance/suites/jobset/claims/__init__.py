"""The claims about JobSets.

- `matching`: which rule a failure matches, and the default.
- `counting`: what each action does to the counters, and the budget.
"""
