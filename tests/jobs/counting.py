"""The built-in model behind a model server, which counts what it is asked: a run's calls as a provider would bill them."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bot.models import offline
from bot.models.wire import response_from
from bot.store.journal import fingerprint
from tests.model_server import KEY, MODELS, ModelServer, Raw

SEED = 0


class CountedModel:
    """A provider of one model.

    Attributes:
        asked: What each request so far was known by, in their order.
    """

    def __init__(self, server: ModelServer) -> None:
        self.asked: list[str] = []
        self._within: tuple[int, Callable[[], None]] | None = None
        self._server = server
        server.chosen = self._reply

    @property
    def environment(self) -> dict[str, str]:
        """What leads a server or worker here."""
        return {
            "TESTFORGE_MODEL": MODELS["openai"],
            "OPENAI_API_KEY": KEY,
            "OPENAI_API_BASE": self._server.base(),
            "OPENAI_BASE_URL": self._server.base(),
            "NO_PROXY": "127.0.0.1",
        }

    def interrupt(self, number: int, act: Callable[[], None]) -> None:
        """Do something while the request of this number, counted from the first of all, waits for its reply."""
        self._within = number, act

    def _reply(self, request: dict[str, Any]) -> Raw:
        """Note a request, and answer it as the built-in model does, at no cost."""
        messages, tools = request["messages"], request.get("tools") or []
        self.asked.append(fingerprint([*messages, {"tools": tools}]))
        if self._within is not None and len(self.asked) >= self._within[0]:
            (_, act), self._within = self._within, None
            act()  # whoever asked this waits for the reply meanwhile
        if len(messages) == 1:  # the greeting
            return Raw(_completion({"role": "assistant", "content": "ready"}))
        reply = offline.complete(messages, tools, seed=SEED)
        return Raw(_ready(response_from(reply, MODELS["openai"])))


def repeated(asked: list[str], known: int, undisturbed: Mapping[str, int]) -> tuple[int, int]:
    """Return how many requests a run made twice: of those that were answered, and of the one in flight at its kill.

    Args:
        asked: What was asked for one run.
        known: How many of them had come when something was killed. Whoever asked the last of them may not have lived
            to read its reply, and asks again; of all others the reply was kept.
        undisturbed: How often a run that nobody disturbs asks each.
    """
    more = Counter(asked) - Counter(undisturbed)
    in_flight = min(1, more.get(asked[known - 1], 0)) if known else 0
    return more.total() - in_flight, in_flight


@contextlib.contextmanager
def counted() -> Iterator[CountedModel]:
    """Serve the model until the block ends."""
    server = ModelServer()
    try:
        yield CountedModel(server)
    finally:
        server.close()


def _completion(message: Mapping[str, Any]) -> dict[str, Any]:
    return _ready({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": {}})


def _ready(response: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response with what a provider's has besides."""
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    whole = {
        "id": "reply",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-4o",
        **response,
        "usage": usage,
    }
    return dict(json.loads(json.dumps(whole)))
