"""`assay tools pytorch-generator`: a values file as an AppWrapper with a PyTorchJob.

`values` has the settings, which are those of the published chart and the checks of its schema;
`generate` makes the AppWrapper. Where it deviates from the chart on purpose:

- Durations are Go's, as the controller reads them: `3d`, which the controller would silently
  replace by its default, is an error, and `1m30s` is not.
- Fault-tolerance settings of the earlier tool are ignored with a warning, as the guide says.
- Keys and values of labels are checked by Kubernetes' rules; the chart mixes up prefix and name,
  and refuses capital letters.
- `topologyFileConfigMap` alone has its volume, too. Empty lists are left out.
- Numbers of environment variables keep their digits; the chart writes a million as `1e+06`.
- The script has no lines that only print.
"""
