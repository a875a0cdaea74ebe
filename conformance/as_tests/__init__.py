"""Assay in pytest: a cluster for tests of any operator, and the suites' scenarios as tests.

`plugin` adds the fixture `assay_cluster`, see docs/pytest.md, and for the scenarios the options
`--cluster`, `--assay-implementation` and `--assay-seed`. `cluster` is the fixture's cluster, and
`judging` its verdicts.

`pytest --pyargs conformance` runs `test_scenarios`, one test per scenario; `-k AW-015` selects the
scenarios that arm a claim.
Works under pytest-xdist; on a control plane each worker then starts one of its own.
With `--cluster kind` the cluster is pytest-kind's, and so are the options that it takes
(`--cluster-name`, `--keep-cluster`, `--kubeconfig`, `--kind-bin`, `--kind-image`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.as_tests.cluster import AssayCluster
    from conformance.as_tests.judging import ClaimViolatedError, Judgement, NotArmedError

_MODULES = {
    "AssayCluster": "conformance.as_tests.cluster",
    "ClaimViolatedError": "conformance.as_tests.judging",
    "Judgement": "conformance.as_tests.judging",
    "NotArmedError": "conformance.as_tests.judging",
}
"""Imported when they are asked for: pytest loads the plugin for all tests."""

__all__ = ["AssayCluster", "ClaimViolatedError", "Judgement", "NotArmedError"]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
