"""The paper's Algorithm 3, for whoever builds on it: accounting, oracles, mechanisms (docs/proofs/algorithm3.md)."""

from tukeydp.algorithm3.accounting import (
    Cost,
    DrawParameters,
    RemParameters,
    boxem_cost,
    boxem_parameters,
    release_threshold,
    rem_cost,
    rem_parameters,
    score,
)
from tukeydp.algorithm3.mechanisms import approximate_boxem, approximate_rem
from tukeydp.algorithm3.oracles import (
    BoxCounting,
    PublicSetting,
    Rejection,
    SamplingPromise,
    UniformSampler,
    VolumeOracle,
    VolumePromise,
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
