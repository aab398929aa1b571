"""The state of the tests' GitHub, and what people do there: push, open pull requests, comment, apply suggestions."""

from __future__ import annotations

import re
import secrets
import threading
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.github.clock import Clock, SystemClock
from tests.github.server.gitstore import GitStore
from tests.github.server.nouns import Comment, Pull, RefusalError, Repository, Token

ALL_PERMISSIONS = {
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
}
SUGGESTION = re.compile(r"^(`{3,})suggestion[ \t]*\n(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)


@lru_cache(maxsize=1)
def _key() -> rsa.RSAPrivateKey:
    """Return the App's key, the same for all tests of a process: making one takes a while."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class WorldClock:
    """The time on GitHub: that of another clock, with a skew that a test sets."""

    def __init__(self, source: Clock | None = None) -> None:
        self.source = source or SystemClock()
        self.skew_s = 0.0

    def now(self) -> float:
        """Return the time on GitHub."""
        return self.source.now() + self.skew_s

    def text(self, at: float | None = None) -> str:
        """Return a time as GitHub writes it."""
        return datetime.fromtimestamp(self.now() if at is None else at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class World:
    """Everything there is on the tests' GitHub; each method is something a person or an owner does."""

    def __init__(self, directory: Path, clock: Clock | None = None) -> None:
        self.directory = directory
        self.clock = WorldClock(clock)
        self.lock = threading.RLock()
        self.app_id, self.slug = 4711, "testforge"
        key = _key()
        self.pem = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ).decode()
        self.public_key = key.public_key()
        self.webhook_secret = "a secret of the tests"
        self.installations: dict[int, dict[str, str]] = {}
        self.suspended: set[int] = set()
        self.repositories: dict[str, Repository] = {}
        self.tokens: dict[str, Token] = {}
        self.minted: list[dict[str, Any]] = []
        self.manifests: dict[str, dict[str, Any]] = {}
        self._ids = 1000
        self._heads_seen: dict[tuple[str, int], str] = {}

    @property
    def bot_login(self) -> str:
        """The login of the App's own comments."""
        return f"{self.slug}[bot]"

    def new_id(self) -> int:
        """Return an id that nothing has yet."""
        with self.lock:
            self._ids += 1
            return self._ids

    # ---------------------------------------------------------------- what owners do

    def install(self, permissions: dict[str, str] | None = None) -> int:
        """Install the App and return the installation's number."""
        number = self.new_id()
        self.installations[number] = dict(ALL_PERMISSIONS if permissions is None else permissions)
        return number

    def uninstall(self, installation: int) -> None:
        """Take the App away."""
        del self.installations[installation]
        self.tokens = {
            value: token for value, token in self.tokens.items() if token.installation != installation
        }

    def add_repository(
        self,
        full_name: str = "octo/parcels",
        files: dict[str, bytes] | None = None,
        *,
        installation: int | None = None,
        collaborators: dict[str, str] | None = None,
    ) -> Repository:
        """Make a repository with one commit on `main`."""
        store = GitStore.make(self.directory / f"{full_name}.git")
        people = (
            {"owner": "admin", "alice": "write", "bob": "read"} if collaborators is None else collaborators
        )
        repository = Repository(self.new_id(), full_name, store, installation, people)
        self.repositories[full_name] = repository
        self.push(full_name, "main", files or {"README.md": b"# parcels\n"}, message="The beginning")
        return repository

    def fork(self, full_name: str, owner: str) -> Repository:
        """Make a fork, which the App is not installed on."""
        source = self.repositories[full_name]
        name = f"{owner}/{source.name}"
        store = GitStore.make(self.directory / f"{name}.git")
        store.git("fetch", "--quiet", str(source.store.directory), "+refs/heads/*:refs/heads/*")
        self.repositories[name] = Repository(self.new_id(), name, store, None, {owner: "admin"})
        return self.repositories[name]

    # ---------------------------------------------------------------- what people do

    def push(
        self,
        full_name: str,
        branch: str,
        files: dict[str, bytes | None],
        *,
        message: str = "A change",
        author: str = "alice",
        onto: str | None = None,
    ) -> str:
        """Commit files to a branch, which begins at `main` if it is new; `onto` another commit is a forced push."""
        with self.lock:
            store = self.repositories[full_name].store
            tip = store.tip(branch)
            if onto is not None and tip is not None:
                store.git("update-ref", f"refs/heads/{branch}", onto)
                tip = onto
            if tip is None and store.tip("main"):
                tip = onto or store.tip("main")
                store.git("update-ref", f"refs/heads/{branch}", str(tip))
            oid = store.commit(branch, files, message, onto=tip, author=author, at=int(self.clock.now()))
            self.synchronize()
            return oid

    def open_pull(
        self,
        full_name: str,
        head_ref: str,
        *,
        base_ref: str = "main",
        author: str = "alice",
        title: str = "A change",
        body: str = "",
        draft: bool = False,
        head_repo: str | None = None,
    ) -> Pull:
        """Open a pull request."""
        with self.lock:
            repository = self.repositories[full_name]
            repository.issues += 1
            source = self.repositories[head_repo or full_name]
            pull = Pull(repository.issues, title, body, author, source, head_ref, base_ref, draft)
            repository.pulls[pull.number] = pull
            self.synchronize()
            return pull

    def synchronize(self) -> None:
        """Bring `refs/pull/N/head` up to where the head branches are."""
        for repository in self.repositories.values():
            for pull in repository.pulls.values():
                tip = pull.head_repo.store.tip(pull.head_ref) if pull.head_repo else None
                if pull.state != "open" or tip is None or tip == pull.last_head:
                    continue
                if pull.head_repo is not repository:
                    source = str(pull.head_repo.store.directory)  # type: ignore[union-attr]
                    repository.store.git("fetch", "--quiet", source, tip)
                repository.store.git("update-ref", f"refs/pull/{pull.number}/head", tip)
                pull.last_head = tip

    def rename_branch(self, full_name: str, old: str, new: str) -> None:
        """Rename a branch; pull requests go along with it."""
        with self.lock:
            repository = self.repositories[full_name]
            repository.store.git("branch", "--move", old, new)
            for pull in repository.pulls.values():
                if pull.head_repo is repository and pull.head_ref == old:
                    pull.head_ref = new

    def delete_fork(self, full_name: str) -> None:
        """Delete a repository; pull requests from it stay."""
        gone = self.repositories.pop(full_name)
        for repository in self.repositories.values():
            for pull in repository.pulls.values():
                if pull.head_repo is gone:
                    pull.head_repo = None

    def comment(self, full_name: str, number: int, body: str, *, user: str = "alice") -> Comment:
        """Write a comment below a pull request."""
        comment = Comment(self.new_id(), user, body, self.clock.text())
        self.repositories[full_name].pulls[number].comments.append(comment)
        return comment

    def comment_on_line(
        self, full_name: str, number: int, body: str, *, user: str = "alice", reply_to: int | None = None
    ) -> Comment:
        """Write a comment on the diff."""
        pull = self.repositories[full_name].pulls[number]
        comment = Comment(
            self.new_id(), user, body, self.clock.text(), "x", 1, commit=pull.last_head, reply_to=reply_to
        )
        pull.line_comments.append(comment)
        return comment

    def tick(self, full_name: str, number: int, box: str) -> tuple[Comment, str]:
        """Tick a box of the bot's sticky comment; return the comment and what it was before."""
        pull = self.repositories[full_name].pulls[number]
        comment = next(c for c in pull.comments if f"testforge:box={box} " in c.body)
        before = comment.body
        comment.body = before.replace(f"- [ ] <!-- testforge:box={box} ", f"- [x] <!-- testforge:box={box} ")
        assert comment.body != before
        return comment, before

    def close(self, full_name: str, number: int) -> None:
        """Close a pull request."""
        self.repositories[full_name].pulls[number].state = "closed"

    def apply_suggestions(self, full_name: str, number: int, *, user: str = "alice") -> str:
        """Commit all suggestions of a pull request in one batch, as its page does; return the commit.

        Raises:
            RefusalError: The page would not offer it: lines outside of the head's file, overlapping, outdated, no change.
        """
        with self.lock:
            repository = self.repositories[full_name]
            pull = repository.pulls[number]
            assert pull.head_repo is not None
            edits: dict[str, list[tuple[int, int, list[str]]]] = {}
            for comment in pull.line_comments:
                match = SUGGESTION.search(comment.body.replace("\r\n", "\n"))
                if match is None:
                    continue
                if comment.commit != pull.last_head:
                    raise RefusalError(422, "a suggestion is outdated")
                lines = match[2].split("\n")[:-1]
                edits.setdefault(comment.path, []).append(
                    (comment.start_line or comment.line, comment.line, lines)
                )
            files: dict[str, bytes | None] = {}
            for path, found in edits.items():
                old = repository.store.file(pull.last_head, path)
                if old is None:
                    raise RefusalError(422, f"there is no {path}")
                files[path] = edited(old, found)
            if not files:
                raise RefusalError(422, "there is nothing to apply")
            return self.push(
                pull.head_repo.full_name,
                pull.head_ref,
                files,
                message="Apply suggestions from code review",
                author=user,
            )

    # ---------------------------------------------------------------- what is looked up

    def token_for(self, value: str) -> Token | None:
        """Return a token that is still good."""
        token = self.tokens.get(value)
        return token if token is not None and token.until > self.clock.now() else None

    def make_token(self, installation: int, repositories: list[str], permissions: dict[str, str]) -> Token:
        """Make a token, in the form that GitHub's have now."""
        value = f"ghs_{self.app_id}_eyJ{secrets.token_urlsafe(24)}.eyJ{secrets.token_urlsafe(24)}.{secrets.token_urlsafe(24)}"
        token = Token(value, installation, frozenset(repositories), permissions, self.clock.now() + 3600)
        self.tokens[value] = token
        self.minted.append(
            {"installation": installation, "repositories": repositories, "permissions": permissions}
        )
        return token

    def revoke_tokens(self) -> None:
        """Make every token void at once."""
        self.tokens.clear()


def edited(old: bytes, edits: list[tuple[int, int, list[str]]]) -> bytes:
    """Return a file with lines replaced, its line ends made alike as GitHub makes them."""
    text = old.decode("utf-8")
    end = "\r\n" if "\r\n" in text else "\n"
    lines = re.split(r"\r\n|\n", text)
    ends_well = lines[-1] == ""
    lines = lines[:-1] if ends_well else lines
    last = len(lines) + 1
    for first, final, new in sorted(edits, reverse=True):
        if not 1 <= first <= final <= len(lines) or final >= last:
            raise RefusalError(422, "suggestions overlap, or lie outside of the file")
        if lines[first - 1 : final] == new:
            raise RefusalError(422, "a suggestion changes nothing")
        lines[first - 1 : final] = new
        last = first
    return (end.join(lines) + (end if ends_well and lines else "")).encode("utf-8")
