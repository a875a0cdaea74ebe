"""`assay tools cluster-checker`: GPU quota and usage per cluster queue, and what to look at.

- `cluster`: the objects of a cluster by kind, and the operator's configuration among them.
- `report`: the numbers and findings, a pure function of the objects.
- `workloads`: findings about single workloads and pods.
- `finding`: the conditions that are reported.
- `printed`: the report as the guide prints it, as later versions do, or as data.
- `live`: the objects of a running cluster.
"""
