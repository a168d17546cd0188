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
)
