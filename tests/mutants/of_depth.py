"""From rows to depth and sizes: a swap moves every depth by at most one, and bounds on sizes are bounds."""

from __future__ import annotations

from mutants.mutant import Mutant

EXACT = "tests/depth/test_exact_depth.py::"
HALF = "tests/sizes/test_half_cells.py::"
SIZES = "tests/sizes/test_level_sizes.py::"
DEEP = "tests/sizes/test_exact_depth_sizes.py::test_deep_points_are_those_of_tukey_depth"

MUTANTS = (
    Mutant(
        "a grid that begins at the smallest cell",
        "data/grid.py",
        "lower = np.array([float(v) for v in self.lower])",
        "lower = np.min(cells, axis=0, initial=0.0)",
        ("tests/depth/test_sensitivity.py::test_a_row_is_mapped_by_itself",),
        "One row moves all others: sensitivity n instead of 1.",
    ),
    Mutant(
        "the overflow check of projections four times too lax",
        "depth/directions.py",
        "if sum(abs(v) * r for v, r in zip(row, grid.extent, strict=True)) >= LIMIT:",
        "if sum(abs(v) * r for v, r in zip(row, grid.extent, strict=True)) >= 4 * LIMIT:",
        ("tests/data/test_grid.py::test_directions_whose_projections_would_overflow_are_refused",),
        "Projections wrap around: rows count on the wrong side of a halfspace, and a swap may move many.",
    ),
    Mutant(
        "ties counted on one side only",
        "depth/levels.py",
        'below = first + np.searchsorted(ranked, at, side="right")',
        'below = first + np.searchsorted(ranked, at, side="left")',
        ("tests/depth/test_levels.py::test_whatever_is_held_at_first_every_question_gets_the_same_answer",),
        "Settled boxes are those of another depth than the one that proposals are tested by: levels lose points.",
    ),
    Mutant(
        "a level's upper ranks one off",
        "depth/levels.py",
        "self.projections[:, self.rows - level - self.first]",
        "self.projections[:, self.rows - level - 1 - self.first]",
        ("tests/depth/test_levels.py::test_whatever_is_held_at_first_every_question_gets_the_same_answer",),
        "Boxes are those of other levels than the kernel tests: points are left out of their own box.",
    ),
    Mutant(
        "sweep tolerance 2^-60, so that floats decide near ties",
        "depth/exact_depth.py",
        "_TOLERANCE = {2: 2.0**-32, 3: 2.0**-32, 4: 2.0**-24}",
        "_TOLERANCE = {2: 2.0**-60, 3: 2.0**-60, 4: 2.0**-60}",
        (f"{EXACT}test_opposite_vectors_whose_floats_are_rounded_apart_are_on_two_sides",),
        "Depths that depend on rounding: a swap may move them by more than one.",
    ),
    Mutant(
        "vectors given an angle by what rounding leaves of them",
        "depth/exact_depth.py",
        "_RATIO = {2: 2.0**12, 3: 2.0**12, 4: 2.0**9}",
        "_RATIO = {2: 2.0**80, 3: 2.0**80, 4: 2.0**80}",
        (f"{EXACT}test_opposite_vectors_whose_floats_are_rounded_apart_are_on_two_sides",),
        "Depths that depend on rounding: a swap may move them by more than one.",
    ),
    Mutant(
        "a point one row too shallow taken for deep",
        "depth/deciding.py",
        "return None if self.here + answer.least >= level else answer",
        "return None if self.here + answer.least >= level - 1 else answer",
        (DEEP,),
        "Accepted weights are those of neither depth: levels are tested against the wrong count.",
    ),
    Mutant(
        "the inscribed ellipsoid not shrunk by half a cell",
        "sizes/boxes_and_ellipsoids.py",
        "found = largest_ellipsoid(self._half_cells(level, -1), SLACK / 2,",
        "found = largest_ellipsoid(self._half_cells(level, 0), SLACK / 2,",
        (f"{HALF}test_a_strip_between_grid_lines_has_no_size_from_below",),
        "A lower size above the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "the volume not shrunk by half a cell",
        "sizes/polyhedra.py",
        "volume(self._half_cells(level, -1))[0] / 8",
        "volume(self._half_cells(level, 0))[0] / 8",
        (f"{HALF}test_a_strip_between_grid_lines_has_no_size_from_below",),
        "A lower size above the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "the volume not grown by half a cell",
        "sizes/polyhedra.py",
        "volume(self._half_cells(level, +1))[1] / 8",
        "volume(self._half_cells(level, 0))[1] / 8",
        (f"{HALF}test_random_slivers_are_bracketed",),
        "An upper size below the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "the simplex's excess over its ellipsoid left out",
        "sizes/boxes_and_ellipsoids.py",
        "return min(boxed, _excess(d)[1] * self._grown(level))",
        "return min(boxed, self._grown(level))",
        (f"{HALF}test_ellipsoids_bound_slanted_sets_from_above",),
        "An upper size below the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "the excess of a cube in place of a simplex's",
        "sizes/boxes_and_ellipsoids.py",
        "square = d**d * (d + 1) ** (d + 1) << (2 * _ROOT_BITS)",
        "square = (2**d * math.factorial(d)) ** 2 << (2 * _ROOT_BITS)",
        (f"{HALF}test_a_simplex_meets_the_bound_from_above",),
        "An upper size below the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "an ellipsoid that sticks out",
        "sizes/ellipsoid_certificate.py",
        "if (squares <= room * room).all():",
        "if (squares <= 2 * room * room).all():",
        (f"{SIZES}TestEllipsoids::test_a_bad_solver_is_seen_through",),
        "A lower size above the true one: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "an ellipsoid taken whatever its gap",
        "sizes/john_ellipsoid.py",
        "if found is not None and found.gap <= gap:",
        "if found is not None:",
        (f"{SIZES}TestEllipsoids::test_it_asks_again_until_the_gap_is_small",),
        "Sizes that are off by more than the slack which the tests discount.",
    ),
    Mutant(
        "a looser certificate of exact depth",
        "sizes/exact_depth_sizes.py",
        "if not refuting and most <= least * (1 + self.slack / 2):",
        "if not refuting and most <= least * (1 + 8 * self.slack):",
        (f"{HALF}test_a_copy_too_small_for_the_slack_is_not_taken",),
        "Sizes that are off by more than the slack which the tests discount.",
    ),
    Mutant(
        "a copy taken although its corners are not deep",
        "sizes/exact_depth_sizes.py",
        "if not refuting and most <= least * (1 + self.slack / 2):",
        "if most <= least * (1 + self.slack / 2):",
        (f"{HALF}test_a_copy_with_shallow_corners_is_not_taken",),
        "A lower size above the number of grid points: REM's test passes tables that are not safe.",
    ),
    Mutant(
        "corners of a copy checked without their cells",
        "sizes/exact_depth_sizes.py",
        "points = np.concatenate([corner + cell for corner in corners])",
        "points = corners",
        (f"{HALF}test_the_cells_around_a_copys_corners_are_looked_at",),
        "Volume counted as grid points that are not deep.",
    ),
    Mutant(
        "half a cell taken to be inside every copy's margin",
        "sizes/exact_depth_sizes.py",
        "return total <= Fraction(template(d).radius, 1 << fine)",
        "return total <= Fraction(template(d).radius)",
        (f"{HALF}test_the_cells_around_a_copys_corners_are_looked_at",),
        "Volume counted as grid points that are not deep.",
    ),
)
