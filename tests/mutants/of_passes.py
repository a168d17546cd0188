"""Tables larger than memory, read in passes."""

from __future__ import annotations

from mutants.mutant import Mutant

PASSES = "tests/engines/test_passes.py::"
SECRETS = "tests/engines/test_pass_secrets.py::"
FRAMES = "tests/engines/test_lazy_frames.py::"
BAD = "tests/engines/test_bad_frames.py::"
DASK = "tests/engines/test_dask_frames.py::"
LANES = f"{SECRETS}test_no_lane_of_a_key_is_read_twice"

MUTANTS = (
    Mutant(
        "every piece with the same numbers",
        "trusted/block_steps.py",
        'derived_key("numbers", i, place, self.key)',
        'derived_key("numbers", i, self.key)',
        (LANES,),
        "Rows at the same place of two pieces are always in the same block: numbers are not independent.",
    ),
    Mutant(
        "every dealing in passes with the same numbers",
        "trusted/block_steps.py",
        'derived_key("numbers", i, place, self.key)',
        'derived_key("numbers", place, self.key)',
        (LANES,),
        "Bits read twice: dealings are not independent.",
    ),
    Mutant(
        "a row counted in another block than it is summed in",
        "trusted/block_steps.py",
        "found[i, 1, j] = _block_sums(numbers, there[:, j], self.blocks)",
        "found[i, 1, j] = _block_sums(numbers[::-1], there[:, j], self.blocks)",
        (
            f"{FRAMES}test_every_row_is_drawn_once",
            f"{PASSES}test_a_swapped_row_changes_one_block_of_each_dealing_bit_by_bit",
        ),
        "A row is summed in one block and counted in another: a swap changes two.",
    ),
    Mutant(
        "blocks centred by the piece",
        "trusted/block_steps.py",
        "found[i, 0, j] = _block_sums(numbers, values[:, j], self.blocks)",
        "found[i, 0, j] = _block_sums(numbers, values[:, j] - values[:, j].max(initial=0), self.blocks)",
        (f"{PASSES}test_a_swapped_row_changes_one_block_of_each_dealing_bit_by_bit",),
        "One row moves every block of its piece.",
    ),
    Mutant(
        "sums in one limb",
        "trusted/sums.py",
        "found = [(high << _LIMB) + low for",
        "found = [((high & (2**32 - 1)) << _LIMB) + low for",
        (f"{PASSES}test_sums_are_those_of_the_oracle_in_any_batches",),
        "Sums that wrap around move by far more than the noise is for.",
    ),
    Mutant(
        "a pass of another number of rows goes unnoticed",
        "data/lazy_tables.py",
        "if rows != self.n and not self.secret:",
        "if rows > 2 * self.n:",
        (f"{PASSES}test_a_table_that_changes_between_passes_is_noticed",),
        "Means are divided by a number that is not that of their rows; n in the release is wrong.",
    ),
    Mutant(
        "an engine's own error is passed on",
        "data/lazy_tables.py",
        "except BaseException as error:  # an engine's message may quote the cells that it failed at",
        "except MemoryError as error:",
        (f"{BAD}test_a_query_that_fails_at_a_cell_does_not_quote_it",),
        "Its words quote a cell.",
    ),
    Mutant(
        "an engine's panic is passed on",
        "data/lazy_tables.py",
        "except BaseException as error:  # an engine's message may quote the cells that it failed at",
        "except Exception as error:",
        (f"{BAD}test_a_panic_of_an_engine_is_told_without_its_words",),
        "Its words quote a cell, and it is no Exception.",
    ),
    Mutant(
        "columns a and A are both asked for by name",
        "data/engines/batches.py",
        "len({name.casefold() for name in names}) != len(names)",
        "len(set(names)) != len(names)",
        (f"{BAD}test_names_that_sql_does_not_tell_apart_cost_nothing",),
        "The first is read twice, and the second never.",
    ),
    Mutant(
        "a partition that fails is raised by its worker",
        "data/engines/dask_frames.py",
        "except Exception:  # raised here, a worker would log it, with the partition's cells",
        "except MemoryError:",
        (f"{DASK}test_a_partition_that_fails_is_not_logged_by_its_worker",),
        "Workers log the arguments of a task that raises: cells.",
    ),
    Mutant(
        "every partition at one place",
        "data/engines/dask_frames.py",
        "return one.of([_cells(partition, one.columns, one.keys)], number)",
        "return one.of([_cells(partition, one.columns, one.keys)], 0)",
        (f"{DASK}test_partitions_draw_apart_and_seeded_runs_repeat_themselves",),
        "Rows at the same place of two partitions are always in the same block.",
    ),
    Mutant(
        "drawn blocks in passes with twice epsilon",
        "trusted/block_steps.py",
        "return block_sampler(means, paid.epsilon, self._plan",
        "return block_sampler(means, 2 * paid.epsilon, self._plan",
        (f"{SECRETS}test_every_step_has_its_own_key_and_epsilon",),
        "The release spends more than it says.",
    ),
    Mutant(
        "one key for all steps in passes",
        "mechanisms/passes.py",
        'run.charge("missing", "step", 3)',
        'run.charge("missing", "step", 2)',
        (LANES,),
        "Noises of several steps are equal, and cancel.",
    ),
    Mutant(
        "means of lazy frames for nothing",
        "mechanisms/aggregate.py",
        "accountant=accountant, parameters=told)",
        "accountant=None, parameters=told)",
        (f"{BAD}test_an_aggregate_that_fails_in_the_middle_has_spent",),
        "A run that fails would have cost nothing.",
    ),
)
