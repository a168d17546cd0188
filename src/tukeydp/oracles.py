"""Oracles and samplers for Algorithm 3 under their public address; the code is in `tukeydp.algorithm3`."""

from tukeydp.paper.algorithm3 import (
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
    "PublicSetting",
    "Rejection",
    "SamplingPromise",
    "UniformSampler",
    "VolumeOracle",
    "VolumePromise",
]
