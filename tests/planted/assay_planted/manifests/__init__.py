"""The manifests that install the operator."""
