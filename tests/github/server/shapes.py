"""The tests' GitHub's answers in JSON: the part of GitHub's own that the bot may read, in the official shape."""

from __future__ import annotations

from typing import Any

from tests.github.server.nouns import Comment, Pull, Repository, Review
from tests.github.server.world import World

Json = dict[str, Any]


class Shapes:
    """Turns the state of a world into JSON; `url` is where the server listens."""

    def __init__(self, world: World, url: str) -> None:
        self.world = world
        self.url = url

    def user(self, login: str) -> Json:
        """Return a person or a bot."""
        kind = "Bot" if login.endswith("[bot]") else "User"
        number = sum(map(ord, login))
        return {"login": login, "id": number, "node_id": f"U_{number}", "type": kind, "site_admin": False}

    def repository(self, repository: Repository) -> Json:
        """Return a repository."""
        return {
            "id": repository.id,
            "node_id": f"R_{repository.id}",
            "name": repository.name,
            "full_name": repository.full_name,
            "private": True,
            "owner": self.user(repository.owner),
            "html_url": f"{self.url}/{repository.full_name}",
            "fork": False,
            "archived": repository.archived,
            "size": repository.size_kb,
            "default_branch": "main",
        }

    def pull(self, repository: Repository, pull: Pull) -> Json:
        """Return a pull request."""
        base = repository.store.tip(pull.base_ref)
        head_repo = self.repository(pull.head_repo) if pull.head_repo else None
        changed = repository.store.changed(str(base), pull.last_head)
        owner = pull.head_repo.owner if pull.head_repo else "ghost"
        return {
            "id": repository.id * 1000 + pull.number,
            "node_id": f"PR_{repository.id}_{pull.number}",
            "number": pull.number,
            "state": "open" if pull.state == "open" else "closed",
            "locked": False,
            "title": pull.title,
            "user": self.user(pull.author),
            "body": pull.body or None,
            "labels": [{"id": n, "node_id": f"L_{n}", "name": name} for n, name in enumerate(pull.labels, 1)],
            "draft": pull.draft,
            "merged": pull.state == "merged",
            "changed_files": changed,
            "html_url": f"{self.url}/{repository.full_name}/pull/{pull.number}",
            "head": {
                "label": f"{owner}:{pull.head_ref}",
                "ref": pull.head_ref,
                "sha": pull.last_head,
                "repo": head_repo,
            },
            "base": {
                "label": f"{repository.owner}:{pull.base_ref}",
                "ref": pull.base_ref,
                "sha": base,
                "repo": self.repository(repository),
            },
        }

    def listed_pull(self, repository: Repository, pull: Pull) -> Json:
        """Return a pull request as lists hold it: without what takes counting."""
        return {k: v for k, v in self.pull(repository, pull).items() if k not in ("merged", "changed_files")}

    def review(self, repository: Repository, pull: Pull, review: Review) -> Json:
        """Return a review."""
        return {
            "id": review.id,
            "node_id": f"PRR_{review.id}",
            "user": self.user(review.user),
            "body": review.body,
            "state": review.state,
            "html_url": f"{self.url}/{repository.full_name}/pull/{pull.number}#pullrequestreview-{review.id}",
            "pull_request_url": f"{self.url}/repos/{repository.full_name}/pulls/{pull.number}",
            "commit_id": review.commit,
            "submitted_at": review.at,
        }

    def comment(self, repository: Repository, pull: Pull, comment: Comment) -> Json:
        """Return a comment below a pull request."""
        return {
            "id": comment.id,
            "node_id": f"IC_{comment.id}",
            "body": comment.body,
            "user": self.user(comment.user),
            "created_at": comment.at,
            "updated_at": comment.at,
            "html_url": f"{self.url}/{repository.full_name}/pull/{pull.number}#issuecomment-{comment.id}",
            "issue_url": f"{self.url}/repos/{repository.full_name}/issues/{pull.number}",
        }

    def line_comment(self, repository: Repository, pull: Pull, comment: Comment) -> Json:
        """Return a comment on a line."""
        shape: Json = {
            "id": comment.id,
            "node_id": f"PRRC_{comment.id}",
            "pull_request_review_id": comment.review,
            "body": comment.body,
            "user": self.user(comment.user),
            "path": comment.path,
            "line": comment.line,
            "side": comment.side,
            "commit_id": comment.commit,
            "original_commit_id": comment.commit,
            "created_at": comment.at,
            "updated_at": comment.at,
            "html_url": f"{self.url}/{repository.full_name}/pull/{pull.number}#discussion_r{comment.id}",
        }
        if comment.start_line is not None:
            shape.update(start_line=comment.start_line, start_side=comment.side)
        if comment.reply_to is not None:
            shape["in_reply_to_id"] = comment.reply_to
        return shape

    def app(self) -> Json:
        """Return the App."""
        world = self.world
        return {
            "id": world.app_id,
            "slug": world.slug,
            "node_id": f"A_{world.app_id}",
            "name": "testforge of the tests",
            "owner": self.user("octo"),
            "description": None,
            "html_url": f"{self.url}/apps/{world.slug}",
            "events": ["pull_request"],
        }

    # ---------------------------------------------------------------- webhooks

    def payload(
        self,
        full_name: str,
        number: int,
        action: str,
        *,
        sender: str = "alice",
        comment: Comment | None = None,
        before: str | None = None,
    ) -> Json:
        """Return a webhook's payload for a pull request or, with a comment, for that; `before` is an edited body."""
        repository = self.world.repositories[full_name]
        pull = repository.pulls[number]
        shape: Json = {
            "action": action,
            "repository": self.repository(repository),
            "sender": self.user(sender),
            "installation": {"id": repository.installation, "node_id": "I_1"},
        }
        if comment is None:
            return {**shape, "number": number, "pull_request": self.pull(repository, pull)}
        if before is not None:
            shape["changes"] = {"body": {"from": before}}
        if comment.path:
            return {
                **shape,
                "comment": self.line_comment(repository, pull, comment),
                "pull_request": self.listed_pull(repository, pull),
            }
        issue = {
            "number": number,
            "state": pull.state,
            "user": self.user(pull.author),
            "pull_request": {"url": f"{self.url}/repos/{full_name}/pulls/{number}"},
        }
        return {**shape, "issue": issue, "comment": self.comment(repository, pull, comment)}
