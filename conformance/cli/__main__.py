"""`python -m conformance.cli`: the `assay` command where no script is on the path."""

from conformance.cli import main

main()
