"""The simulated cluster's controllers, one file each, against what Kubernetes does."""
