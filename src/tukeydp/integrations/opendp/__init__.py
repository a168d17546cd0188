"""Our mechanisms as OpenDP measurements, for a `Context` and its budget.

Needs OpenDP: ``pip install "tukeydp[opendp]"``. Guide: docs/guide/opendp.md; proof of the privacy maps:
docs/proofs/opendp.md.

>>> import numpy as np, opendp.prelude as dp
>>> from tukeydp.integrations.opendp import make_boxem
>>> dp.enable_features("contrib", "honest-but-curious")
>>> rows = dp.numpy.array2_domain(num_columns=2, size=500, T=float)
>>> centre = make_boxem(rows, dp.change_one_distance(), 0.5, bounds=(-10, 10))
>>> centre.map(1), centre.map(3)
(0.5, 1.5)
>>> x = np.random.default_rng(1).normal(size=(500, 2))
>>> bool(np.abs(centre(x).point).max() < 1)
True
"""

from __future__ import annotations

from tukeydp.extras import missing

try:
    from opendp.extras.numpy import NPArray2Domain as _found
except ImportError as error:
    wanted = missing("tukeydp.integrations.opendp", "OpenDP 0.16", "opendp", "none, or another one")
    raise ImportError(str(wanted)) from error
del _found

from tukeydp.integrations.opendp.column import make_column  # noqa: E402
from tukeydp.integrations.opendp.measurements import make_boxem, make_cube, make_mean, make_rem  # noqa: E402
from tukeydp.integrations.opendp.names import register  # noqa: E402

__all__ = ["make_boxem", "make_column", "make_cube", "make_mean", "make_rem", "register"]
