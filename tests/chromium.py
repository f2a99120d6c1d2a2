"""Chromium, driven over a pipe by its DevTools protocol: no package, no port."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--mute-audio"),
)
# Only a browser that hangs is waited for so long: a loaded machine may take its time.
PATIENCE = 240.0


class AnswerError(Exception):
    """Chromium could not do what it was asked."""


class Browser:
    """A Chromium with one page, and a profile of its own."""

    def __init__(self, folder: Path, *flags: str) -> None:
        ours, theirs = os.pipe(), os.pipe()
        command = [str(PROGRAM), *FLAGS, *flags, f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        redirected = ["bash", "-c", f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}', "bash", *command]
        self._process = subprocess.Popen(
            redirected, pass_fds=(ours[0], theirs[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(ours[0])
        os.close(theirs[1])
        self._out, self._in = ours[1], theirs[0]
        self._numbers = itertools.count(1)
        self._rest = b""
        self.events: list[dict[str, Any]] = []
        self._session = ""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.attach(target)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._out)
        os.close(self._in)
        self._process.terminate()
        self._process.wait(20)

    def attach(self, target: str) -> None:
        """Work with a page."""
        self._session = ""
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def new_tab(self) -> None:
        """Open a second page, and work with that."""
        self._session = ""
        self.attach(self.call("Target.createTarget", url="about:blank")["targetId"])

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            found = self._message(deadline)
            if found.get("id") == number:
                if "error" in found:
                    raise AnswerError(method, found["error"])
                return found["result"]
            self.events.append(found)

    def goto(self, address: str) -> None:
        """Open an address, and wait until it is there."""
        self.call("Page.navigate", url=address)
        self.wait("document.readyState === 'complete'")

    def js(self, expression: str) -> Any:
        """Return what an expression comes to."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        deadline = time.monotonic() + PATIENCE
        while True:
            # A page that is left meanwhile has no answer.
            with contextlib.suppress(AnswerError):
                found = self.call("Runtime.evaluate", expression=f"Boolean({expression})", returnByValue=True)
                if found["result"].get("value"):
                    return
            assert time.monotonic() < deadline, (expression, self.js("document.body.innerText")[:2000])
            time.sleep(0.05)

    def press(self, key: str) -> None:
        """Press a key."""
        codes = {"Tab": 9, "Enter": 13, " ": 32}
        shared = {"key": key, "code": {" ": "Space"}.get(key, key), "windowsVirtualKeyCode": codes[key]}
        text = {"Enter": "\r", " ": " "}.get(key)
        self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def size(self, width: int, height: int) -> None:
        """Make the window so large, in pixels."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def shot(self, path: Path) -> None:
        """Take a picture of what is seen."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def _message(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(0.0, deadline - time.monotonic()))
            assert ready, "Chromium does not answer"
            part = os.read(self._in, 1 << 16)
            assert part, "Chromium has ended"
            self._rest += part
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)
