"""neighbours="add-remove": the exponent, the noise, REM's one-sided test, and n told nowhere."""

from __future__ import annotations

from mutants.mutant import Mutant

AUDIT = "tests/audit/test_add_remove.py::"
SECRET = "tests/mechanisms/test_secret_size.py::"
DRAWN = "tests/data/test_drawn_blocks.py::"
DEFINITION = f"{AUDIT}test_its_chances_are_those_of_the_definition"
TOLD = f"{SECRET}test_nothing_but_the_release_differs_between_tables_of_different_sizes"
BLOCKS = f"{SECRET}test_blocks_without_bounds_are_for_the_declared_rows_and_their_table_is_tested_for_swaps"

MUTANTS = (
    Mutant(
        "weights of swap under add/remove, or the other way round",
        "trusted/prices.py",
        "if relation == ADD_REMOVE:",
        "if relation != ADD_REMOVE:",
        (f"{AUDIT}test_boxem_draws_from_that_law",),
        "Under swap all of epsilon in the exponent costs twice epsilon.",
    ),
    Mutant(
        "all of epsilon in the exponent for drawn blocks",
        "trusted/block_steps.py",
        'return DEPTH if self.dealing == "rows" else depth_of_blocks(self.partitions)',
        'return depth_of_blocks(self.partitions) if self.dealing == "order" else DEPTH',
        (f"{SECRET}test_blocks_have_half_of_epsilon_in_the_exponent_and_rows_all_of_it",),
        "A row more is a swap in the block table: up to twice epsilon.",
    ),
    Mutant(
        "noise of a quarter of the steps",
        "trusted/clipped_sums.py",
        "paid.scale(sums_from_the_middle(_HALF))",
        "paid.scale(sums_from_the_middle(_HALF)) / 2",
        (f"{AUDIT}test_the_noise_is_that_of_half_the_steps",),
        "A row moves sums and counts by half the steps: twice epsilon.",
    ),
    Mutant(
        "values that leave the range",
        "trusted/clipped_sums.py",
        "values = np.clip(np.rint(filled * _HALF).astype(np.int64), -_HALF, _HALF)",
        "values = np.rint(filled * _HALF).astype(np.int64)",
        (f"{AUDIT}test_one_row_moves_every_noised_number_by_at_most_half_the_steps",),
        "A value beyond its bounds, however it came there, moves a sum by more than the noise is for.",
    ),
    Mutant(
        "what a row less can do left out",
        "trusted/rem/evidence.py",
        "for j in range(t, t + k + 2):",
        "for j in range(t, t + k + 1):",
        (DEFINITION,),
        "Points at the threshold are lost when a row leaves: e^epsilon_test times delta.",
    ),
    Mutant(
        "the outer level taken one too deep under add/remove",
        "trusted/rem/evidence.py",
        "low, high = self._upper.bracket(j - 1 - k)",
        "low, high = self._upper.bracket(j - k)",
        (DEFINITION,),
        "Points are left out that k rows can bring to the edge.",
    ),
    Mutant(
        "n told",
        "data/relation.py",
        'return {**table.public, "n": None} if self.secret else table.public',
        "return table.public",
        (TOLD,),
        "The number of rows is as secret as the cells.",
    ),
    Mutant(
        "plans for the true number of rows",
        "data/relation.py",
        "return self.rows if self.secret else table.n",
        "return table.n",
        (TOLD,),
        "Settings, forecasts and default directions tell n.",
    ),
    Mutant(
        "block numbers by place",
        "trusted/blocks.py",
        "numbers[fair] = (words[fair] % np.uint64(blocks)).astype(np.int64)",
        "numbers[fair] = np.arange(n)[fair] % blocks",
        (f"{DRAWN}test_words_that_would_favour_a_block_are_drawn_again",),
        "When one row leaves, all later ones change their block.",
    ),
    Mutant(
        "noised sums over exact numbers of values",
        "mechanisms/clipped_sum.py",
        "weights = noised[d:] if self.fill is None else noised[d:] * d",
        "weights = exact[d:] if self.fill is None else exact[d:] * d",
        (f"{AUDIT}test_the_quotient_is_of_noised_numbers_alone",),
        "The number of rows, and of values, is released without noise beside what was paid for.",
    ),
    Mutant(
        "blocks for REM by the true number of rows",
        "mechanisms/mean_of_secret_size.py",
        "count = rem_blocks(rows, table.d, guarantee) if",
        "count = rem_blocks(table.n, table.d, guarantee) if",
        (BLOCKS,),
        "Whether there are blocks is told, and hangs on one row where the rows just suffice.",
    ),
    Mutant(
        "the one-sided test for the table of drawn blocks",
        "mechanisms/mean_of_secret_size.py",
        "outcome = rem(replace(table, cells=means), check=False, accountant=inner, **budget)",
        'outcome = rem(replace(table, cells=means), check=False, **budget, neighbours="add-remove", rows=count)',
        (BLOCKS,),
        "A row more or less swaps one block for another: for swaps that test is not enough, nor eta for the draw.",
    ),
)
