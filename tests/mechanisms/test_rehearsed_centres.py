"""Deep points of block means, for forecasts: a walk tells about what the mechanism's own draws tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tukeydp.forecast import tables as rehearsed_centres
from tukeydp.forecast.mean import own_means
from tukeydp.forecast.shapes import SHAPES, made_up
from tukeydp.forecast.tables import drawn_centres, walked_centres
from tukeydp.mechanisms.subset_means import subset_plan
from tukeydp.trusted.bits import derived_key

WIDTH, TABLES, DRAWS = 60.0, 12, 40


def sizes_of_errors(centres, shape, n, d, epsilon=Fraction(1), smooth=False):
    """Median and 95 percent quantile of the errors on made-up tables, in standard deviations."""
    widths = np.full(d, WIDTH)
    plan = subset_plan(n, d, Fraction(1), widths, smooth=smooth)
    found = []
    for i in range(TABLES):
        relative = np.clip(made_up(shape, n, d, i) * 2.0 / WIDTH, -1.0, 1.0)
        keys = [derived_key(part, i) for part in ("public", "secret")]
        found.append((centres(relative, epsilon, plan, *keys, DRAWS) - own_means(relative)) * WIDTH / 2.0)
    return np.quantile(np.abs(np.concatenate(found)), [0.5, 0.95])


@pytest.mark.parametrize("shape", [SHAPES[i] for i in (0, 2, 5, 6)], ids=lambda shape: shape.name)
@pytest.mark.parametrize(("n", "d", "smooth"), [(400, 2, False), (900, 4, True)])
def test_a_walk_forecasts_what_draws_do(shape, n, d, smooth):
    """Quantiles of twelve tables, the same ones, are good to a tenth; a quarter is allowed."""
    drawn = sizes_of_errors(drawn_centres, shape, n, d, smooth=smooth)
    assert sizes_of_errors(walked_centres, shape, n, d, smooth=smooth) == pytest.approx(drawn, rel=0.25)


def test_an_epsilon_of_twice_the_size_would_be_noticed():
    drawn = sizes_of_errors(drawn_centres, SHAPES[0], 400, 2)
    other = sizes_of_errors(walked_centres, SHAPES[0], 400, 2, epsilon=Fraction(2))
    assert other != pytest.approx(drawn, rel=0.25)


def test_where_a_walk_cannot_tell_the_mechanism_does(monkeypatch):
    monkeypatch.setattr(rehearsed_centres, "walked_in_parts", lambda *_: None)
    relative = np.clip(made_up(SHAPES[0], 300, 2, 0) / 30.0, -1.0, 1.0)
    plan = subset_plan(300, 2, Fraction(1), np.full(2, 60.0))
    given = relative, Fraction(1), plan, bytes(32), bytes(31) + b"1", 5
    assert (walked_centres(*given) == drawn_centres(*given)).all()
