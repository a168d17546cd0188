"""The volume of any bounded polytope, exactly (up to rounding) or by random walks."""

from __future__ import annotations

from typing import Any

from tukeydp.geometry.normalised_polytopes import exact_log_volume, normalised
from tukeydp.mcmc.nests import generator
from tukeydp.mcmc.volumes import USUAL_ERROR, checked_error, cool
from tukeydp.parameters import checked_choice
from tukeydp.randomness import source


def polytope_volume(
    A: Any,  # the paper's letter, and everyone's
    b: Any,
    method: str = "exact",
    *,
    error: float = USUAL_ERROR,
    randomness: Any = None,
) -> float:
    """Volume of the polytope {y : A y <= b}.

    Parameters
    ----------
    A, b
        Array-likes of shape (m, d) and (m,). Rows of zeros are allowed.
    method
        "exact": from the vertices, correct up to rounding; their number grows like m^(d/2), so up to d = 8 or so.
        "mcmc": rounding, then Gaussian cooling with hit-and-run; polynomial in m and d, an estimate without proof.
    error
        For "mcmc": relative standard deviation to aim for, at least 0.01. Halving it takes four times as long.
    randomness
        For "mcmc": None or `td.seeded(seed)`.

    Returns
    -------
    float
        Zero for an empty polytope, and for one that is flat to floats: its inner radius, or its width along an axis,
        below 1e-10 of its longest side or of how far it is from the origin.

    Raises
    ------
    ParameterError
        If the polytope is unbounded with infinite volume, or the shapes do not fit.

    Examples
    --------
    >>> from tukeydp.regions import polytope_volume
    >>> triangle = [[-1, 0], [0, -1], [1, 1]], [0, 0, 2]
    >>> round(polytope_volume(*triangle), 9)
    2.0
    >>> import tukeydp as td
    >>> 1.8 < polytope_volume(*triangle, method="mcmc", randomness=td.seeded(1)) < 2.2
    True
    """
    checked_choice("method", method, ("exact", "mcmc"))
    checked_error(error)
    bits = source(randomness)
    body = normalised(A, b)
    if body is None:
        return 0.0
    if method == "exact":
        return body.in_units(exact_log_volume(body))
    walks = cool(body.normals, body.offsets, body.inside, generator(bits.key(), 0), error=float(error))
    return body.in_units(walks.estimate.log_volume)
