"""Of many mutants a few are shown: none of their functions and lines takes all the places."""

from hypothesis import given
from hypothesis import strategies as st

from bot.domain import Mutant, spread


def mutant(number, function="f", line=1):
    return Mutant(f"op:{number}", "a.py", "op", function, line, line, 0, 1, "x", "")


def test_every_function_has_its_turn_before_one_has_a_second():
    many = [mutant(number, line=number) for number in range(5)]
    lone = mutant(5, "g", 9)
    assert spread([*many, lone], 2) == (many[0], lone)


def test_every_line_of_a_function_has_its_turn_before_one_has_a_second():
    crowded = [mutant(number) for number in range(5)]
    other = mutant(5, line=2)
    assert spread([*crowded, other], 3) == (crowded[0], crowded[1], other)


@given(
    st.lists(st.tuples(st.sampled_from("fgh"), st.integers(1, 4)), max_size=20),
    st.integers(0, 25),
)
def test_so_many_as_asked_for_are_kept_in_their_order(places, most):
    given_ = [mutant(number, function, line) for number, (function, line) in enumerate(places)]
    kept = spread(given_, most)
    assert len(kept) == min(most, len(given_))
    assert list(kept) == [each for each in given_ if each in kept]
