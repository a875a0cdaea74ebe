"""The `assay` script: run the command, and ensure that the exit code is one of Assay's own.

Python exits with 1 when it runs out of memory, when the output's reader is closed, or when a
package is missing; 1 would read as a violated claim. Nothing but `exit_code` is imported before the
command: an import can fail, too.
"""

from __future__ import annotations

import errno
import os
import select
import sys
import traceback
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NoReturn

from conformance.cli.exit_code import ExitCode

STDOUT: Final = 1
STDERR: Final = 2
OUT_OF_MEMORY: Final = (
    b"assay: memory ran out; nothing was judged that is not told above. Give the process more, "
    b"or have less done at a time (--jobs 1, one scenario)\n"
)


def main() -> NoReturn:
    """Run the command that `sys.argv` asks for; always ends with SystemExit."""
    code: int = ExitCode.BUG
    # Their own descriptors may stand for something else by the time that is asked.
    outputs = [os.dup(descriptor) for descriptor in (STDOUT, STDERR) if _is_open(descriptor)]
    try:
        _replace_what_cannot_be_encoded()
        code = _run()
        _flush()
    except KeyboardInterrupt:
        code = ExitCode.INTERRUPTED
    except MemoryError as error:
        traceback.clear_frames(error.__traceback__)
        code = _out_of_memory()
    except OSError as error:
        code = _of_output(error, outputs)
    except Exception as error:  # noqa: BLE001 - the last to see it
        code = _of_bug(error)
    finally:
        for descriptor in outputs:
            os.close(descriptor)
    _drop_unread_errors()
    raise SystemExit(code)


def _run() -> int:
    from conformance.cli.app import main as command

    try:
        command()
    except SystemExit as ended:
        # Typer and Rich end with 1 when nobody reads the output.
        if isinstance(ended.__context__, OSError) and ended.__context__.errno == errno.EPIPE:
            raise ended.__context__ from None
        return ended.code if isinstance(ended.code, int) else ExitCode.BUG
    return ExitCode.CONFORMANT


def _replace_what_cannot_be_encoded() -> None:
    """Output is never refused for a character that its encoding does not have: it is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Report write errors now, instead of leaving them to Python's exit."""
    if sys.stdout is not None:
        sys.stdout.flush()


def _drop_unread_errors() -> None:
    """Keep a broken pipe on standard error from changing the exit code to 120."""
    if sys.stderr is not None:
        try:
            sys.stderr.flush()
        except OSError:
            _write_no_more()


def _of_output(error: OSError, outputs: Iterable[int]) -> int:
    """The exit code for a system error that no command handled: mostly an error of a stream."""
    if error.errno == errno.EPIPE and any(map(_is_unread, outputs)):
        _write_no_more()
        return ExitCode.UNREAD
    _say(f"assay: {error.strerror or error}\n".encode())
    _write_no_more()
    return ExitCode.ENVIRONMENT


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _is_unread(descriptor: int) -> bool:
    """True if the reader of a pipe has gone."""
    asked = select.poll()
    asked.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _write_no_more() -> None:
    """Have Python find no fault with the streams as it ends."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (STDOUT, STDERR):
            os.dup2(nowhere, descriptor)


def _out_of_memory() -> int:
    _say(OUT_OF_MEMORY)
    return ExitCode.ENVIRONMENT


def _of_bug(error: Exception) -> int:
    if isinstance(error, ModuleNotFoundError):
        _say(f"assay: {error}; install Assay again, with all that it needs\n".encode())
        return ExitCode.ENVIRONMENT
    _say("".join(traceback.format_exception(error)).encode(errors="backslashreplace"))
    return ExitCode.BUG


def _say(text: bytes) -> None:
    """On standard error, past Python's stream, which may be what failed."""
    with suppress(OSError):
        os.write(STDERR, text)
