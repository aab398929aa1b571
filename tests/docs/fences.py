"""The fenced blocks of the documentation's pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted(ROOT.glob("docs/*.md"))
_FENCE = re.compile(
    r"(?:^<!-- run: (?P<where>[a-z ]+) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


@dataclass(frozen=True, slots=True)
class Fence:
    """One block.

    Attributes:
        where: Where the page says that it can be run: `sample`, `server`, `anywhere`; or empty.
    """

    page: str
    line: int
    language: str
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def commands(self) -> list[str]:
        """The lines without those that only set a variable, and without comments."""
        lines = [re.sub(r"\s+#.*", "", line).strip() for line in self.text.replace("\\\n", " ").splitlines()]
        return [line for line in lines if line and not line.startswith(("#", "export "))]


def fences(*where: str) -> list[Fence]:
    """Return the blocks of all pages that are to be run there; all blocks if no place is named."""
    return [fence for page in PAGES for fence in _of(page) if not where or fence.where in where]


def _of(page: Path) -> Iterator[Fence]:
    text = page.read_text("utf-8")
    for found in _FENCE.finditer(text):
        line = text.count("\n", 0, found.start("language")) + 1
        yield Fence(page.name, line, found["language"], found["where"] or "", found["text"])
