"""Means of other libraries, where they are installed. Their noise is their own."""

from __future__ import annotations

import numpy as np

import tukeydp as td
from tukeydp.paper.experiments.contenders import PURE, Contender, Question, unguarded
from tukeydp.paper.experiments.experiment import Seeds
from tukeydp.paper.experiments.methods import EPSILON


def _opendp(question: Question, seeds: Seeds) -> td.Release:
    """Vector Laplace noise on clipped sums, columns in units of their bounds' width: one swap moves them by d at most.

    OpenDP's noise cannot be seeded: this line of the table differs from run to run.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    n, d = question.x.shape
    lower, upper = question.bounds
    sums = ((np.clip(question.x, lower, upper) - lower) / (upper - lower)).sum(axis=0)
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    measurement = space >> dp.m.then_laplace(scale=d / EPSILON)
    assert measurement.map(float(d)) <= EPSILON * (1 + 1e-9)
    return unguarded("opendp", question, lower + (upper - lower) * np.array(measurement(sums.tolist())) / n)


def _diffprivlib(question: Question, seeds: Seeds) -> td.Release:
    """Its mean of a table, which divides epsilon by the number of columns."""
    from diffprivlib.tools import mean

    seed = seeds.number("diffprivlib") % 2**32
    point = mean(question.x, epsilon=EPSILON, bounds=question.bounds, axis=0, random_state=seed)
    return unguarded("diffprivlib", question, np.asarray(point))


_LIBRARIES = {
    "OpenDP": ("opendp.prelude", Contender(PURE, _opendp)),
    "diffprivlib": ("diffprivlib", Contender(PURE, _diffprivlib)),
}


def other_libraries() -> tuple[dict[str, Contender], list[str]]:
    """Those that can be imported, and a sentence for each that cannot."""
    found, missing = {}, []
    for name, (module, contender) in _LIBRARIES.items():
        try:
            __import__(module)
        except ImportError as error:  # not installed, or installed beside a scikit-learn that it does not know
            missing.append(f"{name} is left out: {error}.")
        else:
            found[name] = contender
    return found, missing
