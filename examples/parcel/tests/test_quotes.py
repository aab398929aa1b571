import pytest

from parcel.quotes import Parcel, price


@pytest.fixture
def letter_box():
    return Parcel(weight=400, length=20, width=15, height=5)


def test_girth_goes_around_the_longest_side(letter_box):
    assert letter_box.girth == 60


def test_light_parcel_costs_the_lowest_price(letter_box):
    assert price(letter_box) == 390


def test_unknown_zone_is_refused(letter_box):
    with pytest.raises(ValueError, match="unknown zone: moon"):
        price(letter_box, "moon")
