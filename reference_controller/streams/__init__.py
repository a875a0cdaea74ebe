"""A controller of Streams Jobs: submitted as a whole, recovered by foreground deletion.

- `parts`: a Job compiled into the objects that it owns.
- `job_controller`: the submission, and what is missing later; `recovery`: what was interrupted.
- `pods`: ProcessingElements, their launches and pods.
- `rules`: the decisions; `mutants`: the wrong ones. `office`: what the controllers share.
- `config`, `names`, `manifests`, `program`: settings, the API, and how it is installed and run.
"""
