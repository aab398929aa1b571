"""The journal of model calls: a conversation that is led again gets the same replies."""

from __future__ import annotations

import tempfile

from bot.domain import Usage
from bot.jobs.journaled import Journaled
from bot.models import Reply, ToolCall


class Counting:
    """A model that says how often it was asked."""

    name = "counting"

    def __init__(self):
        self.asked = 0

    def complete(self, messages, tools=()):
        self.asked += 1
        call = ToolCall(f"c{self.asked}", "run_tests", "{}")
        return Reply(f"reply {self.asked}", (call,), "tool_calls", Usage(10, 5, 0, 0.25))


def ask(journaled, *texts):
    return [journaled.complete([{"role": "user", "content": text}]) for text in texts]


def test_a_run_that_begins_again_is_given_the_replies_it_had(store):
    first = Journaled(Counting(), store.journal("r1"))
    replies = ask(first, "one", "two")
    model = Counting()
    assert ask(Journaled(model, store.journal("r1")), "one", "two") == replies
    assert model.asked == 0
    assert replies[0].tool_calls[0].id == "c1"
    assert replies[0].usage.cost_usd == 0.25


def test_another_run_asks_anew(store):
    ask(Journaled(Counting(), store.journal("r1")), "one")
    model = Counting()
    ask(Journaled(model, store.journal("r2")), "one")
    assert model.asked == 1


def test_the_same_request_twice_has_a_reply_each_time(store):
    texts = [reply.text for reply in ask(Journaled(Counting(), store.journal("r1")), "one", "one")]
    assert texts == ["reply 1", "reply 2"]
    again = ask(Journaled(Counting(), store.journal("r1")), "one", "one", "one")
    assert [reply.text for reply in again] == ["reply 1", "reply 2", "reply 1"]


def test_how_long_something_took_and_where_it_lay_make_no_other_request(store):
    ask(
        Journaled(Counting(), store.journal("r1")),
        "3 passed in 0.42 s at /tmp/testforge-abc/x <f at 0x7f00aa001122>",
    )
    model = Counting()
    ask(
        Journaled(model, store.journal("r1")),
        "3 passed in 1.07 s at /tmp/testforge-xyz/x <f at 0x7f00aa009988>",
    )
    assert model.asked == 0


def test_a_conversation_that_goes_another_way_asks_the_model(store):
    ask(Journaled(Counting(), store.journal("r1")), "3 passed, 1 failed in 0.42 s")
    model = Counting()
    ask(Journaled(model, store.journal("r1")), "4 passed, 0 failed in 0.42 s")
    assert model.asked == 1


def test_another_machines_directory_makes_no_other_request(store, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/var/lib/one/abc")
    ask(Journaled(Counting(), store.journal("r1")), "it lies in /var/lib/one/abc/testforge-1/tree")
    monkeypatch.setattr(tempfile, "tempdir", "/srv/two/abc")
    model = Counting()
    ask(Journaled(model, store.journal("r1")), "it lies in /srv/two/abc/testforge-9/tree")
    assert model.asked == 0
