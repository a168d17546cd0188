"""The paper's Algorithm 3, for whoever builds on it: accounting, oracles, mechanisms (docs/proofs/algorithm3.md)."""

from __future__ import annotations

from tukeydp.paper.algorithm3 import (
    BoxCounting,
    Cost,
    DrawParameters,
    PublicSetting,
    Rejection,
    RemParameters,
    SamplingPromise,
    UniformSampler,
    VolumeOracle,
    VolumePromise,
    approximate_boxem,
    approximate_rem,
    boxem_cost,
    boxem_parameters,
    release_threshold,
    rem_cost,
    rem_parameters,
    score,
)

__all__ = [
    "BoxCounting",
    "Cost",
    "DrawParameters",
    "PublicSetting",
    "Rejection",
    "RemParameters",
    "SamplingPromise",
    "UniformSampler",
    "VolumeOracle",
    "VolumePromise",
    "approximate_boxem",
    "approximate_rem",
    "boxem_cost",
    "boxem_parameters",
    "release_threshold",
    "rem_cost",
    "rem_parameters",
    "score",
]
