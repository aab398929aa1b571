"""A real browser, steered through a pipe: goes to pages, types, clicks, reads."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_PATIENCE_S = 90.0


class Browser:
    """One tab."""

    def __init__(self, to_it: int, from_it: int) -> None:
        self._to_it = to_it
        self._from_it = os.fdopen(from_it, "rb")
        self._ids = itertools.count(1)
        self._rest = b""
        self._session = ""
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._ask("Page.enable")

    def go(self, url: str) -> None:
        """Open a page."""
        self._ask("Page.navigate", url=url)

    def run(self, script: str) -> Any:
        """Return what an expression of JavaScript gives in the page; None while there is no page."""
        found = self._ask("Runtime.evaluate", expression=script, returnByValue=True)
        return found.get("result", {}).get("value")

    def wait_for_heading(self, text: str) -> None:
        """Return once the page's heading says this."""
        ends = time.monotonic() + _PATIENCE_S
        heading = None
        while time.monotonic() < ends:
            with contextlib.suppress(RuntimeError):  # between two pages there is none
                heading = self.run(
                    "document.readyState === 'complete' && document.querySelector('h1')?.innerText"
                )
            if heading == text:
                return
            time.sleep(0.05)
        raise AssertionError(f"the page says {heading!r} at {self.run('location.href')}")

    def type_into(self, name: str, text: str) -> None:
        """Fill in a field of a form."""
        self.run(f"document.querySelector('[name={name}]').value = {json.dumps(text)}")

    def click_button(self) -> None:
        """Press the page's button, as a finger would."""
        place = self.run(
            "(() => { const b = document.querySelector('button').getBoundingClientRect();"
            " return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._ask(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to_it, json.dumps(message).encode() + b"\0")
        while True:
            answer = json.loads(self._next())
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(answer["error"]["message"])
                return dict(answer["result"])

    def _next(self) -> bytes:
        while b"\0" not in self._rest:
            chunk = self._from_it.read1(65536)
            if not chunk:
                raise AssertionError("the browser is gone")
            self._rest += chunk
        message, _, self._rest = self._rest.partition(b"\0")
        return message


@contextlib.contextmanager
def browsing(directory: Path) -> Iterator[Browser]:
    """Open a browser for as long as the block runs; skip the test where there is none."""
    program = next(filter(None, map(shutil.which, _NAMES)), None)
    if program is None:
        pytest.skip("no Chromium is installed here; `apt-get install chromium` gives one")
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    command = [
        program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
        "--remote-debugging-pipe", f"--user-data-dir={directory}", "about:blank",
    ]  # fmt: skip
    # The browser reads from descriptor 3 and writes to descriptor 4.
    becomes = (
        "import os, sys; read, write = (os.dup(os.dup(int(n))) for n in sys.argv[1:3]); "
        "os.dup2(read, 3); os.dup2(write, 4); os.execvp(sys.argv[3], sys.argv[3:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", becomes, str(theirs_in), str(theirs_out), *command],
        pass_fds=(theirs_in, theirs_out),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        yield Browser(ours_out, ours_in)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()
        os.close(ours_out)
