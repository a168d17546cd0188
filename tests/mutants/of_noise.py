"""Integer noise and what it is told about sensitivity."""

from __future__ import annotations

from mutants.mutant import Mutant

NOISE = "tests/exact/test_noise.py::"
CUBE = "tests/exact/test_cube_noise.py::"
COST = "tests/baselines/test_noise.py::"

MUTANTS = (
    Mutant(
        "the searches' sensitivity that of one column",
        "baselines/search.py",
        "squared_sensitivity=4 * counts.columns",
        "squared_sensitivity=4",
        (
            "tests/baselines/test_search_sensitivity.py::test_a_swap_moves_all_counts_together_by_at_most_what_the_noise_is_told",
        ),
        "A row moves the counts of all columns: too little noise by sqrt(d).",
    ),
    Mutant(
        "noise for the radius instead of the diameter",
        "baselines/clipping.py",
        "return (2 * STEPS) ** 2",
        "return STEPS**2",
        ("tests/baselines/test_statistics.py::test_a_swap_moves_a_clipped_sum_by_at_most_the_diameter",),
        "A swap moves a sum by a diameter: half the noise that is needed.",
    ),
    Mutant(
        "rows outside the ball by rounding",
        "baselines/clipping.py",
        "while outside.any():  # by rounding",
        "while False:  # by rounding",
        ("tests/baselines/test_statistics.py::test_rounding_alone_would_leave_the_ball",),
        "The sensitivity is a little more than the noise was told.",
    ),
    Mutant(
        "a deviation rounded down",
        "baselines/noise.py",
        "return shift, math.isqrt((squared * 4**shift).__floor__()) + 1",
        "return shift, math.isqrt((squared * 4**shift).__floor__())",
        (f"{COST}test_the_grid_is_fine_enough_for_the_part_of_delta_kept_for_it",),
        "Less noise than the share of the budget asks for.",
    ),
    Mutant(
        "twice the budget",
        "baselines/noise.py",
        "if self.spent > 1 or self._left < 0:",
        "if self.spent > 2 or self._left < 0:",
        (f"{COST}test_nobody_spends_more_than_everything",),
        "Steps of a baseline may add up to more than the guarantee.",
    ),
    Mutant(
        "a coordinate more than was paid for",
        "baselines/noise.py",
        "if self.spent > 1 or self._left < 0:",
        "if self.spent > 1:",
        (f"{COST}test_nobody_spends_more_than_everything",),
        "Discreteness costs more of delta than was set aside.",
    ),
    Mutant(
        "the multiplier for twice delta",
        "baselines/curve.py",
        "target = guarantee.delta * (1 - ROUNDING_SHARE)",
        "target = guarantee.delta * 2",
        ("tests/baselines/test_curve.py::test_the_multiplier_is_enough_and_hardly_more",),
        "Gaussian noise for another delta than the one stated.",
    ),
    Mutant(
        "zero with both signs",
        "trusted/laws.py",
        "return -size or None",
        "return -size",
        (f"{NOISE}test_the_discrete_laplace_has_its_law_by_enumeration",),
        "Zero is twice as likely as it should be: the ratio to its neighbours exceeds e^epsilon.",
    ),
    Mutant(
        "a Gaussian kept too often",
        "trusted/laws.py",
        "if bernoulli_exp(excess * excess, 2 * square * scale * scale, bits):",
        "if bernoulli_exp(excess * excess, 4 * square * scale * scale, bits):",
        (f"{NOISE}test_the_discrete_gaussian_has_its_law",),
        "Not the discrete Gaussian that the proof is about.",
    ),
    Mutant(
        "coins of a series from its second term on",
        "trusted/laws.py",
        "while bits.below(denominator * k) < numerator:",
        "while bits.below(denominator * (k + 1)) < numerator:",
        (f"{NOISE}test_the_coin_has_its_probability",),
        "A coin with (1 - e^-g) / g instead of e^-g: all noise has another law.",
    ),
    Mutant(
        "cube noise with one geometric variable too few",
        "trusted/laws.py",
        "s = sum(geometric(scale, bits) for _ in range(d + 1))",
        "s = sum(geometric(scale, bits) for _ in range(d))",
        (f"{CUBE}test_a_sum_and_a_point_come_with_probability_proportional_to_q_to_the_sum",),
        "Small noise is too likely: more than e^epsilon between neighbours.",
    ),
    Mutant(
        "cube noise accepted too often",
        "trusted/laws.py",
        "< (2 * s + 1) ** d:",
        "< (2 * s + 2) ** d:",
        (f"{CUBE}test_a_sum_and_a_point_come_with_probability_proportional_to_q_to_the_sum",),
        "The sizes of the noise have another law than the proven one.",
    ),
)
