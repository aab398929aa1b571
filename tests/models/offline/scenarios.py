"""Scenarios written by hand, as the probe would print them."""

from bot.models.offline.scenario import Check, Scenario, Then

SOURCE = '''
"""A small module."""

import time


class FullError(Exception):
    """Nothing more goes in."""


class Shelf:
    """Holds a few books."""

    def __init__(self, size, label=""):
        self.size = size
        self.label = label
        self.books = []

    def put(self, book):
        if len(self.books) >= self.size:
            raise FullError(f"no room for {book!r}")
        self.books.append(book)

    def take(self, book, default=None):
        if book not in self.books:
            return default
        self.books.remove(book)
        return book

    def __len__(self):
        return len(self.books)

    def __eq__(self, other):
        return isinstance(other, Shelf) and self.books == other.books


def slug(text, separator="-", lower=True):
    if not isinstance(text, str):
        raise TypeError("text must be a string")
    if lower:
        text = text.lower()
    return separator.join(text.split())


def halves(number):
    while number > 1:
        number /= 2
        yield number


def ratio(part, whole):
    return part / whole
'''


def call(name: str, then: Then, **arguments: str) -> Scenario:
    """A call of a function of the module with keyword-free required and keyword optional arguments."""
    optional = {"separator", "lower"}
    shown = [f"{k}={v}" if k in optional else v for k, v in arguments.items()]
    names = (name, then.type) if then.type == "FullError" else (name,)
    return Scenario(name, f"{name}({', '.join(shown)})", then, names=names, args=tuple(arguments.items()))


def value(text: str) -> Then:
    return Then("value", text)


def on_shelf(
    when: str, then: Then | None, *given: str, subject: str = "Shelf.put", **facts: object
) -> Scenario:
    """A step with a shelf."""
    return Scenario(subject, when, then, ("shelf = Shelf(2)", *given), names=("Shelf",), **facts)  # type: ignore[arg-type]


SLUGS = (
    call("slug", value("'a-b'"), text="'A b'"),
    call("slug", value("''"), text="''"),
    call("slug", value("'hello-big-world'"), text="'Hello  big world'"),
    call("slug", value("'a_b'"), text="'a b'", separator="'_'"),
    call("slug", value("'A-b'"), text="'A b'", lower="False"),
    call("slug", Then("raises", "", "TypeError", "text must be a string"), text="None"),
)
SHELVES = (
    on_shelf(
        "shelf.put('c')",
        Then("raises", "", "FullError", "no room for 'c'"),
        "shelf.put('a')",
        "shelf.put('b')",
    ),
    on_shelf("len(shelf)", value("2"), "shelf.put('a')", "shelf.put('b')", subject="Shelf.__len__"),
    on_shelf(
        "shelf.take('a')",
        value("'a'"),
        "shelf.put('a')",
        "shelf.put('b')",
        subject="Shelf.take",
        args=(("book", "'a'"),),
        checks=(Check("shelf.books", value("['b']")),),
    ),
    on_shelf("shelf.take('x')", value("None"), subject="Shelf.take", args=(("book", "'x'"),)),
    on_shelf("shelf == Shelf(2)", value("True"), subject="Shelf.__eq__"),
    on_shelf("shelf == Shelf(2)", value("False"), "shelf.put('a')", subject="Shelf.__eq__"),
)
OTHERS = (
    call("halves", Then("items", "[1.5, 0.75]"), number="3"),
    call("ratio", Then("approx", "0.3333333333333333"), part="1", whole="3"),
    call("ratio", Then("value", "float('nan')"), part="float('inf')", whole="float('inf')"),
    call("ratio", Then("raises", "", "ZeroDivisionError", "division by zero"), part="1", whole="0"),
)
ALL = (*SLUGS, *SHELVES, *OTHERS)
