"""Tools for the administrators and users of a cluster that is set up as the MLBatch guide says.

`assay tools` has four commands. Nothing else needs this package; it needs the vocabulary, and the
connection to an API server that the reference controllers have:

- `cluster_checker`: a cluster's GPU quota and usage per queue, and what deserves attention.
- `appwrapper_packager`: manifests as the components of an AppWrapper.
- `pytorch_generator`: a values file as an AppWrapper with a PyTorchJob.
- `team`: the manifests of a team.
- `manifests`, `pod_sets`, `app_wrapper`, `resources`, `problems`: what they share.

`commands` has the command line, which the entry point `assay.commands` adds to that of Assay.
"""
