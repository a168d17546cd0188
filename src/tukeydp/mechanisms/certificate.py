"""A depth certificate: how many rows lie on every side of a released point, with noise and paid for.

The depth of a released point moves by at most 1 under a swap, so discrete Laplace noise of scale 1/epsilon on it is
pure epsilon-DP, given the point (docs/proofs/boxem.md, section 8).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tukeydp.results.certificate import Certificate
from tukeydp.trusted.parameters import ParameterError, brief, rational
from tukeydp.trusted.points import noised_depth
from tukeydp.trusted.prepared import PreparedBlocks, PreparedDepth
from tukeydp.trusted.release import Charge

CONFIDENCE = 0.95  # of the stated number of rows; by the noise alone, whatever the data


def checked_share(certify: Any) -> Fraction:
    """The share of epsilon that a certificate takes."""
    share = rational("certify", certify)
    if not 0 < share < 1:
        raise ParameterError("certify", "must be a share of epsilon, above 0 and below 1", brief(certify))
    return share


def depth_certificate(
    prepared: PreparedDepth | PreparedBlocks, point: Sequence[int], charge: Charge, every: bool
) -> Certificate:
    """The noised depth of a released grid point: pure epsilon-DP. `every`: all sides count, not only listed ones.

    By group the charge is that of the group (`Charge.by_group`): a row that moves may change the depths of two points.
    """
    noised, epsilon = noised_depth(prepared, point, charge)
    return Certificate(max(0, noised - margin(epsilon)), noised, CONFIDENCE, epsilon, every)


def margin(epsilon: Fraction) -> int:
    """The least m with Pr[noise > m] <= 5 %: Pr[noise >= k] = q^k / (1 + q) for k >= 1, q = e^(-epsilon)."""
    log_q = -float(epsilon)
    needed = (math.log(1.0 - CONFIDENCE) + math.log1p(math.exp(log_q))) / log_q
    return max(0, math.ceil(needed - 1.0 + 1e-9))  # a float's last digits may only make it larger
