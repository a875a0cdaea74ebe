"""AppWrapper: every promise of its fault-tolerance page, while things break.

One module per subject; the manifests beside them are shared. Read `retry.py` first.
"""
