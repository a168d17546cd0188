"""All checks, in the order they run. A new one is a file in `checks/` and a line here."""

from __future__ import annotations

from tukeydp.audit.check import Check
from tukeydp.audit.checks import (
    add_remove,
    aggregate,
    algorithm3,
    baselines,
    boxem_enumeration,
    certificate,
    composition,
    cube_noise,
    group_sums,
    grouped_points,
    lower_bounds,
    mean_cube,
    mean_subset,
    mean_two_step,
    mean_without_bounds,
    persons,
    quantiles,
    readable_rows,
    rem_add_remove,
    rem_enumeration,
    replay,
    sampler_law,
    scale_first,
    sensitivity_depth,
    sensitivity_rem,
    spread,
    whole_calls,
)
from tukeydp.trusted.parameters import ParameterError

CHECKS: tuple[Check, ...] = (
    boxem_enumeration.CHECK,
    certificate.CHECK,
    rem_enumeration.CHECK,
    mean_subset.CHECK,
    mean_two_step.CHECK,
    scale_first.CHECK,
    mean_cube.CHECK,
    mean_without_bounds.CHECK,
    spread.CHECK,
    group_sums.CHECK,
    grouped_points.CHECK,
    persons.CHECK,
    quantiles.CHECK,
    aggregate.CHECK,
    add_remove.CHECK,
    rem_add_remove.CHECK,
    readable_rows.CHECK,
    cube_noise.CHECK,
    algorithm3.CHECK,
    baselines.CHECK,
    whole_calls.CHECK,
    composition.CHECK,
    sensitivity_depth.CHECK,
    sensitivity_rem.CHECK,
    sampler_law.CHECK,
    replay.CHECK,
    *lower_bounds.CHECKS,
)
NOT_COVERED = (
    "Not covered: unproven modes and geometry, which carry no guarantee; intervals and other numbers worked out from "
    "what was released; running times (docs/threat-model.md)."
)


def chosen(words: list[str] | None) -> list[Check]:
    """All checks, or those whose name holds one of the words."""
    if not words:
        return list(CHECKS)
    for word in words:
        if not any(word in check.name for check in CHECKS):
            raise ParameterError("only", "must be part of a check's name, such as boxem, rem or replay", repr(word))
    return [check for check in CHECKS if any(word in check.name for word in words)]
