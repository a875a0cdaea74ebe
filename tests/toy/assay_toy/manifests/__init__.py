"""The manifests that install the controller."""
