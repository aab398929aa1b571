"""What rows show is told in few characters and read back whole."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bot.models.offline.probe import legend

MARKS = st.frozensets(
    st.builds(lambda letter, number: f"{letter}{number}", st.sampled_from(["", "f", "M"]), st.integers(0, 60))
)


@given(st.lists(MARKS, max_size=8))
def test_what_rows_show_is_read_back(rows: list[frozenset[str]]) -> None:
    told, numbers = legend.encoded(rows)

    assert [frozenset(legend.decoded(told, each)) for each in numbers] == rows


def test_what_several_rows_show_is_told_once() -> None:
    told, numbers = legend.encoded([["3", "4", "5", "f1"], ["3", "4", "5", "f1", "f2"], ["9"]])

    assert (told, numbers) == (["3-5 f1", "f2", "9"], ["0", "0-1", "2"])
