"""Guesses that make draws fast: whatever they answer, the trusted part checks it or does without."""

from __future__ import annotations

from tukeydp.trusted.hinted import offer

# The names that `tukeydp.trusted` asks by. Whoever prepares a depth imports this package.
offer(
    {
        "compile_for_many_columns": "tukeydp.hints.compiling_many:compile_for_many_columns",
        "compile_once": "tukeydp.hints.branches:compile_once",
        "compile_walk": "tukeydp.hints.ray_facets:compile_walk",
        "evenly_spread": "tukeydp.hints.round_axes:evenly_spread",
        "facets_before": "tukeydp.hints.ray_facets:facets_before",
        "largest_in_floats": "tukeydp.hints.copy_solver:largest_in_floats",
        "lifted": "tukeydp.hints.lifted_normals:lifted",
        "lifted_along": "tukeydp.hints.lifted_normals:lifted_along",
        "light_normals": "tukeydp.hints.descent:light_normals",
        "likely_basis": "tukeydp.hints.start_basis:likely_basis",
        "newton_with_few_rows": "tukeydp.hints.ellipsoid_solver:newton_with_few_rows",
        "next_size": "tukeydp.hints.next_size:next_size",
        "parting_facet": "tukeydp.hints.hull_facets:parting_facet",
        "planner": "tukeydp.hints.planner:LadderPlanner",
        "principal_axes": "tukeydp.hints.round_axes:principal_axes",
    }
)
