"""Summaries by groups, intervals, and what the check of readable rows says."""

from __future__ import annotations

from mutants.mutant import Mutant

GROUPS = "tests/audit/test_groups_enumeration.py::"
LOST = f"{GROUPS}test_all_groups_together_lose_epsilon_and_no_more"
NOISE = f"{GROUPS}test_noise_has_the_stated_scale_and_is_drawn_for_each_group_by_itself"
INTERVAL = "tests/mechanisms/test_interval.py::"
MADE_OF = f"{INTERVAL}test_an_interval_is_made_of_what_was_released_and_nothing_else"
PARTS = f"{INTERVAL}test_what_is_spent_is_epsilon_exactly"
TABLE = "tests/mechanisms/test_table.py::"
CHECK = "tests/audit/test_readable_check.py::"
WHOLE = f"{CHECK}test_the_run_as_a_whole_is_private_and_a_stop_costs_its_own_part"
OWN_BITS = "tests/mechanisms/test_keys.py::test_steps_of_one_release_share_no_bits_and_no_key_is_known_beforehand"

MUTANTS = (
    Mutant(
        "windows drawn by their counts twice",
        "mechanisms/summary.py",
        "drawn = joint_rungs(kernel.outside(counted, [np.array([first, end])] * len(places)), weights, charge)",
        "outside = kernel.outside(counted, [np.array([first, end])] * len(places))\n"
        "        drawn = joint_rungs([2 * one for one in outside], weights, charge)",
        (f"{TABLE}test_a_record_moves_the_counts_that_windows_are_drawn_by_by_one",),
        "A record moves the score by two: the draw costs twice what it is charged.",
    ),
    Mutant(
        "small groups left out",
        "data/keys.py",
        'return GroupedTable(table, known.places(cells["by"]), known, names["by"])',
        'places = known.places(cells["by"])\n    places = places * 1 if not len(places) else places - (places + 1) * '
        '((places[:, None] == places).sum(axis=1) <= 4)\n    return GroupedTable(table, places, known, names["by"])',
        ("tests/data/test_key_columns.py::test_a_row_belongs_to_its_group_whatever_the_others_do",),
        "One row decides about four others: a whole group appears or not.",
    ),
    Mutant(
        "keys read off the data",
        "data/records.py",
        "known = None if by is None else checked_keys(keys)",
        "known = checked_keys(sorted({str(k) for k in (x[by] if by in x else by)}) if keys is None else keys)",
        ("tests/planning/test_summary.py::test_keys_are_public_and_checked",),
        "The lines of the table tell who is there.",
    ),
    Mutant(
        "the true number of unreadable cells told",
        "mechanisms/readable_check.py",
        "**told_of(plan, found)}",
        "**told_of(plan, counts)}",
        (WHOLE,),
        "A count without noise.",
    ),
    Mutant(
        "a threshold by the true number of values",
        "mechanisms/readable_check.py",
        "reasons = list(reasons_to_stop(plan, found))",
        "reasons = list(reasons_to_stop(check_plan(counts.values, total, check), found))",
        (WHOLE,),
        "Whether a run stops depends on the count beside its noise.",
    ),
    Mutant(
        "one key for the check's noise",
        "mechanisms/readable_check.py",
        'noisy_counts(counts, checked_run.charge("check"))',
        'noisy_counts(counts, __import__("tukeydp.trusted.release", fromlist=["*"]).rehearsed_charge(own, bytes(32)))',
        (f"{CHECK}test_the_noise_of_two_checks_is_not_the_same",),
        "Noise that everybody can subtract.",
    ),
    Mutant(
        "half the noise of bounded records",
        "trusted/steps.py",
        "laplace = paid.scale(sums_from_the_middle(HALF), sums.groups)",
        "laplace = paid.scale(sums_from_the_middle(HALF), sums.groups) / 2",
        (f"{TABLE}test_the_noise_is_discrete_laplace_of_twice_the_radius",),
        "All means of a table at twice epsilon.",
    ),
    Mutant(
        "records bounded column by column",
        "trusted/steps.py",
        "shorter = shortened((share * HALF).astype(np.int64))  # towards 0",
        "shorter = clipped((self.away(inside, groups) / self.radius * HALF).astype(np.int64))",
        (f"{TABLE}test_sizes_that_a_record_adds_are_a_half_together_and_another_in_its_place_moves_two",),
        "A record moves the sums by as many radii as there are columns.",
    ),
    Mutant(
        "weights above the largest",
        "trusted/steps.py",
        "return np.nan_to_num(np.clip(inside[:, weight[0] : weight[0] + 1] / weight[1], 0.0, 1.0), nan=0.0)",
        "return np.nan_to_num(inside[:, weight[0] : weight[0] + 1] / weight[1], nan=0.0)",
        (f"{TABLE}test_weights_never_make_a_record_larger",),
        "One heavy record is worth several.",
    ),
    Mutant(
        "categories counted from nothing",
        "trusted/steps.py",
        "np.where(inside[:, j] == level, 1.0, -1.0) * self._there(inside, j)",
        "2.0 * (inside[:, j] == level) * self._there(inside, j) + (inside[:, j] == level)",
        (f"{TABLE}test_every_number_of_a_record_is_a_half_at_most_and_moves_by_two",),
        "A record adds more than it is priced for.",
    ),
    Mutant(
        "a record outside a window twice",
        "trusted/steps.py",
        "outside.append(len(some) - (up_to[signs, high]",
        "outside.append(len(some) + (len(some) - up_to[signs, high]",
        (f"{TABLE}test_a_record_is_beyond_each_radius_once_and_outside_a_window_once",),
        "Magnitudes at twice epsilon.",
    ),
)
