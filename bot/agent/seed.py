"""The zero-shot seed: one completion that writes a first suite (TestForge, section 3.1; METHODS 1.1)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bot.agent.brief import Brief, target_block
from bot.agent.prompts import prompt
from bot.agent.syntax import compiles, is_test_name, statements
from bot.domain import Usage
from bot.models import Model

PYTHON_NAMES = frozenset({"", "python", "python3", "py", "pytest"})


@dataclass(frozen=True, slots=True)
class Seed:
    """A first suite: its code, empty if the reply held none, and what was odd about the reply."""

    code: str
    usage: Usage = field(default_factory=Usage)
    note: str = ""


def write_seed(model: Model, brief: Brief) -> Seed:
    """Ask a model for a suite in one completion. Raises ModelError."""
    messages = [
        {"role": "system", "content": prompt("seed_system")},
        {"role": "user", "content": prompt("seed_user", target=target_block(brief))},
    ]
    reply = model.complete(messages)
    code, note = code_of(reply.text, cut_off=reply.finish_reason == "length")
    return Seed(code, reply.usage, note)


def code_of(text: str, *, cut_off: bool = False) -> tuple[str, str]:
    """Return the suite that a reply's text holds, and a note on what had to be done to get it.

    Several Python blocks are joined if they hold tests; one that writes a test of an earlier block again replaces
    that block. Where a block does not parse, because the reply was cut off or is wrong, the longest run of whole
    statements at its beginning is kept. Text outside of blocks counts only if there is no block, from the first
    line that begins a Python file. Without a test there is no suite.

    Args:
        text: The reply.
        cut_off: The model ran into its length limit, so that the last function may lack its end though it parses.
    """
    blocks = list(_blocks(text, cut_off)) or [_Block(_unfenced(text), cut_off)]
    kept: list[str] = []
    notes = []
    for block in blocks:
        whole = _whole_part(block)
        names = _test_names(whole)
        if whole.strip() != block.code.strip() and names:
            notes.append("a block was cut to the whole statements at its beginning")
        if names:
            kept = [*(earlier for earlier in kept if not names & _test_names(earlier)), whole]
        elif _is_preparation(whole):
            kept.append(whole)
    code = _joined(kept)
    if not _test_names(code):
        return "", "the reply holds no test"
    if len(blocks) > 1:
        notes.append(f"the suite was put together from {len(blocks)} blocks")
    return code, "; ".join(notes)


@dataclass(frozen=True, slots=True)
class _Block:
    """Code of a reply, and whether it may lack its end."""

    code: str
    cut_off: bool = False


def _blocks(text: str, cut_off: bool) -> Iterator[_Block]:
    """Yield what stands between Markdown fences that say Python or nothing; the last fence may be left open."""
    body: list[str] = []
    fence = ""
    wanted = False
    for line in text.replace("\r\n", "\n").split("\n"):
        opening = re.fullmatch(r" {0,3}(`{3,}|~{3,})\s*([\w.+-]*)[^`]*", line)
        closing = re.fullmatch(r" {0,3}(`{3,}|~{3,})\s*", line)
        if not fence and opening:
            fence, wanted, body = opening[1], opening[2].lower() in PYTHON_NAMES, []
        elif fence and closing and closing[1].startswith(fence):
            if wanted:
                yield _Block("\n".join(body) + "\n")
            fence = ""
        elif fence:
            body.append(line)
    if fence and wanted:
        yield _Block("\n".join(body).rstrip() + "\n", cut_off or not text.endswith("\n"))


def _unfenced(text: str) -> str:
    """Return the text from the first line that begins a Python file with a test in it."""
    lines = text.replace("\r\n", "\n").split("\n")
    for start, line in enumerate(lines):
        if re.match(r"(import|from|def|async def|class|@)\b|@", line):
            code = _whole_part(_Block("\n".join(lines[start:]) + "\n"))
            if _test_names(code):
                return code
    return ""


def _whole_part(block: _Block) -> str:
    """Return the longest beginning that compiles, cut where a statement, a function or a method begins."""
    if not block.cut_off and compiles(block.code):
        return block.code
    lines = block.code.split("\n")
    for end in range(len(lines) - 1, 0, -1):
        line = lines[end]
        begins = line[:1].strip() != "" or re.match(r"\s+(def|async def|class)\b|\s+@", line)
        prefix = "\n".join(lines[:end]).rstrip() + "\n"
        if begins and compiles(prefix):
            return prefix
    return ""


def _test_names(code: str) -> frozenset[str]:
    """Return the names of a file's top-level test functions, and of its test classes that hold a method."""
    return frozenset(
        node.name
        for node in statements(code)
        if (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"))
        or (isinstance(node, ast.ClassDef) and _holds_test(node))
    )


def _holds_test(node: ast.ClassDef) -> bool:
    functions = (each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef))
    return any(is_test_name(function.name) for function in functions)


def _is_preparation(code: str) -> bool:
    """Whether a block only imports names and makes fixtures, so that the blocks after it may need it."""
    body = statements(code)
    return bool(body) and all(
        isinstance(node, ast.Import | ast.ImportFrom)
        or (isinstance(node, ast.FunctionDef) and any("fixture" in ast.dump(d) for d in node.decorator_list))
        for node in body
    )


def _joined(blocks: Sequence[str]) -> str:
    """Join blocks; where they do not compile together, return the longest one that does alone."""
    whole = "\n\n".join(block.strip("\n") + "\n" for block in blocks)
    if compiles(whole):
        return whole
    return max((block for block in blocks if compiles(block)), key=len, default="")
