"""Mutants of ranks that are found by passes over streamed rows (docs/proofs/streams.md)."""

from __future__ import annotations

from mutants.mutant import Mutant

LEVELS = "tests/depth/test_streamed_levels.py::"
STREAMS = "tests/data/test_streams.py::"

MUTANTS = (
    Mutant(
        "a projection that is equal to an edge counted below it",
        "trusted/streams/tally_loops.py",
        "if edges[middle] <= p:",
        "if edges[middle] < p:",
        (f"{LEVELS}test_every_projection_is_counted_in_the_one_cell_it_is_in",),
        "Ranks are those of other cells: levels are tested against the wrong projections.",
    ),
    Mutant(
        "a source that changes is not noticed",
        "trusted/streams/tallies.py",
        "if seen != self._seen:",
        "if seen.rows != self._seen.rows:",
        (f"{LEVELS}test_a_source_that_changes_is_noticed_before_its_counts_are_used",),
        "Edges counted on one table, ranks taken from another: levels of neither, and no bound on what one row moves.",
    ),
    Mutant(
        "work done twice where a thread cannot be started",
        "trusted/streams/tallies.py",
        "if begun.acquire(blocking=False):",
        "if True:",
        (f"{LEVELS}test_every_row_counts_once_where_threads_cannot_be_started",),
        "Rows count twice in some directions: one row moves depths by two.",
    ),
    Mutant(
        "counts that do not add up to the rows believed",
        "trusted/streams/tallies.py",
        "if any(int(tally.counts.sum()) != seen.rows for tally in tallies):",
        "if False:",
        (f"{LEVELS}test_a_count_that_misses_rows_or_has_them_twice_is_not_believed",),
        "Ranks of other rows than those that were read.",
    ),
    Mutant(
        "the rows of an array taken for chunks",
        "data/streams.py",
        "_check_table(chunk)",
        "pass",
        (f"{STREAMS}test_rows_and_columns_are_no_chunks",),
        "Each cell is a row of its own: the guarantee is about cells, not about persons.",
    ),
    Mutant(
        "what is kept believed without its count",
        "trusted/streams/tallies.py",
        "if counts[cell] != rooms[cell]:",
        "if False:",
        (f"{LEVELS}test_believing_the_sample_instead_of_counting_is_caught",),
        "Memory that was never written is taken for projections.",
    ),
    Mutant(
        "the ranks of a kept cell one off",
        "trusted/streams/streamed_levels.py",
        "parts.append(self._kept[start][first - start : stop - start])",
        "parts.append(np.roll(self._kept[start], 1)[first - start : stop - start])",
        (f"{LEVELS}test_every_question_gets_the_answer_of_sorted_projections",),
        "Levels are tested against neighbouring ranks.",
    ),
    Mutant(
        "counted depths without the rows at the point itself",
        "trusted/streams/streamed_levels.py",
        "least = np.minimum(least, below[np.searchsorted(e, values + 1)])",
        "least = np.minimum(least, below[np.searchsorted(e, values)])",
        (f"{LEVELS}test_every_question_gets_the_answer_of_sorted_projections",),
        "Open halfspaces on one side: the certificate and settled boxes are those of another depth.",
    ),
    Mutant(
        "depths from a window without its middle not capped",
        "trusted/sampling/loops.py",
        "least = ranks.highest",
        "least = kept + ranks.left_out",
        (f"{LEVELS}test_branches_grow_from_a_window_as_from_sorted_projections",),
        "A tree that grows otherwise: harmless to the law, but no longer the draw from sorted projections.",
        function="depth_of",
    ),
)
