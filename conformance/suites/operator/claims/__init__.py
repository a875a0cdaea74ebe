"""The claims about any operator.

- `same_end`: whatever breaks on the way, the end is that of the undisturbed run.
- `rest`: writes end, and a resync at rest changes nothing.
- `deletion`: what users delete goes with its tree, or comes back.
- `neighbours`: what happens to one subject changes nothing of another.
- `webhooks`: what is admitted is admitted again, and handled.
- `cost`: requests per subject, with one, ten and a hundred of them.
- `conduct`: what holds in every run: rights, owners, conditions, the user's spec.
"""
