"""Curves as PNG and SVG, drawn with matplotlib where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path


def draw(
    place: Path, curves: Sequence[tuple[str, Sequence[float]]], across: str, up: str, *, start: int = 0
) -> None:
    """Write `place`.png and `place`.svg.

    Args:
        place: Path without its ending.
        curves: Each with its name and its values.
        across: What the horizontal axis counts, from `start`.
        up: What the vertical axis shows.
        start: The first value's place on the horizontal axis.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        print("matplotlib is not installed, so no curves are drawn", file=sys.stderr)
        return
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "testforge"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    for name, values in curves:
        axes.plot(range(start, start + len(values)), values, marker="o", markersize=3, label=name)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(place.with_suffix(".png"), dpi=150)
    figure.savefig(place.with_suffix(".svg"), metadata={"Date": None})
    pyplot.close(figure)
