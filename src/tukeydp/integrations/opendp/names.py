"""Names for OpenDP's Context: `context.query().td_boxem(...)`."""

from __future__ import annotations

from opendp import context

from tukeydp.integrations.opendp.column import make_column
from tukeydp.integrations.opendp.measurements import make_boxem, make_cube, make_mean, make_rem

# OpenDP has a `mean` of its own, which is no measurement; the others follow suit.
_NAMES = {
    "td_boxem": make_boxem,
    "td_rem": make_rem,
    "td_mean": make_mean,
    "td_cube": make_cube,
    "td_column": make_column,
}


def register() -> None:
    """Let every Context find `td_boxem`, `td_rem`, `td_mean`, `td_cube` and `td_column`. Twice does no harm.

    For other names: ``dp.register(make_boxem, "centre")``.
    """
    for name, constructor in _NAMES.items():
        if name not in context.constructors:
            context.register(constructor, name)
