"""Privacy maps of OpenDP measurements, and what their runs are held to."""

from __future__ import annotations

from mutants.mutant import Mutant

MAPS = "tests/integrations/test_opendp_maps.py::"
RUNS = "tests/integrations/test_opendp.py::"
LOSSES, SPACES = "integrations/opendp/losses.py", "integrations/opendp/spaces.py"
ALL_PAIRS = f"{MAPS}test_maps_hold_for_all_pairs_of_small_tables_and_are_needed"

MUTANTS = (
    Mutant(
        "losses rounded to the nearest float",
        LOSSES,
        "return nearest if Fraction(nearest) >= number else math.nextafter(nearest, math.inf)",
        "return nearest",
        (f"{MAPS}test_maps_are_rounded_up_and_no_further",),
        "A map below the true loss: a Context admits more than its budget.",
    ),
    Mutant(
        "epsilon of a group that of one row",
        LOSSES,
        "epsilon = steps * guarantee.epsilon",
        "epsilon = guarantee.epsilon",
        (ALL_PAIRS,),
        "Whoever has several rows is told a loss that is too small.",
    ),
    Mutant(
        "rho of a group not squared",
        LOSSES,
        "steps**2 * guarantee.zcdp.rho",
        "steps * guarantee.zcdp.rho",
        (ALL_PAIRS,),
        "zCDP grows with the square of a group's size.",
    ),
    Mutant(
        "delta of a group without powers of e",
        LOSSES,
        "return min(Fraction(1), delta * terms)",
        "return min(Fraction(1), delta * steps)",
        (f"{MAPS}test_a_delta_that_forgets_groups_would_be_noticed",),
        "A delta below the one that a chain of laws needs.",
    ),
    Mutant(
        "bounded range claimed for groups with a delta",
        LOSSES,
        "return (epsilon**2 / 2 if concentrated else epsilon), group_delta(guarantee, steps)",
        "return (epsilon**2 / 8 if concentrated else epsilon), group_delta(guarantee, steps)",
        (f"{MAPS}test_concentrated_with_a_delta",),
        "Nothing says that a test and a draw together have bounded range.",
    ),
    Mutant(
        "a pure measure for a law with a delta",
        LOSSES,
        "offered = [name for name, measured in _MEASURES.items() if measured.delta or not delta]",
        "offered = list(_MEASURES)",
        (f"{RUNS}test_parameters_are_checked_when_the_measurement_is_made",),
        "The delta is not in the loss, and a Context never hears of it.",
    ),
    Mutant(
        "changed rows counted as half",
        SPACES,
        'return distance // 2 if self.neighbours == "swap" and self.metric in _CONTRIBUTIONS else distance',
        'return distance // 2 if self.neighbours == "swap" else distance',
        (ALL_PAIRS, f"{MAPS}test_neighbours_between_tables_at_a_distance"),
        "A change-one distance of 2 is two swaps, not one.",
    ),
    Mutant(
        "rows more or less counted as half",
        SPACES,
        'return distance // 2 if self.neighbours == "swap" and self.metric in _CONTRIBUTIONS else distance',
        "return distance // 2 if self.metric in _CONTRIBUTIONS else distance",
        (ALL_PAIRS, f"{MAPS}test_neighbours_between_tables_at_a_distance"),
        "Without a size, one row more is a step by itself.",
    ),
    Mutant(
        "the first row of a distance for nothing",
        SPACES,
        'distance = checked_integer("d_in", d_in, least=0)',
        'distance = max(0, checked_integer("d_in", d_in, least=0) - 1)',
        (ALL_PAIRS,),
        "A distance of 1 would cost nothing.",
    ),
    Mutant(
        "a law that knows n without a size",
        SPACES,
        'return "add-remove" if self.size is None else "swap"',
        'return "swap"',
        (f"{RUNS}test_a_table_of_another_size_than_its_domain_is_not_measured",),
        "The number of rows is told outright.",
    ),
    Mutant(
        "changes without a size",
        SPACES,
        "if size is None and metric in _CHANGES:",
        "if False:",
        (f"{RUNS}test_parameters_are_checked_when_the_measurement_is_made",),
        "The map counts changes, the law is about rows more or less.",
    ),
    Mutant(
        "tables of any size taken",
        SPACES,
        "if self.size is not None and len(cells) != self.size:",
        "if False:",
        (f"{RUNS}test_a_table_of_another_size_than_its_domain_is_not_measured",),
        "The plan is made for other rows than the map was.",
    ),
    Mutant(
        "the number of rows in an error",
        SPACES,
        '"must have two dimensions and {self.d} columns", found)',
        '"must have two dimensions and {self.d} columns", x.shape)',
        (f"{RUNS}test_only_the_schema_raises_and_the_number_of_rows_is_not_told",),
        "A secret number of rows is told to the analyst.",
    ),
    Mutant(
        "any price agreed to",
        "integrations/opendp/runs.py",
        "if (guarantee, guarantee.zcdp) != (self.guarantee, self.guarantee.zcdp):",
        "if False:",
        (f"{RUNS}test_a_run_that_would_cost_something_else_does_not_run",),
        "A run may cost more than its map says.",
    ),
    Mutant(
        "bounds that the caller still holds",
        "integrations/opendp/runs.py",
        "deepcopy(options), pad_to)",
        "options, pad_to)",
        (f"{RUNS}test_what_the_caller_changes_later_changes_nothing",),
        "Bounds could follow the data after they were checked.",
    ),
    Mutant(
        "errors quoted to the analyst",
        SPACES,
        "    except Exception as error:",
        "    except ZeroDivisionError as error:",
        (f"{RUNS}test_an_error_that_is_not_the_schemas_is_not_quoted",),
        "numpy's errors of memory say the secret number of rows.",
    ),
)
