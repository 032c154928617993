"""Headless Chromium, spoken to over a pipe in its DevTools protocol: no package is needed, only the browser itself."""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0


def executable():
    """Return the path of the browser, or skip the test with the reason."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if os.name != "posix":
        pytest.skip("the pipe to Chromium needs POSIX file descriptors")
    if found is None:
        pytest.skip("no Chromium: install Debian's package chromium, or set CHROMIUM to its path")
    return found


class Browser:
    """A running browser with one page at a time."""

    def __init__(self):
        self._profile = tempfile.mkdtemp(prefix="chromium-")
        from_us, self._write = os.pipe()
        self._read, to_us = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
        flags += ["--no-first-run", "--disable-extensions", "--disable-background-networking", "--mute-audio"]
        command = [executable(), *flags, "--remote-debugging-pipe", f"--user-data-dir={self._profile}", "about:blank"]

        def numbered():
            high = [os.dup(from_us), os.dup(to_us)]  # descriptors 3 and 4 may be taken by the pipes themselves
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._process = subprocess.Popen(  # noqa: S603 -- the browser that the tests ask for
            command,
            preexec_fn=numbered,  # noqa: PLW1509 -- no threads here
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer, self._count, self._session = b"", 0, None
        self.events = []

    def close(self):
        with contextlib.suppress(OSError, EOFError):
            self._call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._profile, ignore_errors=True)

    def open(self, path, *, width=1280, height=900, dark=False):
        """Open a file in a new page; return the seconds until it has loaded and drawn."""
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.events = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self.resize(width, height)
        self.media(dark=dark)
        begin = time.perf_counter()
        self._call("Page.navigate", url=Path(path).resolve().as_uri())
        self._wait_for("Page.loadEventFired")
        drawn = "new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"
        self.run(drawn)
        return time.perf_counter() - begin

    def resize(self, width, height):
        mobile = width < 600
        size = {"width": width, "height": height, "deviceScaleFactor": 2 if mobile else 1, "mobile": mobile}
        self._call("Emulation.setDeviceMetricsOverride", **size)

    def media(self, *, dark=False, printed=False):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._call("Emulation.setEmulatedMedia", media="print" if printed else "", features=features)

    def run(self, expression):
        """Return the value of an expression of JavaScript; raise where it fails."""
        arguments = {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True}
        answer = self._call("Runtime.evaluate", **arguments)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def move(self, x, y):
        self._call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def complaints(self):
        """Return what the console holds against the page: errors, warnings, exceptions."""
        self.run("1")
        found = []
        for event in self.events:
            name, told = event["method"], event["params"]
            serious = name == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert")
            logged = name == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning")
            if name == "Runtime.exceptionThrown" or serious or logged:
                found.append(told)
        return found

    def requests(self):
        """Return the addresses that the page asked for, itself included."""
        sent = [event for event in self.events if event["method"] == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    def screenshot(self, path, *, whole=True):
        picture = self._call("Page.captureScreenshot", format="png", captureBeyondViewport=whole, **self._clip(whole))
        Path(path).write_bytes(base64.b64decode(picture["data"]))

    def _clip(self, whole):
        if not whole:
            return {}
        size = self._call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def pdf(self, path):
        printed = self._call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
        Path(path).write_bytes(base64.b64decode(printed["data"]))

    def _call(self, method, **params):
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]

    def _wait_for(self, method):
        limit = time.perf_counter() + PATIENCE
        while not any(event["method"] == method for event in self.events):
            if time.perf_counter() > limit:
                raise TimeoutError(method)
            self._next()

    def _next(self):
        while b"\0" not in self._buffer:
            part = os.read(self._read, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(line)
        if "method" in message:
            self.events.append(message)
        return message
