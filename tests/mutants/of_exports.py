"""What leaves the house, and what the page of `tukeydp app` reads and keeps."""

from __future__ import annotations

from mutants.mutant import Mutant

NAMES = "tests/test_hostile_names.py::"
EVERY = f"{NAMES}test_every_exporter_writes_names_as_names"
LIMITS = "tests/app/test_limits.py::"
RELEASE = "tests/app/test_release.py::"

MUTANTS = (
    Mutant(
        "an upload read from the folder of the page",
        "data/readers/arrow.py",
        "if isinstance(path, InMemory):  # whose name is no path",
        "if not isinstance(path, str | Path):",
        (f"{LIMITS}test_a_release_reads_what_was_sent_and_no_file_of_that_name",),
        "Whoever names an upload chooses which file of the machine is released.",
    ),
    Mutant(
        "headers of CSV as they are",
        "results/escaping.py",
        'return escaped(cell, "csv") if isinstance(cell, str) else cell',
        "return cell",
        (EVERY,),
        "A spreadsheet runs the name of a column, and what it runs may send the table.",
    ),
    Mutant(
        "formulas after a separator",
        "results/escaping.py",
        """(^|[,;|"])(\\s*)(?=[{_RUNS}])""",
        """(^)(\\s*)(?=[{_RUNS}])""",
        (EVERY, f"{NAMES}test_formulas_get_an_apostrophe_where_a_cell_could_begin"),
        "Where semicolons separate cells the rest of a name is a cell, and runs.",
    ),
    Mutant(
        "a result that can be asked for before it is kept",
        "app/release.py",
        'files = {"result.json": result.to_json(indent=2).encode()}',
        'run.files = files = {"result.json": result.to_json(indent=2).encode()}',
        (f"{RELEASE}test_a_result_is_kept_before_it_can_be_asked_for",),
        "A result is out that no file has: the run is repeated, and the row pays twice.",
    ),
    Mutant(
        "results that everybody may read",
        "app/keeping.py",
        "for name, content in files.items()}, private=True)",
        "for name, content in files.items()})",
        (f"{RELEASE}test_a_paid_release_survives_kill_9",),
        "What is not published yet is open to every user of the machine.",
    ),
    Mutant(
        "reading without its limit",
        "app/reading.py",
        'most = pages[5] * os.sysconf("SC_PAGE_SIZE") + LIBRARIES + memory',
        "most = 1 << 60",
        (f"{LIMITS}test_a_bomb_takes_no_more_memory_than_the_limit",),
        "A file of some kilobytes ends the machine, in the middle of a release that was paid for.",
    ),
)
