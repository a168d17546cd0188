"""What the searches of the baselines tell their noise about sensitivity, against what a swap really does."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tukeydp.baselines.search import Budget, enclosing_radius, medians, spreads

D = 4
SEARCHES = {
    "medians": lambda w, budget: medians(w, 1.0, budget),
    "spreads": lambda w, budget: spreads(w, np.zeros(D), 1.0, budget),
    "radius": lambda w, budget: enclosing_radius(w, 1.0, budget, 2.0),
}


class Listening:
    """In the place of `Noise`: answers fixed beforehand, so that neighbours are asked the same; all is written down."""

    deviation = Fraction(4)

    def __init__(self, seed):
        self._answers = np.random.default_rng(seed)
        self.asked, self.sensitivities, self.shares = [], [], []

    def add(self, values, *, squared_sensitivity, share):
        self.asked.append(list(values))
        self.sensitivities.append(squared_sensitivity)
        self.shares.append(share)
        return [Fraction(int(v)) for v in self._answers.integers(0, 40, size=len(values))]

    def standard_deviation(self, squared_sensitivity, share):
        return 1.0


@pytest.mark.parametrize("name", SEARCHES)
def test_a_swap_moves_all_counts_together_by_at_most_what_the_noise_is_told(name):
    rng = np.random.default_rng(1)
    reached = 0
    for seed in range(60):
        w = rng.uniform(-1, 1, size=(20, D))
        swapped = w.copy()
        # From one end to the other in every column: as much as a row can do.
        ends = rng.choice([0.0, 1.0])
        w[0], swapped[0] = (
            (1 - 2 * ends) if name == "medians" else ends,
            (2 * ends - 1) if name == "medians" else 1 - ends,
        )
        runs = []
        for table in (w, swapped):
            noise = Listening(seed)
            SEARCHES[name](table, Budget(noise, Fraction(1, 3)))
            runs.append(noise)
        one, other = runs
        assert one.sensitivities == other.sensitivities
        assert sum(one.shares) == Fraction(1, 3)
        for before, after, squared in zip(one.asked, other.asked, one.sensitivities, strict=True):
            moved = sum((a - b) ** 2 for a, b in zip(before, after, strict=True))
            assert moved <= squared
            reached += moved == squared
    assert reached  # no smaller number would do
