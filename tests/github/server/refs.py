"""Endpoints of branches, commits and files."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tests.github.server.gitstore import GitError
from tests.github.server.nouns import RefusalError
from tests.github.server.rest import Call, route

Json = Any


@route("GET", "/repos/{owner}/{repo}/contents/{path}", "contents:read")
def _contents(call: Call) -> tuple[int, Json]:
    path = call.parts["path"]
    store, ref = call.repository.store, call.query.get("ref", "main")
    content = store.file(store.tip(ref) or ref, path)
    if content is None:
        raise RefusalError(404, "Not Found")
    sha = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    url = f"{call.shapes.url}/repos/{call.repository.full_name}/contents/{path}"
    return 200, {
        "type": "file",
        "encoding": "base64",
        "size": len(content),
        "name": path.rpartition("/")[2],
        "path": path,
        "content": base64.encodebytes(content).decode(),
        "sha": sha,
        "url": url,
        "git_url": url,
        "html_url": url,
        "download_url": url,
        "_links": {"git": url, "self": url, "html": url},
    }


@route("GET", "/repos/{owner}/{repo}/git/ref/{ref}", "contents:read")
def _ref(call: Call) -> tuple[int, Json]:
    branch = call.parts["ref"].removeprefix("heads/")
    tip = call.repository.store.tip(branch)
    if tip is None:
        raise RefusalError(404, "Not Found")
    return 200, {"ref": f"refs/heads/{branch}", "node_id": "REF_1", "object": {"type": "commit", "sha": tip}}


@route("POST", "/repos/{owner}/{repo}/git/refs", "contents:write")
def _make_ref(call: Call) -> tuple[int, Json]:
    store = call.repository.store
    branch = call.body["ref"].removeprefix("refs/heads/")
    if store.tip(branch) is not None:
        raise RefusalError(422, "Reference already exists")
    try:
        store.git("update-ref", f"refs/heads/{branch}", call.body["sha"])
    except GitError:
        raise RefusalError(422, "Object does not exist") from None
    return 201, {
        "ref": call.body["ref"],
        "node_id": "REF_1",
        "object": {"type": "commit", "sha": call.body["sha"]},
    }


@route("GET", "/repos/{owner}/{repo}/git/commits/{sha}", "contents:read")
def _git_commit(call: Call) -> tuple[int, Json]:
    repository, sha = call.repository, call.parts["sha"]
    if not repository.store.has(sha):
        raise RefusalError(404, "Not Found")
    return 200, {
        "sha": sha,
        "node_id": f"C_{sha}",
        "message": repository.store.message(sha),
        "html_url": f"{call.shapes.url}/{repository.full_name}/commit/{sha}",
    }
