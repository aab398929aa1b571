"""Turns of a run's agent, shared between its targets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.domain import Function, Target
from bot.scaling.sharing import MOST, share_iterations

EASY = "def easy(a: int) -> int:\n    return a + 1\n"
HARD = '''\
def hard(rows, key=None):
    """Return the rows of all groups that are neither empty nor seen before, by their keys."""
    found, seen = {}, set()
    for row in rows:
        try:
            name = key(row) if key else row
        except (TypeError, ValueError):
            continue
        while name in seen and len(seen) < 30:
            name = name + 1 if isinstance(name, int) else str(name) + "'"
        for other in found.get(name, []):
            if other == row or (other and not row):
                break
        else:
            found.setdefault(name, []).append(row)
        seen.add(name)
    return [row for name in sorted(found, key=str) for row in found[name]]
'''
METHOD = "class A:\n    def easy(self, a):\n        return a\n"


def target(path: str, source: str, *functions: tuple[str, int, int]) -> Target:
    found = tuple(Function(name, first, first + 1, last) for name, first, last in functions)
    return Target(path, path[:-3], source, frozenset({1}), found)


def easy(path: str) -> Target:
    return target(path, EASY, ("easy", 1, 2))


def hard(path: str) -> Target:
    return target(path, HARD, ("hard", 1, HARD.count("\n")))


def test_a_hard_function_gets_more_turns_than_an_easy_one_of_the_same_total():
    shares = share_iterations([easy("a.py"), hard("b.py"), easy("c.py")], 25)
    assert shares["b.py"] > 25 > shares["a.py"]
    assert shares["a.py"] - shares["c.py"] in (0, 1)
    assert sum(shares.values()) == 75


def test_a_file_with_many_changed_functions_gets_more_than_one_with_a_single_such_function():
    many = target("b.py", EASY * 4, *[("easy", 1 + 2 * n, 2 + 2 * n) for n in range(4)])
    shares = share_iterations([easy("a.py"), many], 10)
    assert shares["b.py"] > shares["a.py"]


def test_a_single_target_keeps_what_it_had():
    assert share_iterations([hard("a.py")], 25) == {"a.py": 25}
    assert share_iterations([hard("a.py"), easy("b.py")], 0) == {"a.py": 0, "b.py": 0}
    assert share_iterations([], 25) == {}


KINDS = st.sampled_from(
    [
        easy,
        hard,
        lambda path: target(path, "A = 1\n"),
        lambda path: target(path, METHOD, ("A.easy", 2, 3)),
        lambda path: target(path, "def broken(:\n", ("broken", 1, 1)),
    ]
)


@given(st.lists(KINDS, min_size=1, max_size=12), st.integers(1, 60))
def test_nobody_starves_nobody_takes_all_and_the_total_is_kept(kinds, each):
    targets = [kind(f"{number}.py") for number, kind in enumerate(kinds)]
    shares = share_iterations(targets, each)
    assert sum(shares.values()) == each * len(targets)
    assert min(shares.values()) >= max(1, each // 2)
    assert max(shares.values()) <= MOST * each
    assert share_iterations(targets, each) == shares
