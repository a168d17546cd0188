"""The switch to experiments without a guarantee: `unproven="mcmc"`. The one way from a mechanism to random walks.

Loaded when asked for, never before: nothing proven depends on `tukeydp.mcmc`.
"""

from __future__ import annotations

from typing import Any

from tukeydp.data.relation import Relation
from tukeydp.results.release import Refused, Release
from tukeydp.trusted.parameters import ParameterError, brief


def unproven_boxem(unproven: Any, *arguments: Any, **options: Any) -> Release:
    """`td.boxem` by random walks: no guarantee."""
    _require_mcmc(unproven)
    from tukeydp.paper.unproven import mcmc_boxem

    return mcmc_boxem(*arguments, **options)


def unproven_rem(unproven: Any, *arguments: Any, **options: Any) -> Release | Refused:
    """The paper's Algorithm 2 by random walks: no guarantee."""
    _require_mcmc(unproven)
    from tukeydp.paper.unproven import mcmc_rem

    return mcmc_rem(*arguments, **options)


def require_swaps(relation: Relation, unproven: Any) -> None:
    """Experiments tell the number of rows."""
    if relation.secret and unproven is not None:
        raise ParameterError("unproven", "must be left out with neighbours='add-remove'", brief(unproven))


def _require_mcmc(unproven: Any) -> None:
    if unproven != "mcmc":
        raise ParameterError("unproven", "must be None or 'mcmc'", brief(unproven))
