"""Takes the documentation's pictures with Chromium, from real runs: python scripts/screenshots.py

docs/images/terminal.png   what `testforge review` prints for the sample change that `make demo` reviews
docs/images/review.png     the same change's review as it is posted on a pull request, its Markdown rendered
docs/images/setup.png      the page /setup of `testforge serve` with an empty data directory

Needs chromium (or google-chrome) on PATH, and the group `docs` of the dependencies. Takes about a minute.
"""

from __future__ import annotations

import base64
import contextlib
import html
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from bot import pipeline
from bot.deliver import review
from bot.domain import Request

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS = 90
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TERMINAL = "body{margin:0;background:#1b1f27;color:#dfe4ec}pre{margin:24px;font:15px/1.35 monospace}"
PULL = (
    "body{margin:24px auto;width:860px;font:15px/1.5 sans-serif;color:#1f2328}"
    "table{border-collapse:collapse}td,th{border:1px solid #d1d9e0;padding:5px 12px}"
    "code,pre{font:13px monospace;background:#f0f2f5;padding:2px 4px}pre{padding:12px}"
    "h2,h3{border-bottom:1px solid #d1d9e0}"
)


def main() -> int:
    """Take all pictures."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        sys.stderr.write(
            "There is no Chromium on PATH. Install it, such as with `apt-get install chromium`.\n"
        )
        return 2
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="testforge-pictures-") as name:
        place = Path(name)
        sample = place / ".demo"
        subprocess.run(["sh", "examples/make_history.sh", str(sample)], cwd=ROOT, check=True)
        printed = terminal(sample)
        shoot(browser, place, "terminal", document(TERMINAL, f"<pre>{html.escape(printed)}</pre>"), 960)
        shoot(browser, place, "review", document(PULL, posted(sample)), 960)
        with serving(place / "data") as address:
            shoot(browser, place, "setup", address, 960)
    return 0


def terminal(sample: Path) -> str:
    """Return a prompt and what the command prints for it."""
    command = ["testforge", "review", ".demo", "--base", "main"]
    done = subprocess.run(
        [Path(sys.executable).with_name("testforge"), *command[1:]],
        cwd=sample.parent,
        env={**os.environ, "COLUMNS": str(COLUMNS), "TESTFORGE_SANDBOX": "process"},
        capture_output=True,
        text=True,
        check=True,
    )
    return f"$ {' '.join(command)}\n{done.stdout.rstrip()}"


def posted(sample: Path) -> str:
    """Return the review's Markdown as HTML, as a pull request shows it."""
    import markdown

    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=sample, capture_output=True, text=True, check=True
    ).stdout.strip()
    report = pipeline.review(Request(sample, "main", head, sandbox="process"), lambda _progress: None)
    built = review.build(report, sample, run="sample")
    return markdown.markdown(built.body, extensions=["tables", "fenced_code", "md_in_html"])


def document(style: str, body: str) -> str:
    """Return a page as an address that holds it whole."""
    page = f"<!doctype html><meta charset=utf-8><style>{style}</style>{body}"
    return "data:text/html;base64," + base64.b64encode(page.encode()).decode()


@contextlib.contextmanager
def serving(data: Path) -> Iterator[str]:
    """Run a server with nothing set up, and give the address of its page."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Without the operator's own settings: the picture shows a first run.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TESTFORGE_")}
    process = subprocess.Popen(
        [Path(sys.executable).with_name("testforge"), "serve", "--port", str(port)],
        env={**environment, "TESTFORGE_DATA_DIRECTORY": str(data)},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz"):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/setup"
    finally:
        process.terminate()
        process.wait()


def shoot(browser: str, place: Path, name: str, address: str, width: int) -> None:
    """Take a picture of a whole page; its height is asked for first."""
    common = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        f"--user-data-dir={place / 'profile'}",
    ]
    if address.startswith("data:"):
        page = base64.b64decode(address.partition("base64,")[2]).decode()
        probe = place / "page.html"
        probe.write_text(page + "<script>document.title=document.documentElement.scrollHeight</script>")
        seen = subprocess.run(
            [*common, f"--window-size={width},200", "--dump-dom", probe.as_uri()],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        height = int(seen.partition("<title>")[2].partition("</title>")[0]) + 24
        address = probe.as_uri()
    else:
        height = 430
    picture = IMAGES / f"{name}.png"
    subprocess.run(
        [*common, f"--window-size={width},{height}", f"--screenshot={picture}", address],
        capture_output=True,
        check=True,
    )


if __name__ == "__main__":
    sys.exit(main())
