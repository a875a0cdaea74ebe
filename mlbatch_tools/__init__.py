"""Tools for the administrators and users of a cluster that is set up as the MLBatch guide says.

`assay tools` has four commands; nothing else needs this package, and it needs only the vocabulary:

- `cluster_checker`: a cluster's GPU quota and usage per queue, and what deserves attention.
- `manifests`: reading manifests, for that and for packaging.

`commands` has the command line.
"""
