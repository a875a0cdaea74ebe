"""The `assay` command: one file per sub-command, and the little they share.

`entry` is the script, `app` puts the sub-commands together. Each module imports the room that it
calls inside its function, so that `assay --help` and `assay run` start at once. What goes wrong
ends in one sentence and an exit code (`exit_code`, `problems`); a traceback means a bug of Assay.
"""

from conformance.cli.entry import main

__all__ = ["main"]
