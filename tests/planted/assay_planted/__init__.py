"""An operator of Sites, sound, and with one planted bug for each claim about any operator.

A `Site` has a ConfigMap with its text, a Deployment that serves it, a Job that set it up, with a
generated name, and an entry in a registry, which no owner reference can clean up: a ConfigMap that
a finalizer removes. `controller` is the sound operator, `bugs` are the wrong ones.
"""
