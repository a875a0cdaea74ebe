"""Headless Chromium over its debugging pipe: enough to load a page, press keys and look.

Messages are JSON, ended by a zero byte, on file descriptors 3 and 4 of the browser. No port,
no driver, no dependency.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_REPLY_SECONDS = 30


def find_chromium() -> str | None:
    """The browser's program, if the machine has one."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        found = shutil.which(name)
        if found:
            return found
    return None


class Browser:
    """One browser with one page; use it in a `with`."""

    def __init__(self, program: str) -> None:
        self._profile = tempfile.TemporaryDirectory(
            prefix="assay-chromium-",
            ignore_cleanup_errors=True,  # its last processes may still write
        )
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._process = subprocess.Popen(
            [
                "bash",  # dash knows no descriptors above 9
                "-c",
                f'exec "$@" 3<&{to_browser} 4>&{from_browser}',
                "bash",
                program,
                *_FLAGS,
                f"--user-data-dir={self._profile.name}",
            ],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._last_id = 0
        self._page = ""
        self._is_loaded = False
        self.problems: list[str] = []
        """All errors on the console, violations of the content security policy included."""
        self.requests: list[str] = []
        """Every address that the page asked for."""

    def __enter__(self) -> Browser:
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._page = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._profile.cleanup()

    def open(
        self,
        path: Path,
        *,
        width: int = 1400,
        height: int = 900,
        dark: bool = False,
        hash_: str = "",
    ) -> None:
        """Load a file and see that its script has run."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._send("Emulation.setEmulatedMedia", {"features": [scheme]})
        self._send(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600},
        )
        self._go_to("about:blank")  # or only the part behind # would change
        self.problems.clear()
        self.requests.clear()
        self._go_to(f"{path.as_uri()}{hash_}")
        assert self.evaluate("document.documentElement.dataset.ready") == "1", self.problems

    def _go_to(self, url: str) -> None:
        self._is_loaded = False
        self._send("Page.navigate", {"url": url})
        while not self._is_loaded:
            self._note(self._receive())

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page; promises are waited for."""
        reply = self._send(
            "Runtime.evaluate",
            {"expression": expression, "awaitPromise": True, "returnByValue": True},
        )
        if "exceptionDetails" in reply:
            raise AssertionError(f"{expression}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def press(self, key: str) -> None:
        """One key, as a keyboard sends it."""
        text = {"text": key} if len(key) == 1 else {}
        self._send("Input.dispatchKeyEvent", {"type": "keyDown", "key": key, **text})
        self._send("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})

    def _send(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        self._last_id += 1
        message: dict[str, Any] = {"id": self._last_id, "method": method}
        message["params"] = parameters or {}
        if self._page:
            message["sessionId"] = self._page
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._receive()
            if reply.get("id") == self._last_id:
                if "error" in reply:
                    raise AssertionError(f"{method}: {reply['error']}")
                result: dict[str, Any] = reply["result"]
                return result
            self._note(reply)

    def _note(self, event: dict[str, Any]) -> None:
        parameters = event.get("params", {})
        match event.get("method"):
            case "Page.loadEventFired":
                self._is_loaded = True
            case "Runtime.exceptionThrown":
                self.problems.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.problems.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.problems.append(parameters["entry"]["text"])
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Page.javascriptDialogOpening":
                self.problems.append(f"a dialog: {parameters['message']}")

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], _REPLY_SECONDS)
            if not ready:
                raise AssertionError(f"the browser has not answered for {_REPLY_SECONDS} s")
            chunk = os.read(self._in, 1 << 20)
            if not chunk:
                raise AssertionError("the browser has ended")
            self._buffer += chunk
        message, _, self._buffer = self._buffer.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded
