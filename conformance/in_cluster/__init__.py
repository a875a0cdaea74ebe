"""The suite inside of a cluster, where nothing of a vendor's machine is needed.

- `suite_pod`: the container that runs it, which both of the following put into a pod.
- `manifests`: a namespace, an account with the rights that a suite asks for, and the Job.
- `bounds`: an admission policy that holds that account to the suite's runs.
- `sonobuoy_plugin`: the same as a plugin that Sonobuoy starts.
- `sonobuoy_results`: what that plugin's container does: run the suite, and hand in what it found.

What runs there is `assay run --cluster existing`; see `conformance.worlds.existing`.
"""
