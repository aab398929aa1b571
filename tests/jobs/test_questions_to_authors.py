"""Questions to a pull request's author, from the run that finds them to the review that holds what was approved."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from bot import pipeline
from bot.domain import Request
from bot.github import pulls
from bot.github.events import interpret
from bot.github.wishes import Wish
from bot.jobs import dialogue, queues
from bot.store import open_store
from bot.store.questions import Asking, Question
from tests.github.server import UnavailableError
from tests.github.server.nouns import Comment, Pull
from tests.jobs.desk import Desk, desk_in, report_of
from tests.jobs.serving import REPOSITORY
from tests.model_server import Turn, serving

pytestmark = pytest.mark.slow

real_review = pipeline.review
DOUBTFUL = '''\
def price(weight):
    """Return the price of a parcel in cents; from 30 on it is heavy.

    >>> price(30)
    300
    """
    if weight > 30:
        return 300
    return 110
'''
RIGHT = DOUBTFUL.replace("> 30", ">= 30")
SECOND = '\n\ndef fee(days):\n    """Return the fee.\n\n    >>> fee(2)\n    5\n    """\n    return days * 2\n'
WITHOUT_MUTANTS = b"mutation:\n  enabled: false\n"
KNOWN: dict[str, Sequence[Asking]] = {}
"""What can be asked about the doubtful function, by the address of the database."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    try:
        with desk_in(tmp_path_factory.mktemp("desk")) as found:
            yield found
    except UnavailableError as error:
        pytest.skip(str(error))


@pytest.fixture
def desk(shared: Desk) -> Iterator[Desk]:
    yield shared
    shared.meanwhile, shared.find = lambda: None, report_of


def pull_with(desk: Desk, source: str, **more: Any) -> Pull:
    """Open a pull request that changes quotes.py to this."""
    branch = f"doubt{desk.github.world.new_id()}"
    desk.github.world.push(REPOSITORY, branch, {"quotes.py": source.encode()})
    return desk.github.world.open_pull(REPOSITORY, branch, **more)


def asking(pull: Pull) -> Comment:
    """Return the one comment that asks."""
    (found,) = (comment for comment in pull.comments if "testforge:questions" in comment.body)
    return found


def questions(desk: Desk, pull: Pull) -> list[Question]:
    return list(desk.store.questions.of_pull(REPOSITORY, pull.number))


def tick(desk: Desk, pull: Pull, box: str, user: str = "alice") -> str:
    """Tick a box of the question, and return the answer."""
    comment = asking(pull)
    before = comment.body
    comment.body = before.replace(f"- [ ] <!-- testforge:box={box} ", f"- [x] <!-- testforge:box={box} ")
    assert comment.body != before
    payload = desk.github.shapes.payload(
        REPOSITORY, pull.number, "edited", sender=user, comment=comment, before=before
    )
    wish = interpret("issue_comment", secrets.token_hex(6), payload, bot_login="testforge[bot]")
    assert wish is not None
    return settled(desk, pull, wish)


def settled(desk: Desk, pull: Pull, wish: Wish) -> str:
    """Submit an answer, wait for all that follows from it, and return the bot's."""
    desk.engine.submit([wish])
    desk.ended(queues.workflow_id(wish))
    follows = queues.workflow_id(replace(wish, kind="review"))
    if not any(row.state == "open" for row in questions(desk, pull)) and any(
        row.state == "yes" for row in questions(desk, pull)
    ):
        desk.ended(follows)
    return said_in(desk.answer(pull, wish))


def said_in(answer: str) -> str:
    """Return an answer without the mark that it begins with."""
    return answer.partition("-->\n")[2]


def answered(desk: Desk, pull: Pull, command: str, *arguments: str, user: str = "alice") -> str:
    return settled(desk, pull, desk.command(pull, command, *arguments, user=user))


def test_a_yes_that_the_code_does_not_keep_leads_to_a_bug_and_a_suggestion_that_mends_it(desk: Desk) -> None:
    """The candidates are a model's; what brings the review up to date is a whole run."""

    def said(request: dict[str, Any]) -> Turn:
        text = str(request["messages"])
        if "You implement Python functions" in text:
            return Turn(f"```python\n{RIGHT}```")
        if "You write assertions" in text:
            return Turn("```python\nassert price(30) == 300\nassert price(31) == 300\n```")
        return Turn(calls=[("finish", {"reflection": "It is covered."})])

    with serving() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TESTFORGE_MODEL", "openai/gpt-4o")
        server.chosen = said
        desk.github.world.push(REPOSITORY, "plain", {".github/testforge.yml": WITHOUT_MUTANTS})
        pull = pull_with(desk, DOUBTFUL, base_ref="plain", title="Heavy parcels cost more", body="From 30.")
        assert desk.review(pull).state == "done"

        assert "**Q1.** In `quotes.py`, `price(30)` should return `300`. Is that so?" in asking(pull).body
        told = [str(request["messages"]) for request in server.requests]
        assert sum("Heavy parcels cost more\\n\\nFrom 30." in text for text in told) >= 2
        desk.find = lambda request: real_review(request, lambda _: None)
        answer = tick(desk, pull, "yes-Q1")

    assert "**The code does not do that:** `price(30)` gives `110`" in answer
    assert "+    if weight >= 30:" in answer
    (review,) = pull.reviews
    assert "**Bugs that the author confirmed.**" in review.body
    assert "There is nothing left to ask." in asking(pull).body
    (suggestion,) = (comment for comment in pull.line_comments if "```suggestion" in comment.body)
    assert "**Confirmed bug**" in suggestion.body

    mended = desk.github.world.apply_suggestions(REPOSITORY, pull.number)

    source = desk.repository.store.file(mended, "quotes.py")
    names: dict[str, Any] = {}
    exec(source, names)
    assert names["price"](30) == 300
    assert source == RIGHT.encode()


def test_only_the_author_and_who_may_write_say_what_the_code_should_do(desk: Desk) -> None:
    pull = asked(desk)
    assert answered(desk, pull, "yes", "Q1", user="mallory") == dialogue.NO_AUTHORITY
    assert [row.state for row in questions(desk, pull)] == ["open"]
    assert answered(desk, pull, "undefined", "q1").startswith("Q1: it does not matter.")


def test_an_author_without_write_permission_answers(desk: Desk) -> None:
    pull = asked(desk, author="bob")
    assert answered(desk, pull, "no", "Q1", user="bob").startswith("Q1: no.")


def test_the_last_of_two_answers_to_a_question_counts(desk: Desk) -> None:
    pull = asked(desk)
    answered(desk, pull, "no", "Q1")
    assert "Before, the answer was no; the last one counts." in answered(desk, pull, "undefined", "Q1")
    assert [row.state for row in questions(desk, pull)] == ["undefined"]


def test_of_answers_to_two_questions_that_contradict_each_other_the_last_counts(desk: Desk) -> None:
    pull = asked(desk)
    answered(desk, pull, "yes", "Q1")
    desk.store.questions.ask(REPOSITORY, pull.number, "quotes.py", "price", "price(30)", "_ == 110")

    answer = answered(desk, pull, "yes", "Q2")

    assert "No candidate agrees with that and with the answer to Q1; the last one counts." in answer
    approved = dialogue.approved(desk.store, REPOSITORY, pull.number)
    assert [(one.predicate, one.repair) for one in approved] == [("_ == 110", "")]


def test_an_answer_is_changed_after_the_function_was(desk: Desk) -> None:
    pull = asked(desk)
    answered(desk, pull, "no", "Q1")
    desk.github.world.push(REPOSITORY, pull.head_ref, {"quotes.py": RIGHT.encode()})
    answer = answered(desk, pull, "yes", "Q1")
    assert answer.startswith("Q1: yes. Before, the answer was no; the last one counts.")
    assert [one.predicate for one in dialogue.approved(desk.store, REPOSITORY, pull.number)] == ["_ == 300"]


def test_an_answer_that_names_no_question_is_not_guessed_at(desk: Desk) -> None:
    pull = asked(desk)
    assert "`/testforge no Q1` answers the last one." in answered(desk, pull, "no")
    assert [row.state for row in questions(desk, pull)] == ["open"]


def test_a_question_that_there_is_not_is_told(desk: Desk) -> None:
    pull = asked(desk)
    assert answered(desk, pull, "yes", "Q7") == "There is no question `Q7` here; there is Q1 alone."
    other = desk.pull()
    assert answered(desk, other, "yes", "Q1").startswith("No question has been asked on this pull request.")


def test_a_push_that_changes_the_function_drops_its_question(desk: Desk) -> None:
    pull = asked(desk)
    desk.github.world.push(REPOSITORY, pull.head_ref, {"quotes.py": RIGHT.encode()})
    assert "Q1 is closed, for the function has changed" in answered(desk, pull, "yes", "Q1")
    assert "closed, for the function has changed" in asking(pull).body


def test_a_push_that_leaves_the_function_alone_leaves_its_question(desk: Desk) -> None:
    pull = asked(desk)
    desk.github.world.push(REPOSITORY, pull.head_ref, {"README.md": b"# Parcels\n"})
    desk.review(pull)
    assert [(row.name, row.state) for row in questions(desk, pull)] == [("Q1", "open")]
    assert answered(desk, pull, "no", "Q1").startswith("Q1: no.")


def test_a_question_that_nobody_answers_closes_after_a_week_and_is_not_asked_again(desk: Desk) -> None:
    pull = asked(desk)
    (question,) = questions(desk, pull)
    office = desk.engine._office
    assert office is not None
    assert dialogue.close_silent(office, question.asked + dialogue.SILENCE_S - 60) == 0
    dialogue.close_silent(office, question.asked + dialogue.SILENCE_S + 60)
    assert "closed, for nobody answered for a week" in asking(pull).body
    assert answered(desk, pull, "yes", "Q1").startswith("Q1 is closed, for nobody answered for a week.")
    desk.review(pull, event="pull_request.synchronize")
    assert [row.state for row in questions(desk, pull)] == ["expired"]


def test_what_was_approved_before_a_question_that_nobody_answers_joins_the_review(desk: Desk) -> None:
    pull = asked(desk)
    store, office = desk.store.questions, desk.engine._office
    assert office is not None
    store.close(REPOSITORY, pull.number, 1, "yes", actor="alice")
    store.ask(REPOSITORY, pull.number, "quotes.py", "price", "price(31)", "_ == 300")
    seen: list[Request] = []
    desk.find = lambda request: seen.append(request) or report_of(request)  # type: ignore[func-returns-value]

    dialogue.close_silent(office, questions(desk, pull)[1].asked + dialogue.SILENCE_S + 60)

    desk.ended(f"pr/{REPOSITORY}/{pull.number}/silence-Q2")
    assert [(one.call, one.actor) for one in seen[0].approved] == [("price(30)", "@alice")]


def test_an_answer_in_time_is_not_overtaken_by_silence(desk: Desk) -> None:
    pull = asked(desk)
    store = desk.store.questions
    store.close(REPOSITORY, pull.number, 1, "no", actor="alice")
    store.close(REPOSITORY, pull.number, 1, "expired")
    assert [(row.state, row.actor) for row in questions(desk, pull)] == [("no", "alice")]


def test_a_question_outlives_the_server(desk: Desk) -> None:
    """All that an answer needs lies in the database: another process, with nothing in its memory, takes it."""
    pull = asked(desk)
    store = open_store(desk.store.url)
    office = desk.engine._office
    assert office is not None
    fresh = replace(office, store=store)
    with fresh.app.connect(desk.installation, REPOSITORY) as hub:
        wish = desk.command(pull, "no", "Q1")
        found = dialogue.respond(fresh, hub, pulls.read(hub, pull.number), wish)
    store.close()
    assert found["text"].startswith("Q1: no.")
    assert [row.state for row in questions(desk, pull)] == ["no"]


def test_a_command_asks_what_is_in_doubt_and_says_where_nothing_is(desk: Desk) -> None:
    pull = pull_with(desk, DOUBTFUL)
    assert said_in(desk.say(pull, "intent", user="mallory")) == dialogue.NO_AUTHORITY
    assert said_in(desk.say(pull, "intent")) == "Q1 is asked in a comment of its own."
    assert pull.reviews == []
    certain = pull_with(desk, RIGHT)
    assert said_in(desk.say(certain, "intent")).startswith(
        "Nothing that this pull request changes is in doubt"
    )
    assert not any("testforge:questions" in comment.body for comment in certain.comments)


def test_functions_share_the_questions_and_take_turns(desk: Desk) -> None:
    pull = pull_with(desk, DOUBTFUL + SECOND)
    desk.review(pull)
    found = desk.store.questions.inquiries(REPOSITORY, pull.number)
    assert sum(one.questions for one in found) == 3
    assert min(one.questions for one in found) >= 1
    answer = answered(desk, pull, "no", "Q1")
    assert answer.endswith("Q2 is the next question.")
    assert {row.function for row in questions(desk, pull)} == {"price", "fee"}


def asked(desk: Desk, **more: Any) -> Pull:
    """Return a pull request with one open question, as a run leaves it; what the first one found is not looked for again."""
    pull = pull_with(desk, DOUBTFUL, **more)
    store = desk.store.questions
    store.keep(REPOSITORY, pull.number, KNOWN.get(desk.store.url, ()))
    desk.review(pull)
    KNOWN[desk.store.url] = store.inquiries(REPOSITORY, pull.number)
    assert [row.state for row in questions(desk, pull)] == ["open"]
    return pull
