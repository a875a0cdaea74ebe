"""The suite as ordinary pytest tests: `pytest --pyargs conformance`.

`plugin` adds the options `--cluster`, `--assay-implementation` and `--assay-seed`;
`test_scenarios` is one test per scenario. `-k AW-015` selects the scenarios that arm a claim.
Works under pytest-xdist; on a control plane each worker then starts one of its own.
With `--cluster kind` the cluster is pytest-kind's, and so are the options that it takes
(`--cluster-name`, `--keep-cluster`, `--kubeconfig`, `--kind-bin`, `--kind-image`).
"""
