"""Summaries by groups, intervals, and what the check of readable rows says."""

from __future__ import annotations

from mutants.mutant import Mutant

GROUPS = "tests/audit/test_groups_enumeration.py::"
LOST = f"{GROUPS}test_all_groups_together_lose_epsilon_and_no_more"
NOISE = f"{GROUPS}test_noise_has_the_stated_scale_and_is_drawn_for_each_group_by_itself"
INTERVAL = "tests/mechanisms/test_interval.py::"
MADE_OF = f"{INTERVAL}test_an_interval_is_made_of_what_was_released_and_nothing_else"
PARTS = f"{INTERVAL}test_what_is_spent_is_epsilon_exactly"
CHECK = "tests/audit/test_readable_check.py::"
WHOLE = f"{CHECK}test_the_run_as_a_whole_is_private_and_a_stop_costs_its_own_part"
OWN_BITS = "tests/mechanisms/test_keys.py::test_steps_of_one_release_share_no_bits_and_no_key_is_known_beforehand"

MUTANTS = (
    Mutant(
        "values of groups counted from the lower bound",
        "mechanisms/grouped_sums.py",
        "values = np.clip(np.rint(filled * HALF).astype(np.int64), -HALF, HALF)",
        "values = np.clip(np.rint((filled + 1.0) * HALF).astype(np.int64), 0, 2 * HALF)",
        (LOST,),
        "A row that goes to another group moves both sums by all the steps: twice epsilon.",
    ),
    Mutant(
        "a value that is there counted with all the steps",
        "mechanisms/grouped_sums.py",
        "return values, there * np.int64(HALF), np.where(there, squares, 0)",
        "return values, there * np.int64(2 * HALF), np.where(there, squares, 0)",
        (LOST,),
        "A row that goes to another group moves both counts by all the steps: twice epsilon.",
    ),
    Mutant(
        "less noise in larger groups",
        "mechanisms/grouped_sums.py",
        'cube_noise(plan.coordinates, scale, paid.bits("group", g))',
        'cube_noise(plan.coordinates, scale / max(1, int((groups == g).sum())), paid.bits("group", g))',
        (NOISE,),
        "The size of a group is secret, and noise of a mean is not noise of a sum.",
    ),
    Mutant(
        "one noise for all groups",
        "mechanisms/grouped_sums.py",
        'paid.bits("group", g)',
        'paid.bits("group")',
        (NOISE,),
        "Differences of groups are released without noise.",
    ),
    Mutant(
        "noise for one coordinate",
        "mechanisms/grouped_sums.py",
        "return 2 * self.d + len(self.squared)",
        "return 2 * self.d",
        (NOISE,),
        "Squares without noise of their own.",
    ),
    Mutant(
        "small groups left out",
        "data/keys.py",
        "return GroupedTable(table, known.places(cells), known, name)",
        "places = known.places(cells)\n    places = places * 1 if not len(places) else places - (places + 1) * "
        "((places[:, None] == places).sum(axis=1) <= 4)\n    return GroupedTable(table, places, known, name)",
        ("tests/data/test_key_columns.py::test_a_row_belongs_to_its_group_whatever_the_others_do",),
        "One row decides about four others: a whole group appears or not.",
    ),
    Mutant(
        "keys read off the data",
        "data/keys.py",
        "known = checked_keys(keys)",
        "known = checked_keys(sorted({str(k) for k in (x[by] if by in x else by)}) if keys is None else keys)",
        ("tests/planning/test_summary.py::test_keys_are_public_and_checked",),
        "The lines of the table tell who is there.",
    ),
    Mutant(
        "numbers of values without their scale",
        "mechanisms/grouped_sums.py",
        "paid.scale(sums_from_an_end(STEPS)), paid.bits())",
        "paid.scale(sums_from_an_end(STEPS)) / 2, paid.bits())",
        (f"{GROUPS}test_numbers_of_values_have_noise_of_their_scale",),
        "The counts spend twice what they say.",
    ),
    Mutant(
        "an interval around the table's own spread",
        "mechanisms/planned.py",
        "found = Found(_shares_of_width(drawn), spread, (noise,) * table.d, (0.0,) * table.d)",
        "found = Found(_shares_of_width(drawn), tuple((np.nan_to_num(relative).std(axis=0) / 2).tolist()), "
        "(noise,) * table.d, (0.0,) * table.d)",
        (f"{MADE_OF}[subset]", f"{MADE_OF}[cube]"),
        "Standard deviations are released without noise, as the interval's width.",
    ),
    Mutant(
        "an interval around the table's own mean",
        "mechanisms/planned.py",
        "return result.mean, Found(_shares_of_width(result.mean), spread,",
        "return result.mean, Found(tuple(((1 + np.nan_to_num(relative).mean(axis=0)) / 2).tolist()), spread,",
        (f"{MADE_OF}[two-step]",),
        "The mean is released without noise, as the interval's middle.",
    ),
    Mutant(
        "the true share of missing cells in an interval",
        "mechanisms/planned.py",
        "missing = [float(share) for share in result.missing]",
        "missing = np.minimum(0.9, np.isnan(relative).mean(axis=0)).tolist()",
        (f"{MADE_OF}[two-step]",),
        "How many cells are missing can be read off the interval.",
    ),
    Mutant(
        "a cube interval by the number of complete rows",
        "mechanisms/planned.py",
        'noise = 1.0 / (float(mean.settings["epsilon_mean"]) * table.n) if isinstance(mean, CubeMean) else 0.0',
        'noise = 1.0 / (float(mean.settings["epsilon_mean"]) * (1 + int((~np.isnan(relative)).all(axis=1).sum()))) '
        "if isinstance(mean, CubeMean) else 0.0",
        (f"{MADE_OF}[cube]",),
        "How many rows are complete can be read off the interval.",
    ),
    Mutant(
        "an interval's plan by the number of complete rows",
        "mechanisms/mean.py",
        "with_interval = interval_plan(table.n, columns, budget,",
        "with_interval = interval_plan(1 + int((table.cells == table.cells).all(axis=1).sum()), columns, budget,",
        (f"{INTERVAL}test_all_that_is_said_but_what_is_released_follows_from_public_numbers",),
        "Whether a run is refused, and how epsilon is split, tells how many cells are missing.",
    ),
    Mutant(
        "all of epsilon for the mean beside its spread",
        "mechanisms/interval_plan.py",
        "apart = mean_plan(n, columns, epsilon - share * epsilon, mechanism",
        "apart = mean_plan(n, columns, epsilon, mechanism",
        (f"{PARTS}[None-subset-1]",),
        "Steps add up to more than the guarantee.",
    ),
    Mutant(
        "missing cells of two steps counted for nothing",
        "mechanisms/interval_plan.py",
        "rest = 1 - for_centre - share - _RADIUS - MISSING",
        "rest = 1 - for_centre - share - _RADIUS",
        (f"{PARTS}[None-two-step-1]",),
        "Steps add up to more than the guarantee.",
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
        "a key for the numbers of values that everybody knows",
        "mechanisms/summary.py",
        'steps.charge("counts", "counts", secret="counts"))',
        '__import__("tukeydp.trusted.release", fromlist=["*"]).rehearsed_charge(PureDP(for_counts), bytes(32)))',
        (f"{OWN_BITS}[the parts of a summary]",),
        "Noise that everybody can subtract.",
    ),
)
