"""Manifests of scenarios.

- `files`: YAML that ships with a suite. `names_of_run`: as one run submits it.
- `pod_templates`: the pods that a manifest will bring forth, however deep they are wrapped.
"""
