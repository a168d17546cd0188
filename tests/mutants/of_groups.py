"""Means and centres by group, persons, quantiles."""

from __future__ import annotations

from mutants.mutant import Mutant

AUDIT = "tests/audit/test_grouped_means.py::"
MOVES = f"{AUDIT}test_a_row_that_moves_changes_one_block_of_two_groups_to_the_last_digit"
BLOCKS = f"{AUDIT}test_the_package_ranks_blocks_as_the_account_does"
OWN_BITS = "tests/mechanisms/test_grouped_means.py::test_every_group_and_step_reads_bits_of_its_own"
QUANTILES = "tests/audit/test_quantiles.py::"
PERSONS = "tests/data/test_persons.py::"
SECRET_SIZES = "tests/mechanisms/test_grouped_means.py::test_nothing_but_the_points_depends_on_who_is_in_which_group"
CLIPPED = "tests/mechanisms/test_grouped_clipping.py::"

MUTANTS = (
    Mutant(
        "all of epsilon for the blocks of each group",
        "mechanisms/grouped_ways.py",
        "keys=max(2, count))",
        "keys=None)",
        (BLOCKS,),
        "A row that moves changes a block in each of two groups.",
    ),
    Mutant(
        "block numbers by group",
        "mechanisms/grouped_ways.py",
        "places = (groups[order] * blocks + numbers)[members]",
        "places = (groups[order] * blocks + (numbers + members.sum()) % blocks)[members]",
        (MOVES,),
        "When a row leaves all groups, the blocks of all others are numbered anew, with their coins and ties.",
    ),
    Mutant(
        "twice the exponent for rows of groups",
        "mechanisms/grouped_ways.py",
        "2 * paid.weight(DEPTH, count), public_key, paid)",
        "4 * paid.weight(DEPTH, count), public_key, paid)",
        (f"{AUDIT}test_the_package_ranks_rows_as_the_account_does",),
        "A move then costs epsilon in each of two groups.",
    ),
    Mutant(
        "counts at all of their epsilon",
        "mechanisms/grouped_sums.py",
        "scale = paid.scale(COUNT, keys=max(2, count))",
        "scale = paid.scale(COUNT)",
        (f"{AUDIT}test_counts_have_noise_of_half_their_epsilon_in_each_group",),
        "A row that moves changes two counts.",
    ),
    Mutant(
        "one draw's bits for all groups",
        "mechanisms/grouped_ways.py",
        '.draw(paid.key("draw", g))',
        ".draw(paid._key)",
        (OWN_BITS,),
        "Groups whose noise is the same are not independent.",
    ),
    Mutant(
        "one key for the centres of all groups",
        "mechanisms/grouped_centre.py",
        'paid.key("group", g)',
        "paid._key",
        (OWN_BITS,),
        "Groups whose noise is the same are not independent.",
    ),
    Mutant(
        "the notion of depth from the rows that have a group",
        "mechanisms/grouped_centre.py",
        "rehearsal = centre_rehearsal(notion, grid, assumed_rows(table.n, len(names)), for_points)",
        "rehearsal = centre_rehearsal(notion, grid, max(1, int((grouped.groups >= 0).sum())), for_points)",
        (SECRET_SIZES,),
        "What accuracy to expect would tell how many rows have a listed key.",
    ),
    Mutant(
        "uneven parts of quantiles at half of epsilon for a rank",
        "mechanisms/quantile_levels.py",
        "return kappa_of_parts(epsilon, [rank(p) for p in parts])",
        "return epsilon / 2",
        (f"{QUANTILES}test_the_weights_are_those_of_the_account",),
        "A value that goes from one part to another moves both by more than half a rank.",
    ),
    Mutant(
        "all of epsilon for each level of quantiles",
        "mechanisms/quantiles.py",
        "each = budget / (table.d * levels)",
        "each = budget / table.d",
        (f"{QUANTILES}test_each_level_and_column_has_its_part_of_epsilon",),
        "A row is in a part of every level.",
    ),
    Mutant(
        "the accuracy of quantiles from the values that are there",
        "mechanisms/quantiles.py",
        "rehearsal = quantile_rehearsal(table.n, grid,",
        "rehearsal = quantile_rehearsal(max(1, int((~np.isnan(table.cells)).sum())), grid,",
        ("tests/mechanisms/test_quantile_rehearsal.py::test_a_forecast_depends_on_public_numbers_alone",),
        "What accuracy to expect would tell how many values are missing.",
    ),
    Mutant(
        "ranks accepted without a look",
        "mechanisms/quantiles.py",
        "if bernoulli_exp(more.numerator, more.denominator, bits):",
        "if more >= 0:",
        (f"{QUANTILES}test_draws_of_one_quantile_have_the_law_also_where_levels_share_an_interval",),
        "Points of a shell have scores of their own: farther ones are too likely.",
    ),
    Mutant(
        "shells of ranks too narrow",
        "mechanisms/quantiles.py",
        "outer = self.interval(edges[i + 1] - 1 if i + 1 < len(edges) else least)",
        "outer = self.interval(least)",
        (f"{QUANTILES}test_draws_of_one_quantile_have_the_law_also_where_levels_share_an_interval",),
        "Points of a shell are counted to the next one, and proposed too rarely.",
    ),
    Mutant(
        "persons averaged in the order of the file",
        "data/persons.py",
        "if rule in IN_ORDER else np.lexsort((values, owners))",
        'if rule in IN_ORDER else np.argsort(owners, kind="stable")',
        (f"{PERSONS}test_a_person_that_is_swapped_changes_one_row_to_the_last_digit",),
        "A file that is sorted otherwise changes the last digits of many persons.",
    ),
    Mutant(
        "a guarantee about rows for persons",
        "mechanisms/per_person.py",
        "seal: Any = None if outcome.seal is None else outcome.seal.about_persons()",
        "seal: Any = outcome.seal",
        (f"{PERSONS}test_the_release_is_that_of_the_table_of_persons",),
        "What is proven is about persons: as a guarantee about rows it would add up with others.",
    ),
    Mutant(
        "sums of groups with all of epsilon after centre and radii",
        "mechanisms/grouped_ways.py",
        '"sums": PureDP(self.for_sums)}',
        '"sums": PureDP(self.epsilon)}',
        (f"{CLIPPED}test_the_steps_spend_epsilon_together",),
        "Steps add up to more than the guarantee.",
    ),
    Mutant(
        "means of groups with all of epsilon after the scale",
        "mechanisms/grouped_ways.py",
        "clipped = clipped_sums(self.n, self.rest, widths,",
        "clipped = clipped_sums(self.n, self.epsilon, widths,",
        (f"{CLIPPED}test_the_steps_spend_epsilon_together",),
        "Scale and means add up to more than the guarantee.",
    ),
    Mutant(
        "one key for centre, radii and sums of groups",
        "mechanisms/grouped_ways.py",
        'run.charge("radii", "step", 1)',
        'run.charge("radii", "step", 0)',
        (f"{CLIPPED}test_every_step_has_its_own_key",),
        "The noise of a group's sums repeats the bits that drew the radii.",
    ),
    Mutant(
        "the range of groups from the rows that are in some group",
        "mechanisms/grouped_ways.py",
        "y = subset_point(relative, run.charge",
        "y = subset_point(relative[groups >= 0] if (groups >= 0).any() else relative, run.charge",
        (f"{CLIPPED}test_the_range_does_not_depend_on_groups",),
        "Whether a row has a listed key changes how many rows are dealt: all blocks change.",
    ),
    Mutant(
        "no noise on the counts of empty groups",
        "mechanisms/grouped_sums.py",
        "int(np.count_nonzero(groups == g)) + noise)))",
        "int(np.count_nonzero(groups == g)) + (noise if (groups == g).any() else 0))))",
        (f"{AUDIT}test_groups_without_rows_have_noise_as_others_have",),
        "The one row of a group is seen: without it the count is 0 for certain.",
    ),
    Mutant(
        "other means of groups with all of epsilon after the scale",
        "mechanisms/grouped_ways.py",
        "found = group_ways(self.rows, self.rest, widths, DOUBT)",
        "found = group_ways(self.rows, self.epsilon, widths, DOUBT)",
        (f"{CLIPPED}test_whichever_way_is_taken_has_what_the_scale_leaves",),
        "The scale is not paid for where blocks, or noise between the bounds, follow it.",
    ),
    Mutant(
        "half of the zCDP of blocks of groups",
        "mechanisms/grouped_ways.py",
        "zcdp=Concentrated(self.epsilon**2 / 16)",
        "zcdp=Concentrated(self.epsilon**2 / 32)",
        (f"{AUDIT}test_blocks_of_groups_cost_as_two_draws_of_half_of_epsilon",),
        "A row that moves is in two draws; accounts would add up one.",
    ),
    Mutant(
        "the notion of depth by the largest group",
        "mechanisms/grouped_ways.py",
        "notion = chosen_notion(None, rows, d)",
        "notion = chosen_notion(None, max(1, *map(len, tables)), d)",
        (f"{AUDIT}test_which_directions_there_are_does_not_hang_on_the_sizes_of_groups",),
        "Which directions depth is taken along tells how large a group is.",
    ),
)
