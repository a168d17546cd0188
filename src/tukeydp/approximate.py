"""The paper's Algorithm 3 under its public address; the code is in `tukeydp.algorithm3`."""

from tukeydp.paper.algorithm3 import approximate_boxem, approximate_rem, noise_reaches

__all__ = ["approximate_boxem", "approximate_rem", "noise_reaches"]
