"""Random walks over polytopes: volumes, uniform points, mechanisms built on them. Nothing in here is proven private.

`tukeydp.mcmc` is for experiments and for comparison with the paper's figure in ten dimensions. A walk comes arbitrarily
close to its stationary law, but the number of steps that is *proven* to suffice is beyond any computer (the paper: more
than 10^10 d^3), and the number that suffices in practice is known from experience only. Releases made with it say so.
"""

from __future__ import annotations

from tukeydp.paper.random_walks import VolumeEstimate, mcmc_level_volumes, polytope_estimate, walk
from tukeydp.paper.unproven import HitAndRun, McmcVolumes, mcmc_boxem, mcmc_rem

__all__ = [
    "HitAndRun",
    "McmcVolumes",
    "VolumeEstimate",
    "mcmc_boxem",
    "mcmc_level_volumes",
    "mcmc_rem",
    "polytope_estimate",
    "walk",
]
