"""The claims about JobSets.

- `actions`: what claims about actions share.
- `matching`: which rule a failure matches, and the default.
- `counting`: what each action does to the counters, and the budget.
- `admission`: what is refused when it is submitted or changed.
"""
