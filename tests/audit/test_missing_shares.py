"""The shares of missing cells that two steps release: what a swap moves, the noise, and what is given back."""

from __future__ import annotations

from fractions import Fraction
from unittest.mock import patch

import numpy as np

from support.charges import charge
from tukeydp.mechanisms import clipped_sum
from tukeydp.mechanisms.clipped_sum import missing_shares, without_missing
from tukeydp.trusted import clipped_sums
from tukeydp.trusted.clipped_sums import STEPS


def noised(relative: np.ndarray, noise: list[int]) -> list[Fraction]:
    """What is released with this noise, before anything is subtracted."""
    with (
        patch.object(clipped_sums, "cube_noise", lambda d, scale, bits: noise),
        patch.object(clipped_sum, "NOTICED", 0.0),
    ):
        return missing_shares(relative, charge(1))


def test_a_swap_moves_every_count_by_at_most_one():
    table = np.zeros((10, 2))
    table[:4] = np.nan
    other = table.copy()
    other[0] = [0.5, np.nan]
    moved = [abs(a - b) * 10 for a, b in zip(noised(table, [0, 0]), noised(other, [0, 0]), strict=True)]
    assert moved == [1, 0]
    # One count is STEPS of the noise, whose scale is STEPS / epsilon: so a swap costs epsilon, exactly.
    assert noised(table, [STEPS, 0])[0] - noised(table, [0, 0])[0] == Fraction(1, 10)


def test_the_noise_has_the_scale_that_the_epsilon_asks_for():
    scales = []
    with patch.object(clipped_sums, "cube_noise", lambda d, scale, bits: scales.append((d, scale)) or [0] * d):
        missing_shares(np.zeros((10, 3)), charge(Fraction(1, 50)))
    assert scales == [(3, STEPS / Fraction(1, 50))]


def test_what_missing_cells_took_is_given_back():
    """A fifth missing, counted as the centre 0: the mean 0.4 of the others was seen as 0.32."""
    assert without_missing([Fraction(32, 100)], np.zeros(1), [Fraction(1, 5)]) == [Fraction(2, 5)]
    assert without_missing([Fraction(32, 100)], np.zeros(1), [Fraction(0)]) == [Fraction(32, 100)]
