"""Bugs in the steps of clipped means, in their plan, and in who is a record."""

from __future__ import annotations

from mutants.mutant import Mutant

STEPS = "tests/mechanisms/test_clipped_mean.py::"
REPLAY = "tests/audit/test_replay.py::test_a_neighbour_is_told_apart_by_no_more_than_is_stated"
SUMS = f"{STEPS}test_a_record_moves_sums_by_a_half_and_another_in_its_place_by_two"
FOUND = "tests/mechanisms/test_found_bounds.py::"
NOISE = f"{STEPS}test_noise_has_the_stated_scale_and_every_group_its_own"

MUTANTS = (
    Mutant(
        "half the noise of sums",
        "trusted/steps.py",
        "    scale = paid.scale(sums_from_the_middle(HALF), sums.groups)",
        "    scale = paid.scale(sums_from_the_middle(HALF), sums.groups) / 2",
        (NOISE,),
        "All sums at twice epsilon.",
    ),
    Mutant(
        "no clip of sums after rounding",
        "trusted/steps.py",
        "steps = [clipped(np.rint(filled * HALF).astype(np.int64))]",
        "steps = [np.rint(filled * HALF * (1 + 1e-8)).astype(np.int64)]",
        (SUMS,),
        "What floats did before moves sums by more than their noise is for.",
    ),
    Mutant(
        "the rate of one column for all of them together",
        "trusted/steps.py",
        "return drawn_places(beyond, [weights] * len(beyond), paid.weight(MOST_BEYOND), paid.bits())",
        "return drawn_places(beyond, [weights] * len(beyond), paid.weight(COUNT), paid.bits())",
        (f"{STEPS}test_joint_draws_have_the_law_of_the_most_beyond",),
        "The most over columns may fall here and rise there: twice epsilon where a record is replaced.",
    ),
    Mutant(
        "one noise for all groups' sums",
        "trusted/steps.py",
        'paid.bits("group", g)), strict=True)]',
        'paid.bits("group", 0)), strict=True)]',
        (NOISE,),
        "The difference of two groups' sums is exact.",
    ),
    Mutant(
        "records of unlisted groups counted in the first",
        "trusted/steps.py",
        "there = groups >= 0",
        "groups = np.nan_to_num(groups); there = groups >= 0",
        (f"{STEPS}test_records_in_no_listed_group_add_nothing",),
        "Somebody who is in no listed group is in the release.",
    ),
    Mutant(
        "missing cells counted without their scale",
        "trusted/steps.py",
        "paid.scale(sums_from_an_end(HALF), keys)",
        "paid.scale(sums_from_an_end(1), keys)",
        (NOISE,),
        "Numbers of missing cells with next to no noise.",
    ),
    Mutant(
        "values outside a window counted twice",
        "trusted/steps.py",
        "return [n[-1] - (n[end] - n[first])",
        "return [2 * n[-1] - 2 * (n[end] - n[first])",
        (f"{STEPS}test_values_outside_windows_are_counted_and_a_record_moves_each_count_by_nothing_or_one",),
        "A window at twice epsilon.",
    ),
    Mutant(
        "a share of windows that the sums have too",
        "mechanisms/clipped_mean.py",
        'return {"windows": bounded_range(self.shares.centre * self.epsilon, self.neighbours)}',
        'return {"windows": bounded_range(self.shares.centre * self.epsilon * 2, self.neighbours)}',
        (f"{STEPS}test_windows_are_a_mean_with_public_deviations",),
        "A run that costs more than epsilon.",
    ),
    Mutant(
        "bounds found by a share that is spent again",
        "mechanisms/found_bounds.py",
        '"rest": PureDP(epsilon - share * epsilon, neighbours=relation.neighbours),',
        '"rest": PureDP(epsilon, neighbours=relation.neighbours),',
        (f"{FOUND}test_means_are_found_without_bounds_and_cost_epsilon",),
        "The mean has all of epsilon, and the bounds a share of it besides.",
    ),
    Mutant(
        "deviations that are too large for what was found",
        "mechanisms/found_bounds.py",
        "known[j] = _wide_enough(ends, least[j])",
        "known[j] = ends",
        (f"{FOUND}test_a_public_deviation_never_fails_by_what_was_found",),
        "An error, after all is spent, that hangs on the data.",
    ),
    Mutant(
        "squares without noise",
        "mechanisms/clipped_mean.py",
        'squares = tuple(noised_sums(kernels[1], found[1], run.charge("squares", "step", "squares"))[0])',
        "squares = tuple(Fraction(s, 2**29) for s in found[1])",
        (f"{REPLAY}[mean with interval]",),
        "Standard deviations tell two tables apart.",
    ),
    Mutant(
        "sums that leave nothing for the radii",
        "mechanisms/clipped_mean.py",
        "return self.epsilon * (1 - sum(self.shares))",
        "return self.epsilon * (1 - sum(self.shares) + self.shares.radii)",
        (f"{STEPS}test_the_steps_spend_epsilon_together",),
        "A share that is spent twice.",
    ),
    Mutant(
        "columns of missing cells by their exact numbers",
        "mechanisms/clipped_mean.py",
        "return tuple(j for j, count in enumerate(noised) if count > usual)",
        "return tuple(j for j, count in enumerate(missing) if count > usual)",
        ("tests/mechanisms/test_interval.py::test_an_interval_is_made_of_what_was_released_and_nothing_else",),
        "Which columns are counted tells how many cells are missing.",
    ),
    Mutant(
        "a clipped mean that is not paid for",
        "mechanisms/planned.py",
        'paying: dict[str, Any] = {"accountant": accountant, "parameters": public}',
        'paying: dict[str, Any] = {"accountant": None, "parameters": public}',
        ("tests/planning/test_accountant.py::test_every_mechanism_spends_what_its_release_says[mean, interval by sd]",),
        "Releases without end.",
    ),
    Mutant(
        "a person's group from the rows that come first in the order of keys",
        "data/persons.py",
        "return np.where(first == last, last, NO_GROUP)",
        "return last",
        (f"{STEPS}test_a_person_whose_rows_disagree_is_in_no_group",),
        "Not what the proof and the note say; with sums of all groups that a person is in it would be twice epsilon.",
    ),
)
