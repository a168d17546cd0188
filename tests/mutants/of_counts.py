"""Counts of public categories."""

from __future__ import annotations

from mutants.mutant import Mutant

COUNTS = "tests/mechanisms/test_counts.py::"
LAW = f"{COUNTS}test_the_noise_is_discrete_laplace_of_the_stated_scale"
OWN_NOISE = f"{COUNTS}test_every_cell_has_noise_of_its_own"

MUTANTS = (
    Mutant(
        "counts of categories at all of epsilon for each cell",
        "trusted/steps.py",
        "scale = paid.scale(COUNT, counts.length)",
        "scale = paid.scale(COUNT)",
        (LAW,),
        "A record that is replaced leaves one cell and comes into another: two counts move.",
    ),
    Mutant(
        "one key for the noise of all cells",
        "trusted/steps.py",
        'discrete_laplace(scale, paid.bits("cell", i)) for i, count in cells]',
        "discrete_laplace(scale, paid._keys._left.clear() or paid.bits()) for i, count in cells]",
        (OWN_NOISE,),
        "Cells whose noise is the same are told exactly by their differences.",
    ),
    Mutant(
        "no noise on cells without a record",
        "trusted/steps.py",
        "return [count + discrete_laplace(",
        "return [count and count + discrete_laplace(",
        (OWN_NOISE,),
        "The one record of a cell is seen: without it the count is 0 for certain.",
    ),
    Mutant(
        "a record without a category in the last cell and in the first",
        "trusted/steps.py",
        "return np.bincount(cell[counted], minlength=self.length)",
        "return np.bincount(np.concatenate([cell[counted], 0 * cell[~known]]), minlength=self.length)",
        (f"{COUNTS}test_all_cells_together_lose_epsilon_and_no_more",),
        "It moves two counts when it comes or goes, and three when it is replaced.",
    ),
    Mutant(
        "half of the zCDP of counts also where the number of records is secret",
        "trusted/account.py",
        'return epsilon**2 / (4 if relation == "swap" and cells >= 2 else 2)',
        "return epsilon**2 / (4 if cells >= 2 else 2)",
        (f"{COUNTS}test_concentrated_privacy_is_that_of_the_cells_that_move",),
        "A record that comes or goes moves one count by all of epsilon; accounts would add up too little.",
    ),
    Mutant(
        "all of epsilon for the counts of each column",
        "mechanisms/counts.py",
        "_part(budget / len(tables), one, relation, apart)",
        "_part(budget, one, relation, apart)",
        (f"{COUNTS}test_several_columns_divide_epsilon_and_say_so",),
        "A record is in a cell of every table: their epsilons add up.",
    ),
    Mutant(
        "a guarantee about rows for counts of persons",
        "mechanisms/counts.py",
        "seal=run.seal if person is None else run.seal.about_persons(),",
        "seal=run.seal,",
        (f"{COUNTS}test_an_accountant_pays_before_and_for_persons",),
        "What is proven is about persons: as a guarantee about rows it would add up with others.",
    ),
    Mutant(
        "categories that polars has read off the cells",
        "data/categories.py",
        'if declared is None or (library == "polars" and type(kind).__name__ != "Enum"):',
        "if declared is None:",
        (f"{COUNTS}test_declared_categories_are_taken_only_where_asked_for",),
        "A category that one person alone has is listed for certain.",
    ),
)
