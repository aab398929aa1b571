"""What it costs to send a parcel."""

from dataclasses import dataclass

ZONES = {"domestic": 100, "europe": 140, "world": 220}


@dataclass(frozen=True)
class Parcel:
    """A parcel: weight in grams, sides in centimetres."""

    weight: int
    length: int
    width: int
    height: int

    def __post_init__(self):
        if min(self.weight, self.length, self.width, self.height) <= 0:
            raise ValueError("weight and sides must be positive")

    @property
    def girth(self):
        """Longest side plus the circumference around it, in centimetres."""
        longest, *others = sorted((self.length, self.width, self.height), reverse=True)
        return longest + 2 * sum(others)


def price(parcel, zone="domestic"):
    """Return the price in cents.

    >>> price(Parcel(400, 20, 15, 5))
    390
    """
    if zone not in ZONES:
        raise ValueError(f"unknown zone: {zone}")
    if parcel.weight <= 500:
        base = 390
    elif parcel.weight <= 2000:
        base = 550
    else:
        base = 950
    return base * ZONES[zone] // 100
