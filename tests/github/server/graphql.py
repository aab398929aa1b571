"""The GraphQL of the tests' GitHub: every query is validated against the official schema, and run on it."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from graphql import GraphQLError, GraphQLSchema, build_ast_schema, graphql_sync, parse

from tests.github.server.gitstore import GitError
from tests.github.server.nouns import Comment, Repository, Review, Token
from tests.github.server.npm import GRAPHQL
from tests.github.server.shapes import Shapes
from tests.github.server.world import World

Json = Any


@lru_cache(maxsize=1)
def schema() -> GraphQLSchema:
    """Return GitHub's schema. Raises UnavailableError if it cannot be downloaded."""
    document = parse(GRAPHQL.file().read_text("utf-8"), no_location=True)
    return build_ast_schema(document, assume_valid=True, assume_valid_sdl=True)


class Refused(GraphQLError):  # noqa: N818 - it is an answer
    """An error with GitHub's `type`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def execute(world: World, shapes: Shapes, token: Token, body: Mapping[str, Json]) -> tuple[Json, list[str]]:
    """Return GraphQL's answer, and what is wrong with the query by the schema."""
    root = Root(world, shapes, token)
    result = graphql_sync(schema(), body["query"], root, variable_values=body.get("variables"))
    answer: dict[str, Json] = {"data": result.data}
    problems = []
    if result.errors:
        answer["errors"] = []
        for error in result.errors:
            kind = getattr(error.original_error, "kind", None)
            answer["errors"].append({"message": error.message, **({"type": kind} if kind else {})})
            if kind is None:
                problems.append(error.message)
    return answer, problems


class Root:
    """The resolvers of the fields that the bot uses; the default resolver calls methods of the root object."""

    def __init__(self, world: World, shapes: Shapes, token: Token) -> None:
        self.world = world
        self.shapes = shapes
        self.token = token

    def nodes(self, info: Any, ids: list[str]) -> list[Json]:
        """Return the reviews and comments with these ids."""
        return [self._shape(node_id) for node_id in ids]

    def minimizeComment(self, info: Any, input: Mapping[str, Json]) -> Json:  # noqa: A002 - GitHub's names
        """Fold a comment or a review away."""
        repository, node = self._node(input["subjectId"])
        self._require("pull_requests", "issues")
        if repository.full_name not in self.token.repositories:
            raise Refused("FORBIDDEN", "Resource not accessible by integration")
        node.minimized = True
        return {"minimizedComment": self._shape(input["subjectId"])}

    def createCommitOnBranch(self, info: Any, input: Mapping[str, Json]) -> Json:  # noqa: A002 - GitHub's names
        """Commit files to a branch that is where it is expected to be."""
        branch = input["branch"]
        full_name, name = branch["repositoryNameWithOwner"], branch["branchName"]
        repository = self.world.repositories.get(full_name)
        if repository is None or full_name not in self.token.repositories:
            raise Refused("NOT_FOUND", f"Could not resolve to a Repository with the name '{full_name}'.")
        self._require("contents")
        if repository.archived:
            raise Refused("FORBIDDEN", "Repository was archived so is read-only.")
        tip = repository.store.tip(name)
        if tip is None:
            raise Refused("NOT_FOUND", f"No such branch: {name}")
        if name in repository.protected:
            raise Refused("UNPROCESSABLE", f"Cannot update this protected ref {name}.")
        expected = input["expectedHeadOid"]
        if tip != expected:
            raise Refused(
                "STALE_DATA", f'Expected branch to point to "{expected}" but it did not. Pull and try again.'
            )
        return self._commit(repository, name, tip, input)

    def _commit(self, repository: Repository, branch: str, tip: str, asked: Mapping[str, Json]) -> Json:
        changes = asked.get("fileChanges") or {}
        files: dict[str, bytes | None] = {one["path"]: None for one in changes.get("deletions") or ()}
        try:
            for one in changes.get("additions") or ():
                files[one["path"]] = base64.b64decode(one["contents"], validate=True)
        except binascii.Error:
            raise Refused("UNPROCESSABLE", "contents is not base64") from None
        message = asked["message"]
        text = "\n\n".join(part for part in (message["headline"], message.get("body")) if part)
        world = self.world
        try:
            oid = repository.store.commit(
                branch, files, text, onto=tip, author=world.bot_login, at=int(world.clock.now())
            )
        except GitError as error:
            raise Refused(
                "UNPROCESSABLE", f"A path was requested for addition which is not possible: {error}"
            ) from None
        world.synchronize()
        url = f"{self.shapes.url}/{repository.full_name}/commit/{oid}"
        commit = {"__typename": "Commit", "oid": oid, "url": url}
        return {"commit": commit, "ref": {"name": branch}, "clientMutationId": asked.get("clientMutationId")}

    def _require(self, *names: str) -> None:
        if not any(self.token.permissions.get(name) == "write" for name in names):
            raise Refused("FORBIDDEN", "Resource not accessible by integration")

    def _shape(self, node_id: str) -> Json:
        _, node = self._node(node_id)
        kind = "PullRequestReview" if isinstance(node, Review) else "IssueComment"
        return {"__typename": kind, "id": node_id, "isMinimized": node.minimized}

    def _node(self, node_id: str) -> tuple[Repository, Review | Comment]:
        kind, _, number = node_id.partition("_")
        for repository in self.world.repositories.values():
            for pull in repository.pulls.values():
                found: list[Any] = {"PRR": pull.reviews, "IC": pull.comments, "PRRC": pull.line_comments}.get(
                    kind, []
                )
                for node in found:
                    if str(node.id) == number:
                        return repository, node
        raise Refused("NOT_FOUND", f"Could not resolve to a node with the global id of '{node_id}'")
