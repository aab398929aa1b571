"""The queues and the names of what lies in them: the same for whoever puts something in and whoever takes it out."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from bot.github.wishes import Wish

if TYPE_CHECKING:
    from dbos import EnqueueOptions

APPLICATION = "testforge"
VERSION = "testforge-2"
"""Pinned: DBOS would otherwise leave what an earlier version of this code began. Another one only where the steps of
the workflows changed so much that what is under way cannot be continued."""

REVIEWS = "reviews"
"""One at a time of each repository; a review takes minutes."""
ORDERS = "orders"
"""Commands and events that take seconds, such as `/testforge stop`, and never wait for a review."""

REVIEW_WORKFLOW = "review_pull"
ORDER_WORKFLOW = "obey"


def pull_prefix(repository: str, number: int) -> str:
    """Return how the names of all reviews of a pull request begin."""
    return f"pr/{repository}/{number}/"


def workflow_id(wish: Wish, index: int = 0) -> str:
    """Return the name of the workflow for a wish, the same for the same delivery; `index` counts its wishes."""
    tail = f"{wish.delivery}/{index}" if index else wish.delivery
    if wish.kind == "review":
        return pull_prefix(wish.repository, wish.number) + tail
    return f"order/{wish.repository or wish.installation}/{wish.number}/{tail}"


def options(wish: Wish, identity: str) -> EnqueueOptions:
    """Return where and as what a wish is put down."""
    found: EnqueueOptions = {
        "workflow_name": ORDER_WORKFLOW,
        "queue_name": ORDERS,
        "workflow_id": identity,
        "workflow_id_reuse_policy": "reject",
        "app_version": VERSION,
    }
    if wish.kind != "review":
        return found
    return {
        **found,
        "workflow_name": REVIEW_WORKFLOW,
        "queue_name": REVIEWS,
        "queue_partition_key": wish.repository,
    }


def enqueue(wish: Wish, received: float) -> None:
    """Put a wish into its queue, once; see `received` of the workflows."""
    from dbos import DBOS

    DBOS.enqueue_workflow_with_options(
        {**options(wish, workflow_id(wish)), "workflow_id_reuse_policy": "return-existing"},
        wish.as_json(),
        received,
    )


def waiting_reviews(repository: str, number: int, since: float, known: Collection[str]) -> set[str]:
    """Return the names of reviews of a pull request that arrived after a time and wait for their turn.

    Args:
        since: In seconds since 1970.
        known: Names that are of no interest.
    """
    from dbos import DBOS

    rows = DBOS.list_workflows(
        workflow_id_prefix=pull_prefix(repository, number), status=["ENQUEUED", "DELAYED"], load_output=False
    )
    return {
        row.workflow_id
        for row in rows
        if row.workflow_id not in known and row.input and row.input["args"][1] > since
    }
