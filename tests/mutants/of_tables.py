"""Mutants of the doors: what a library made of a column, and what a file holds, decides nothing but its own cell."""

from __future__ import annotations

from mutants.mutant import Mutant

FRAMES = "tests/data/test_frames.py::"
FILES = "tests/data/test_file_tables.py::"
FRAMES_WORD = "tests/data/test_frames.py::test_one_word_in_a_file_changes_nobody_else_s_number_and_counts_once"
KEYS = "tests/data/test_key_columns.py::"
_RAISES = 'raise ParameterError("x", "must hold numbers", "text")'
_CELLS = f"{FRAMES}test_no_cell_raises_warns_or_changes_another"

MUTANTS = (
    Mutant(
        "a column that pandas made text of is refused",
        "data/tables.py",
        "return read_column(series.astype(object).tolist())",
        _RAISES,
        (f"{FRAMES}test_one_text_in_a_file_that_pandas_reads", _CELLS),
        "One person's text decides between an error and a release, and nothing is spent.",
    ),
    Mutant(
        "a column that polars made text of is refused",
        "data/tables.py",
        "return read_column(series.to_list())",
        _RAISES,
        (_CELLS,),
        "The same.",
    ),
    Mutant(
        "a column that Arrow made text of is missing as a whole",
        "data/tables.py",
        "if is_text(kind) or _is_binary(kind):",
        "if False:",
        (_CELLS,),
        "One person's text makes all others' cells missing: a swap of one row is one of all rows.",
    ),
    Mutant(
        "the type of a column decides whether a look at it is paid for",
        "data/tables.py",
        "return Table(cells, names, unreadable=unreadable)",
        "return Table(cells, names, unreadable=unreadable if unreadable is not None and unreadable.any() else None)",
        (_CELLS, f"{FRAMES}test_unreadable_cells_are_counted_wherever_there_are_texts"),
        "Whether epsilon is spent on a check tells that there is an unreadable cell.",
    ),
    Mutant(
        "a category that cannot be read counts once, however many rows have it",
        "data/tables.py",
        "np.append(unreadable, False)[codes])",
        "unreadable)",
        (f"{FRAMES}test_unreadable_cells_are_counted_wherever_there_are_texts",),
        "The count is that of another table: the check stops or passes for the wrong one.",
    ),
    Mutant(
        "words of truth values are text",
        "data/numbers.py",
        "return TRUTH.get(bare.lower(), math.nan) if bare.isascii() else math.nan",
        "return math.nan",
        (_CELLS, f"{FRAMES}test_text_is_read_by_one_rule_in_every_container"),
        "One text in a file of truth values makes all others' cells missing.",
    ),
    Mutant(
        "complex numbers are missing, also those that are none",
        "data/numbers.py",
        "return float(cell.real) if cell.imag == 0 else math.nan",
        "return math.nan",
        (_CELLS,),
        "One complex cell makes all others' cells missing.",
    ),
    Mutant(
        "one row of another length is refused",
        "data/tables.py",
        "if 2 * often <= len(x):",
        "if len(lengths) > 1:",
        (f"{FRAMES}test_one_row_does_not_decide_about_the_columns",),
        "One person's row decides between an error and a release.",
    ),
    Mutant(
        "the first row decides how many columns there are",
        "data/tables.py",
        "width, often = lengths.most_common(1)[0]",
        "width, often = next(iter(lengths.items()))[0], len(x)",
        (f"{FRAMES}test_one_row_does_not_decide_about_the_columns",),
        "One person's row decides how many columns are released.",
    ),
    Mutant(
        "an id that reads as a number is text where another is one",
        "data/persons.py",
        'return -int(whole[1]) if text[0] == "-" else int(whole[1])',
        "return text",
        ("tests/data/test_persons.py::test_ids_are_told_apart_to_the_last_digit",),
        "One person's id decides whether the rows of two others are one person's.",
    ),
    Mutant(
        "infinities are missing where their column is text",
        "data/numbers.py",
        "return _INFINITE.get(word, _written_complex(word)) if whole is None else number(whole)",
        "return _written_complex(word) if whole is None else number(whole)",
        (FRAMES_WORD,),
        "One word in a file moves every cell that is infinite.",
    ),
    Mutant(
        "a word for no value is an id",
        "data/persons.py",
        "return None if IN_MEMORY.is_empty(text) else _of_text(text)",
        "return _of_text(text) if text else None",
        (f"{KEYS}test_what_a_library_makes_of_a_column_changes_nobody_else_s_key_or_id",),
        "One text among ids makes a person of all rows without one.",
    ),
    Mutant(
        "a key that is a word of a truth value is text where another is one",
        "data/keys.py",
        "if text is not None and text.lower() in TRUTH:",
        "if False:",
        (f"{KEYS}test_what_a_library_makes_of_a_column_changes_nobody_else_s_key_or_id",),
        "One person's key takes all others out of their groups.",
    ),
    Mutant(
        "days are keys where Python has them",
        "data/keys.py",
        "if is_missing(cell) or is_time(cell):",
        "if is_missing(cell):",
        (f"{KEYS}test_what_a_library_makes_of_a_column_changes_nobody_else_s_key_or_id",),
        "One person's text among days decides about all others' groups.",
    ),
    Mutant(
        "cells of a column of days are asked for",
        "data/keys.py",
        "return list(column.to_list()) if known else _no_keys(column)",
        "return list(column.to_list())",
        (f"{KEYS}test_dates_are_no_keys_whether_python_has_them_or_not",),
        "polars prints, or raises, for the table that holds a day beyond the year 9999.",
    ),
    Mutant(
        "the last row of a file of one column is one unless it is empty",
        "data/readers/scanning.py",
        "if form.one_column and not ended:",
        "if form.one_column and not ended and blank:",
        (f"{FILES}test_n_does_not_tell_whether_the_last_row_of_one_column_is_empty",),
        "n, which is public, tells that somebody's cell is empty.",
    ),
    Mutant(
        "an empty cell of a sheet of one column is no row",
        "data/readers/excel.py",
        'if len(names) == 1 or any(cell != "" for cell in row):',
        'if any(cell != "" for cell in row):',
        (f"{FILES}test_an_empty_cell_of_a_sheet_of_one_column_is_a_row",),
        "The same.",
    ),
    Mutant(
        "a table that is printed tells how many rows it has",
        "data/files.py",
        'return f"FileTable(columns={self.columns!r})"',
        'return f"FileTable(columns={self.columns!r}, rows={self.table().n})"',
        (f"{FILES}test_nothing_of_a_table_shows_a_cell_or_how_many_there_are",),
        "With a secret number of rows, printing the table tells it.",
    ),
    Mutant(
        "the first line of a file is shown as names whatever it is",
        "data/files.py",
        "if header and any(not np.isnan(PLAIN.number(name)) for name in names):",
        "if False:",
        (f"{FILES}test_the_first_row_of_a_file_without_a_header_is_not_taken_for_names",),
        "Somebody's row is printed with every release.",
    ),
)
